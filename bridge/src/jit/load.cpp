#include <utility>

#include <halfbridge/bridge/stream_reader.h>

#include "io/io_error.h"
#include "io/torch_archive.h"
#include "script/archive.h"

namespace hb::bridge {
ReadAdapterInterface::~ReadAdapterInterface() = default;
}  // namespace hb::bridge

namespace hb::bridge::jit {
namespace {

constexpr uint64_t kMaxExtraFile = uint64_t{1} << 30;

Module load_from(const io::ZipReader& zip, std::optional<Device> device, ExtraFilesMap* extra_files) {
  const IValue value = script::read_archive(zip, device);
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
  return load_from(PyTorchStreamReader(filename).zip(), device, nullptr);
}
Module load(const std::string& filename, std::optional<Device> device, ExtraFilesMap& extra_files,
            bool /*load_debug_files*/) {
  return load_from(PyTorchStreamReader(filename).zip(), device, &extra_files);
}
Module load(std::istream& stream, std::optional<Device> device, bool /*load_debug_files*/) {
  return load_from(PyTorchStreamReader(&stream).zip(), device, nullptr);
}
Module load(std::istream& stream, std::optional<Device> device, ExtraFilesMap& extra_files, bool /*load_debug_files*/) {
  return load_from(PyTorchStreamReader(&stream).zip(), device, &extra_files);
}
Module load(std::shared_ptr<ReadAdapterInterface> reader, std::optional<Device> device, bool /*load_debug_files*/) {
  return load_from(PyTorchStreamReader(std::move(reader)).zip(), device, nullptr);
}
Module load(std::shared_ptr<ReadAdapterInterface> reader, std::optional<Device> device, ExtraFilesMap& extra_files,
            bool /*load_debug_files*/) {
  return load_from(PyTorchStreamReader(std::move(reader)).zip(), device, &extra_files);
}

std::map<std::string, Tensor> _load_parameters(const std::string& filename, std::optional<Device> device) {
  return parameters_in(PyTorchStreamReader(filename).zip(), device);
}
std::map<std::string, Tensor> _load_parameters(std::istream& stream, std::optional<Device> device) {
  return parameters_in(PyTorchStreamReader(&stream).zip(), device);
}

}  // namespace hb::bridge::jit
