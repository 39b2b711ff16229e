// Archives that torch::save writes and torch::load reads: named tensors, values and nested archives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/bridge/compilation_unit.h>
#include <halfbridge/ivalue.h>

namespace hb::bridge {

using hb::Dict;
using hb::IValue;
using hb::List;

namespace serialize {

/// Collects named tensors, values and nested archives, and writes them as LibTorch does: its torch::load
/// reads the files.
class HB_API OutputArchive final {
 public:
  OutputArchive();
  explicit OutputArchive(std::shared_ptr<jit::CompilationUnit> unit);
  OutputArchive(OutputArchive&&);
  OutputArchive& operator=(OutputArchive&&);
  ~OutputArchive();
  OutputArchive(OutputArchive&) = delete;
  OutputArchive& operator=(OutputArchive&) = delete;

  std::shared_ptr<jit::CompilationUnit> compilation_unit() const { return unit_; }

  /// Writes a value under a name. The same name again replaces it.
  void write(const std::string& key, const IValue& value);
  /// Writes a tensor as a parameter, or as a buffer. Throws for an undefined tensor.
  void write(const std::string& key, const Tensor& tensor, bool is_buffer = false);
  /// Nests an archive under a name.
  void write(const std::string& key, OutputArchive& nested);

  /// Writes the file `filename`, which appears only when it is complete: an interrupted save leaves the old
  /// one.
  void save_to(const std::string& filename);
  void save_to(std::ostream& stream);
  /// `write` takes consecutive bytes and gives how many of them it took.
  void save_to(const std::function<size_t(const void*, size_t)>& write);

  template <typename... Ts>
  void operator()(Ts&&... values) {
    write(std::forward<Ts>(values)...);
  }

 private:
  std::shared_ptr<jit::CompilationUnit> unit_;
  std::shared_ptr<ivalue::ObjectData> object_;
};

/// Reads what OutputArchive, LibTorch's torch::save or TorchScript wrote.
class HB_API InputArchive final {
 public:
  InputArchive();
  InputArchive(InputArchive&&);
  InputArchive& operator=(InputArchive&&);
  ~InputArchive();
  InputArchive(InputArchive&) = delete;
  InputArchive& operator=(InputArchive&) = delete;

  /// Reads the value under a name; throws where there is none.
  void read(const std::string& key, IValue& value);
  /// Reads the value under a name; false where there is none.
  bool try_read(const std::string& key, IValue& value);
  /// Reads the tensor under a name; false where there is none. A defined `tensor` keeps its identity and gets
  /// the file's shape and memory; its dtype must be the file's.
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  /// Reads the nested archive under a name; false where there is none.
  bool try_read(const std::string& key, InputArchive& archive);
  void read(const std::string& key, InputArchive& archive);

  /// Loads an archive; with a device, all tensors are put there. Throws hb::Error for a missing or malformed
  /// file.
  void load_from(const std::string& filename, std::optional<Device> device = std::nullopt);
  /// Reads a stream from its beginning.
  void load_from(std::istream& stream, std::optional<Device> device = std::nullopt);
  void load_from(const char* data, size_t size, std::optional<Device> device = std::nullopt);
  /// `read` copies `nbytes` bytes at `pos` to `buf` and gives how many it copied; `size` gives how many there
  /// are.
  void load_from(const std::function<size_t(uint64_t pos, void* buf, size_t nbytes)>& read,
                 const std::function<size_t()>& size, std::optional<Device> device = std::nullopt);

  /// Names in the order in which they were written.
  std::vector<std::string> keys();

  template <typename... Ts>
  void operator()(Ts&&... values) {
    read(std::forward<Ts>(values)...);
  }

 private:
  const IValue* find(const std::string& key) const;

  std::shared_ptr<ivalue::ObjectData> object_;
  std::string prefix_;  // where this archive stands in its file, for errors
};

inline OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor) {
  archive.write("0", tensor);
  return archive;
}

inline InputArchive& operator>>(InputArchive& archive, Tensor& tensor) {
  archive.read("0", tensor);
  return archive;
}

}  // namespace serialize
}  // namespace hb::bridge
