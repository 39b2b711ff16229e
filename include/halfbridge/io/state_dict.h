// State dicts in files of any format that PyTorch programs exchange: read one without knowing which it is, write
// another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <halfbridge/io/safetensors.h>
#include <halfbridge/ivalue.h>

namespace hb::io {

enum class CheckpointFormat {
  Torch,               // Python's torch.save since 1.6, torch::pickle_save: a zip archive
  TorchLegacy,         // Python's torch.save before 1.6; read only
  LibTorch,            // torch::save: an archive of modules, optimizers or tensors
  TorchScript,         // a scripted or traced module: its parameters and buffers; read only
  Safetensors,         // one file
  ShardedSafetensors,  // several, with an index (model.safetensors.index.json)
};

/// "torch", "torch-legacy", "libtorch", "torchscript", "safetensors", "sharded".
HB_API const char* format_name(CheckpointFormat format);
HB_API std::optional<CheckpointFormat> format_of_name(std::string_view name);
/// One line for people: "Python's torch.save (zip)".
HB_API const char* describe_format(CheckpointFormat format);

/// What a file holds.
struct StateDictFile {
  CheckpointFormat format = CheckpointFormat::Torch;
  /// The content with its structure: dicts, lists, numbers, tensors. An archive of a module is one dict with dotted
  /// names, an archive of an optimizer the dict that Python's Optimizer.state_dict() gives.
  IValue value;
  /// Every tensor of `value` once per place, by dotted name (see flatten), in the order of the file.
  NamedTensors tensors;
  /// Of safetensors, less what Halfbridge itself put there.
  std::map<std::string, std::string> metadata;
  /// Of TorchScript: what modules hold beside parameters and buffers, by dotted name. It is not part of `value`.
  std::vector<std::pair<std::string, IValue>> attributes;
};

/// Reads a file of any of the formats, or a folder that holds one index or one model.safetensors. Tensors are put on
/// the device; without one each goes where it was. Runs no code of the file. Throws hb::Error that names the file and
/// what was expected.
HB_API StateDictFile load_state_dict_file(const std::string& path, std::optional<Device> device = Device(kCPU));
/// The same from memory; `label` names the data in errors. An index of shards is not a file of its own and throws.
HB_API StateDictFile parse_state_dict(const void* data, size_t size, const std::string& label = "memory");

struct SaveStateDictOptions {
  CheckpointFormat format = CheckpointFormat::Torch;
  /// ShardedSafetensors: the most bytes of tensors in one file; a larger tensor has a file of its own.
  uint64_t max_shard_bytes = uint64_t{5} << 30;
  /// Leaves out what is not a tensor.
  bool tensors_only = false;
  /// LibTorch: submodules that the archive shall have besides those that hold tensors, as torch::load asks for each (a
  /// ReLU has none). Dotted names; gaps between numbered submodules are filled without this.
  std::vector<std::string> modules;
  /// Safetensors: texts for the header.
  std::map<std::string, std::string> metadata;
};

/// Writes dicts, lists, tuples, numbers, strings and tensors so that load_state_dict_file gives them back:
/// - Torch: as they are.
/// - LibTorch: dicts become nested archives, dotted names too; the dict of an optimizer becomes an archive of an
/// optimizer.
///   Every other key must be a string.
/// - Safetensors: tensors by dotted name, each written by itself also where tensors share memory. A structure that is
/// more
///   than a dict of tensors stands in the header, where readers other than Halfbridge ignore it.
/// ShardedSafetensors writes NAME-00001-of-0000N.safetensors and NAME.safetensors.index.json, which `path` names.
/// Throws hb::Error for what the format cannot hold; the file appears at `path` only when it is complete.
HB_API void save_state_dict_file(const IValue& value, const std::string& path,
                                 const SaveStateDictOptions& options = {});
HB_API void save_state_dict_file(const NamedTensors& tensors, const std::string& path,
                                 const SaveStateDictOptions& options = {});

/// Tensors by dotted name: keys of dicts, positions in lists and tuples, names of attributes, joined with dots; a
/// tensor alone is "0". Throws where two places give one name.
HB_API NamedTensors flatten(const IValue& value);
/// Dotted names and kinds of what is not a tensor: {"epoch", IValue(3)}.
HB_API std::vector<std::pair<std::string, IValue>> flatten_others(const IValue& value);
/// What stands at a dotted name, or nothing: value_at(file.value, "model").
HB_API std::optional<IValue> value_at(const IValue& value, const std::string& name);
/// A dict with these names.
HB_API IValue dict_of(const NamedTensors& tensors);

}  // namespace hb::io
