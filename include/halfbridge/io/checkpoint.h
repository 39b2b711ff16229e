// Checkpoints of PyTorch, LibTorch and TorchScript as plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <halfbridge/ivalue.h>

namespace hb::io {

/// Reads a file that Python's torch.save (zip or the form before 1.6), torch::save, torch::pickle_save or TorchScript
/// wrote. A state dict is a dict of tensors, an archive of a module an object with its attributes. No code of the file
/// is run: known classes only. With a device, all tensors are put there; without, each goes where it was.
/// Throws hb::Error that names the file, and the byte where there is one.
HB_API IValue load_checkpoint(const std::string& path, std::optional<Device> device = std::nullopt);

/// Writes a value (dicts, lists, tuples, numbers, strings, tensors) for Python's torch.load and
/// load_checkpoint. The file appears at `path` only when it is complete.
HB_API void save_checkpoint(const IValue& value, const std::string& path);

/// torch::pickle_save and torch::pickle_load.
HB_API std::vector<char> pickle_save(const IValue& value);
HB_API IValue pickle_load(const std::vector<char>& data);

}  // namespace hb::io
