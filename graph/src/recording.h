#pragma once
// What a thread does during one step, as graph mode sees it: calls of kernels, and the memory that they work on.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <halfbridge/tensor.h>

#include "core/recorder.h"

namespace hb::graph {

using capture::Access;

/// A storage that calls work on.
struct Memory {
  enum class Origin { input, outside, made };
  Origin origin;
  const char* begin;
  size_t bytes;
  const StorageImpl* impl;             // compared, not followed, where `made` and dead
  intrusive_ptr<StorageImpl> storage;  // held where it lives beyond the step
  int input = -1;                      // the argument whose memory it is
  int first = -1, last = -1;           // the calls that work on it
  bool alive = true;
  bool shown = false;                                     // of `made`: the program was given the address
  bool keeps = false;                                     // the library keeps it, and
  std::vector<std::pair<Tensor, capture::Give>> given{};  // is given what replays make of it: what it looks like
  bool temporary() const { return origin == Origin::made && !alive; }
};

/// Where a call holds an address.
struct Place {
  void* pointer;
  int memory;
  size_t offset;
  Access access;
};
struct TensorPlace {
  Tensor* tensor;
  int memory;
};

struct RecordedCall {
  std::unique_ptr<capture::Call> call;
  std::vector<Place> places;
  std::vector<TensorPlace> tensors;
  capture::Refresh refresh;
};

/// Whether the call is a trace's, which records values (watch_call.h).
bool is_watch(const RecordedCall& c);

/// A tensor from before the step that the step uses.
struct Outside {
  Tensor tensor;
  const StorageImpl* storage;
  uint32_t version, seen_version;
  bool requires_grad;
};

/// A leaf to which the step's backward passes give a gradient, or whose gradient the step reads or drops.
struct Leaf {
  Tensor leaf;
  Tensor before;         // its gradient when the step began
  bool met = false;      // a gradient came
  bool dropped = false;  // `before` was gone by then
};

/// A leaf of which the recording learned only then, and the gradient that it had, if any.
struct FoundLeaf {
  Tensor leaf;
  const TensorImpl* gradient;
};

class Recording final : public capture::Recorder {
 public:
  /// `leaves`: those that earlier calls of the step found.
  Recording(const std::vector<Tensor>& inputs, const std::vector<Tensor>& leaves);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  /// Ends it; what was kept stays to be looked at.
  void stop();

  /// Why it cannot be replayed; empty where it can.
  std::string refused;
  std::vector<Memory> memories;
  std::vector<RecordedCall> calls;
  std::vector<Outside> outside;
  std::vector<Leaf> leaves;
  std::vector<Tensor> inputs;
  std::vector<uint32_t> input_versions;      // when the step began
  std::vector<capture::Differs> conditions;  // beside the calls'
  std::vector<FoundLeaf> found_leaves;       // that were not known: there is no graph without them

  /// The memory of a tensor; -1 where it is not known.
  int memory_of(const Tensor& t) const;
  void refuse(const char* name, const char* why) override;

 private:
  class Collector;

  void call(std::unique_ptr<capture::Call> call, const Device& device) override;
  void uses(const Tensor& t) override;
  void keeps(const Tensor& t, capture::Give give) override;
  void follow(capture::Refresh refresh) override;
  void depends(capture::Differs differs) override { conditions.push_back(std::move(differs)); }
  void returns(const Tensor& number, double value) override;
  void step_begins() override;
  void step_ends() override;
  void leaf(const Tensor& leaf) override;
  void looks_at_gradient(const Tensor& t) override;
  void made(const TensorImpl& tensor) override;
  bool was_made(const Tensor& tensor) override;
  void allocated(const StorageImpl& storage) override;
  void shown(const StorageImpl& storage) override;
  void gone(const TensorImpl& tensor) noexcept override;
  void freed(const StorageImpl& storage) noexcept override;

  void found(const Tensor& leaf);
  int add(Memory::Origin origin, const StorageImpl& storage);
  bool overlaps(const StorageImpl& storage) const;
  int find(const void* address) const;
  int find(const StorageImpl& storage) const;
  void hold(const Tensor& t);

  intrusive_ptr<StorageImpl> nothing_;  // stands for the memory of recorded tensors
  std::mutex mutex_;                    // other threads may free what this one made
  std::map<const char*, int> live_;
  std::unordered_map<const StorageImpl*, int> by_storage_;
  std::unordered_set<const TensorImpl*> made_;           // tensors of the step itself
  std::unordered_set<const TensorImpl*> outside_known_;  // those in `outside`
  int step_calls_ = 0, followed_ = 0;
  bool recording_ = false;
};

}  // namespace hb::graph
