#include <halfbridge/bridge/stream_reader.h>

#include <cstdlib>
#include <istream>
#include <utility>

#include <halfbridge/error.h>

#include "io/torch_archive.h"
#include "serialize/read_stream.h"

namespace hb::bridge {
namespace {

constexpr uint64_t kMaxSmallRecord = 4096;
constexpr const char* kForDebuggers = ".debug_pkl";

}  // namespace

PyTorchStreamReader::PyTorchStreamReader(const std::string& file_name)
    : zip_(std::make_unique<io::ZipReader>(io::ZipReader::open_file(file_name))) {
  begin();
}
PyTorchStreamReader::PyTorchStreamReader(std::istream* in) : bytes_(serialize::read_stream(*in)) {
  zip_ = std::make_unique<io::ZipReader>(io::ZipReader::open_memory(bytes_.data(), bytes_.size(), "stream"));
  begin();
}
PyTorchStreamReader::PyTorchStreamReader(std::shared_ptr<ReadAdapterInterface> in)
    : bytes_(serialize::read_all([&](uint64_t pos, void* buf, size_t n) { return in->read(pos, buf, n, "archive"); },
                                 in->size())) {
  zip_ = std::make_unique<io::ZipReader>(io::ZipReader::open_memory(bytes_.data(), bytes_.size(), "reader"));
  begin();
}
PyTorchStreamReader::~PyTorchStreamReader() = default;

void PyTorchStreamReader::begin() { version_ = static_cast<uint64_t>(io::check_version(*zip_)); }

const std::string& PyTorchStreamReader::serializationId() {
  const char* const record = ".data/serialization_id";
  if (serialization_id_.empty() && zip_->has(record)) serialization_id_ = zip_->read(record, kMaxSmallRecord);
  return serialization_id_;
}

std::vector<std::string> PyTorchStreamReader::getAllRecords() {
  std::vector<std::string> names = zip_->names();
  const auto hidden = [&](const std::string& name) { return !debug_symbols_ && name.ends_with(kForDebuggers); };
  std::erase_if(names, hidden);
  return names;
}

bool PyTorchStreamReader::hasRecord(const std::string& name) {
  return zip_->has(name) && (debug_symbols_ || !name.ends_with(kForDebuggers));
}

std::tuple<DataPtr, size_t> PyTorchStreamReader::getRecord(const std::string& name,
                                                           std::optional<Allocator*> allocator) {
  const size_t size = zip_->size(name);
  DataPtr memory = (allocator ? *allocator : GetCPUAllocator())->allocate(size);
  if (size > 0) zip_->read_into(name, memory.get(), size);
  return {std::move(memory), size};
}

size_t PyTorchStreamReader::getRecord(const std::string& name, void* dst, size_t n) {
  const size_t size = zip_->size(name);
  HB_CHECK(n == size, "[getRecord] record size ", size, " mismatch with dst size ", n);
  if (size > 0) zip_->read_into(name, dst, size);
  return size;
}

size_t PyTorchStreamReader::getRecordSize(const std::string& name) { return zip_->size(name); }

namespace jit {

IValue readArchiveAndTensors(const std::string& archive_name, const std::string& pickle_prefix,
                             const std::string& tensor_prefix, std::nullopt_t /*type_resolver*/,
                             std::nullopt_t /*obj_loader*/, std::optional<Device> device,
                             PyTorchStreamReader& stream_reader) {
  return io::read_torch_archive(
      stream_reader.zip(), device,
      {pickle_prefix + archive_name + ".pkl", tensor_prefix.empty() ? archive_name + "/" : tensor_prefix});
}

}  // namespace jit
}  // namespace hb::bridge
