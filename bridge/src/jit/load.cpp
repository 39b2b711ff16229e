#include <istream>

#include <halfbridge/bridge/jit.h>

#include "io/io_error.h"
#include "io/torch_archive.h"
#include "serialize/read_stream.h"

namespace hb::bridge {
ReadAdapterInterface::~ReadAdapterInterface() = default;
}  // namespace hb::bridge

namespace hb::bridge::jit {
namespace {

constexpr uint64_t kMaxExtraFile = uint64_t{1} << 30;

Module load_from(const io::ZipReader& zip, std::optional<Device> device, ExtraFilesMap* extra_files) {
  const IValue value = io::read_torch_archive(zip, device);
  if (!value.isObject()) {
    io::io_fail("jit.load", "expected an archive of TorchScript (torch.jit.save) or torch::save, got '", zip.label(),
                "' of torch.save, which holds a ", value.tagKind(),
                " and no module: read it with torch::pickle_load or hb::io::load_state_dict_file");
  }
  if (!extra_files) return value.toModule();
  for (auto& [name, content] : *extra_files) {
    const std::string record = "extra/" + name;
    if (zip.has(record)) content = zip.read(record, kMaxExtraFile);
  }
  return value.toModule();
}

Module load_file(const std::string& filename, std::optional<Device> device, ExtraFilesMap* extra_files) {
  return load_from(io::ZipReader::open_file(filename), device, extra_files);
}

Module load_stream(std::istream& stream, std::optional<Device> device, ExtraFilesMap* extra_files) {
  const std::string bytes = serialize::read_stream(stream);
  return load_from(io::ZipReader::open_memory(bytes.data(), bytes.size(), "stream"), device, extra_files);
}

Module load_adapter(const ReadAdapterInterface& reader, std::optional<Device> device, ExtraFilesMap* extra_files) {
  const std::string bytes = serialize::read_all(
      [&](uint64_t pos, void* buf, size_t n) { return reader.read(pos, buf, n, "archive"); }, reader.size());
  return load_from(io::ZipReader::open_memory(bytes.data(), bytes.size(), "reader"), device, extra_files);
}

std::map<std::string, Tensor> parameters_in(const io::ZipReader& zip, std::optional<Device> device) {
  const IValue value = io::read_torch_archive(zip, device);
  if (!value.isGenericDict())
    io::io_fail("jit._load_parameters", "expected a dict of tensors in '", zip.label(), "', got ", value.tagKind());
  std::map<std::string, Tensor> out;
  for (const auto& entry : value.toGenericDict())
    out.emplace(entry.key().toStringRef(), entry.value().toTensor().tensor_data());
  return out;
}

}  // namespace

Module load(const std::string& filename, std::optional<Device> device, bool /*load_debug_files*/) {
  return load_file(filename, device, nullptr);
}
Module load(const std::string& filename, std::optional<Device> device, ExtraFilesMap& extra_files,
            bool /*load_debug_files*/) {
  return load_file(filename, device, &extra_files);
}
Module load(std::istream& stream, std::optional<Device> device, bool /*load_debug_files*/) {
  return load_stream(stream, device, nullptr);
}
Module load(std::istream& stream, std::optional<Device> device, ExtraFilesMap& extra_files, bool /*load_debug_files*/) {
  return load_stream(stream, device, &extra_files);
}
Module load(std::shared_ptr<ReadAdapterInterface> reader, std::optional<Device> device, bool /*load_debug_files*/) {
  return load_adapter(*reader, device, nullptr);
}
Module load(std::shared_ptr<ReadAdapterInterface> reader, std::optional<Device> device, ExtraFilesMap& extra_files,
            bool /*load_debug_files*/) {
  return load_adapter(*reader, device, &extra_files);
}

std::map<std::string, Tensor> _load_parameters(const std::string& filename, std::optional<Device> device) {
  return parameters_in(io::ZipReader::open_file(filename), device);
}
std::map<std::string, Tensor> _load_parameters(std::istream& stream, std::optional<Device> device) {
  const std::string bytes = serialize::read_stream(stream);
  return parameters_in(io::ZipReader::open_memory(bytes.data(), bytes.size(), "stream"), device);
}

}  // namespace hb::bridge::jit
