#pragma once
// From tensors to records.

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <halfbridge/tensor.h>
#include <halfbridge/trace/writer.h>

namespace hb::trace {

/// Writes tensors. Knows the tensors that it saw last, so that what one layer returned and the next was given is
/// written once. Thread safe.
class Recorder {
 public:
  /// An empty folder: no records.
  Recorder(const std::string& folder, const Options& options);

  bool wants(Kind kind, int64_t step, const std::string& path) const {
    return writer_ && writer_->wants(kind, step, path);
  }
  bool wants_step(int64_t step) const { return writer_ && !writer_->stopped() && options_.steps.contains(step); }
  bool wants_layer(const std::string& path) const { return options_.layers.contains(path); }
  /// Records a tensor that is wanted; dtype and shape are filled in. Undefined tensors are left out.
  /// Makes a tensor again that no kernel makes.
  using Remake = std::function<Tensor()>;
  void write(Record record, const Tensor& tensor, const Remake& again = {});
  /// Records bytes; dtype and shape are the record's.
  void write_bytes(const Record& record, const void* data) { writer_->write(record, data); }
  /// Told of each tensor that is written, before it is.
  std::function<void(const Record&, const Tensor&, const Remake&)> watch;
  /// Remembers a tensor as one that a recorded call returned, ...
  void remember(const Tensor& tensor);
  /// ... and whether this one shares memory with one of the last of these.
  bool remembers(const Tensor& tensor);

  /// Keeps no tensors any more.
  void forget();
  void flush() {
    if (writer_) writer_->flush();
  }
  void close(const std::string& end);
  bool stopped() const { return !writer_ || writer_->stopped(); }

 private:
  // Keeps the memory, so that its address stays its own, not the tensor.
  struct Kept {
    intrusive_ptr<StorageImpl> storage;
    const TensorImpl* impl;
    const VersionCounter* counter;
    uint32_t version;
    int64_t offset, numel;
    DimVector sizes, strides;
    ScalarType dtype;
    bool contiguous;
    std::string name;       // of its record, where one was written
    bool returned = false;  // by a recorded call
    bool holds(const Tensor& t) const;
  };
  Kept* find(const Tensor& t);
  Kept& keep(const Tensor& t);

  const Options options_;
  std::unique_ptr<Writer> writer_;
  std::mutex mutex_;
  std::deque<Kept> kept_;
  size_t kept_bytes_ = 0;
};

}  // namespace hb::trace
