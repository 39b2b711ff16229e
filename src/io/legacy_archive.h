// torch.save's files from before PyTorch 1.6: a row of pickles, then the storages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <halfbridge/ivalue.h>

namespace hb::io {

/// Whether the bytes begin as such a file does.
bool is_legacy_archive(std::string_view bytes);

/// Reads one. With a device, all tensors are put there; without, each goes where it was. Throws hb::Error with the
/// byte.
IValue read_legacy_archive(std::string_view bytes, const std::string& label, std::optional<Device> device);

}  // namespace hb::io
