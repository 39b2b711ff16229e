// <caffe2/serialize/inline_container.h>: the records of PyTorch's zip archives, one by one.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <halfbridge/bridge/jit.h>
#include <halfbridge/data_ptr.h>

namespace hb::io {
class ZipReader;
}

namespace hb::bridge {

/// An archive that torch.save, torch::save, torch::pickle_save or TorchScript wrote. Records are named without the
/// archive's folder: "data.pkl", "data/0". Sizes and checksums are verified, and nothing in an archive is run. Throws
/// hb::Error where it is no such archive, or lacks the record.
class HB_API PyTorchStreamReader final {
 public:
  explicit PyTorchStreamReader(const std::string& file_name);
  /// Reads the stream to its end.
  explicit PyTorchStreamReader(std::istream* in);
  explicit PyTorchStreamReader(std::shared_ptr<ReadAdapterInterface> in);
  ~PyTorchStreamReader();
  PyTorchStreamReader(const PyTorchStreamReader&) = delete;
  PyTorchStreamReader& operator=(const PyTorchStreamReader&) = delete;

  /// In the archive's order; without those for debuggers (.debug_pkl) once setShouldLoadDebugSymbol(false) was called.
  std::vector<std::string> getAllRecords();
  bool hasRecord(const std::string& name);
  /// Of memory from `allocator`, or the CPU's.
  std::tuple<DataPtr, size_t> getRecord(const std::string& name, std::optional<Allocator*> allocator = std::nullopt);
  /// Fills `n` bytes at `dst`, which must be the record's size.
  size_t getRecord(const std::string& name, void* dst, size_t n);
  size_t getRecordSize(const std::string& name);
  /// Of the format.
  uint64_t version() const { return version_; }
  /// Empty where the archive has none.
  const std::string& serializationId();
  void setShouldLoadDebugSymbol(bool should_load) { debug_symbols_ = should_load; }

  /// For the library.
  const io::ZipReader& zip() const { return *zip_; }

 private:
  void begin();

  std::string bytes_;  // of a stream
  std::unique_ptr<io::ZipReader> zip_;
  std::string serialization_id_;
  uint64_t version_ = 0;
  bool debug_symbols_ = true;
};

namespace jit {
/// The value that the record `pickle_prefix + archive_name + ".pkl"` holds, with the storages in records of
/// `tensor_prefix`, or of the folder `archive_name` where that is empty. Objects have the attributes that the pickle
/// gives them: types are not resolved by functions of the program.
HB_API IValue readArchiveAndTensors(const std::string& archive_name, const std::string& pickle_prefix,
                                    const std::string& tensor_prefix, std::nullopt_t type_resolver,
                                    std::nullopt_t obj_loader, std::optional<Device> device,
                                    PyTorchStreamReader& stream_reader);
}  // namespace jit

}  // namespace hb::bridge
