#include <halfbridge/io/state_dict.h>

#include <filesystem>
#include <iterator>

#include "io/io_error.h"
#include "io/legacy_archive.h"
#include "io/mapped_file.h"
#include "io/module_layout.h"
#include "io/safetensors_shards.h"
#include "io/torch_archive.h"
#include "io/value_json.h"

namespace hb::io {
namespace {

constexpr const char* kStructure = "halfbridge.structure";

struct FormatRow {
  CheckpointFormat format;
  const char* name;
  const char* description;
};
constexpr FormatRow kFormats[] = {
    {CheckpointFormat::Torch, "torch", "Python's torch.save"},
    {CheckpointFormat::TorchLegacy, "torch-legacy", "Python's torch.save before 1.6"},
    {CheckpointFormat::LibTorch, "libtorch", "LibTorch's torch::save"},
    {CheckpointFormat::TorchScript, "torchscript", "TorchScript, its parameters and buffers"},
    {CheckpointFormat::Safetensors, "safetensors", "safetensors"},
    {CheckpointFormat::ShardedSafetensors, "sharded", "safetensors in several files"},
};

const FormatRow& row_of(CheckpointFormat format) { return kFormats[static_cast<size_t>(format)]; }

// Safetensors begin with the length of their header and its brace.
bool is_safetensors(std::string_view bytes) {
  return bytes.size() >= 9 && bytes[8] == '{' && bytes[6] == 0 && bytes[7] == 0;
}

bool is_zip(std::string_view bytes) { return bytes.substr(0, 4) == "PK\x03\x04" || bytes.substr(0, 4) == "PK\x05\x06"; }

[[noreturn]] void fail_unknown(std::string_view bytes, const std::string& label) {
  const bool tar = bytes.size() > 262 && bytes.substr(257, 5) == "ustar";
  io_fail("load_state_dict", "expected a file of torch.save, torch::save, TorchScript or safetensors, got '", label,
          "'",
          tar             ? ", a tar archive (torch.save before PyTorch 0.1.10, which is not supported)"
          : bytes.empty() ? ", which is empty"
                          : "");
}

// Python's scripted modules have methods, LibTorch's archives none.
bool has_methods(const ZipReader& zip) {
  for (const std::string& name : zip.names()) {
    if (name.compare(0, 5, "code/") != 0 || name.size() < 3 || name.compare(name.size() - 3, 3, ".py") != 0) continue;
    if (zip.read(name, uint64_t{1} << 26).find("\n  def ") != std::string::npos) return true;
  }
  return false;
}

StateDictFile from_zip(const ZipReader& zip, std::optional<Device> device) {
  StateDictFile file;
  file.value = read_torch_archive(zip, device);
  file.tensors = flatten(file.value);  // also bounds how often a part may be shared
  if (!file.value.isObject()) return file;
  const bool script = has_methods(zip);
  file.format = script ? CheckpointFormat::TorchScript : CheckpointFormat::LibTorch;
  const auto root = file.value.toObject();
  file.value = script ? state_of_script(*root, file.attributes) : dict_of_archive(*root);
  file.tensors = flatten(file.value);
  return file;
}

StateDictFile from_safetensors(SafetensorsFile loaded, CheckpointFormat format, std::optional<Device> device,
                               const std::string& label) {
  StateDictFile file;
  file.format = format;
  if (device && !device->is_cpu())
    for (auto& item : loaded.tensors) item.second = item.second.to(*device);
  const auto structure = loaded.metadata.find(kStructure);
  if (structure == loaded.metadata.end()) {
    file.value = dict_of(loaded.tensors);
    file.tensors = std::move(loaded.tensors);
  } else {
    file.value = value_of_structure(structure->second, loaded.tensors, label);
    file.tensors = flatten(file.value);
    loaded.metadata.erase(structure);
  }
  file.metadata = std::move(loaded.metadata);
  return file;
}

StateDictFile from_legacy(std::string_view bytes, const std::string& label, std::optional<Device> device) {
  StateDictFile file;
  file.format = CheckpointFormat::TorchLegacy;
  file.value = read_legacy_archive(bytes, label, device);
  file.tensors = flatten(file.value);
  return file;
}

// The one file of a folder that stands for all of it.
std::string file_in_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> indices;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const std::string ending = ".safetensors.index.json";
    if (name.size() >= ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0) {
      indices.push_back(entry.path().string());
    }
  }
  if (error) io_fail("load_state_dict", "cannot read the folder '", folder, "': ", error.message());
  if (indices.size() == 1) return indices[0];
  const std::string single = (fs::path(folder) / "model.safetensors").string();
  if (indices.empty() && fs::exists(single, error)) return single;
  io_fail("load_state_dict", "expected one NAME.safetensors.index.json or a model.safetensors in the folder '", folder,
          "', got ", indices.size(), " indices: name the file");
}

bool is_dict_of_tensors(const IValue& value) {
  if (!value.isGenericDict()) return false;
  for (const auto& [key, item] : value.toGenericDict().data()->entries)
    if (!key.isString() || !item.isTensor()) return false;
  return true;
}

void save_as_safetensors(const IValue& value, const std::string& path, const SaveStateDictOptions& options) {
  const NamedTensors tensors = flatten(value);
  auto metadata = options.metadata;
  if (!options.tensors_only && !is_dict_of_tensors(value)) metadata[kStructure] = structure_text(value);
  if (options.format == CheckpointFormat::ShardedSafetensors) {
    return save_sharded_safetensors(path, tensors, options.max_shard_bytes, metadata);
  }
  metadata.emplace("format", "pt");  // as PyTorch's own writers have it
  save_safetensors(path, tensors, metadata);
}

}  // namespace

const char* format_name(CheckpointFormat format) { return row_of(format).name; }
const char* describe_format(CheckpointFormat format) { return row_of(format).description; }

std::optional<CheckpointFormat> format_of_name(std::string_view name) {
  for (const FormatRow& row : kFormats)
    if (name == row.name) return row.format;
  return std::nullopt;
}

StateDictFile load_state_dict_file(const std::string& path, std::optional<Device> device) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return load_state_dict_file(file_in_folder(path), device);
  const MappedFile file(path, "load_state_dict");
  const std::string_view bytes = file.bytes();
  if (is_zip(bytes)) return from_zip(ZipReader::open_file(path), device);
  if (is_legacy_archive(bytes)) return from_legacy(bytes, path, device);
  if (is_safetensors(bytes)) {
    return from_safetensors(load_safetensors(path), CheckpointFormat::Safetensors, device, path);
  }
  if (is_shard_index(bytes)) {
    return from_safetensors(load_sharded_safetensors(path), CheckpointFormat::ShardedSafetensors, device, path);
  }
  fail_unknown(bytes, path);
}

StateDictFile parse_state_dict(const void* data, size_t size, const std::string& label) {
  const std::string_view bytes(static_cast<const char*>(data), size);
  if (is_zip(bytes)) return from_zip(ZipReader::open_memory(data, size, label), kCPU);
  if (is_legacy_archive(bytes)) return from_legacy(bytes, label, kCPU);
  if (is_safetensors(bytes)) {
    return from_safetensors(parse_safetensors(data, size, label), CheckpointFormat::Safetensors, kCPU, label);
  }
  fail_unknown(bytes, label);
}

void save_state_dict_file(const IValue& value, const std::string& path, const SaveStateDictOptions& options) {
  const IValue content = options.tensors_only ? dict_of(flatten(value)) : value;
  switch (options.format) {
    case CheckpointFormat::Torch:
      return save_archive(path, [&](ZipWriter& zip) { write_pickle_archive(content, /*for_python=*/true, zip); });
    case CheckpointFormat::LibTorch: {
      const auto archive = archive_of_value(content, options.modules);
      return save_archive(path, [&](ZipWriter& zip) { write_module_archive(archive, zip); });
    }
    case CheckpointFormat::Safetensors:
    case CheckpointFormat::ShardedSafetensors:
      return save_as_safetensors(content, path, options);
    case CheckpointFormat::TorchLegacy:
    case CheckpointFormat::TorchScript:
      break;
  }
  io_fail("save_state_dict", "expected a format that can be written (torch, libtorch, safetensors, sharded), got ",
          format_name(options.format));
}

void save_state_dict_file(const NamedTensors& tensors, const std::string& path, const SaveStateDictOptions& options) {
  save_state_dict_file(dict_of(tensors), path, options);
}

}  // namespace hb::io
