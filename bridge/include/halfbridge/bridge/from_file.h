#pragma once
// Tensors in the memory of a file.

#include <cstdint>
#include <optional>
#include <string_view>

#include <halfbridge/macros.h>
#include <halfbridge/options.h>
#include <halfbridge/tensor.h>

namespace hb::bridge {
inline namespace api {

/// A 1-d tensor of `size` elements that are the file's bytes. Shared: changes are written to the file, which is made
/// or becomes longer where it must; else they stay in memory, and a file that is too short throws.
HB_API Tensor from_file(std::string_view filename, std::optional<bool> shared = std::nullopt,
                        std::optional<int64_t> size = 0, TensorOptions options = {});

}  // namespace api
}  // namespace hb::bridge
