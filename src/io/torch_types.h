// Names that PyTorch's pickles give to dtypes.
#pragma once

#include <optional>
#include <string_view>

#include <halfbridge/dtype.h>

namespace hb::io {

/// "FloatStorage" for kFloat; null for a dtype that has none.
const char* storage_class(ScalarType dtype);
/// kFloat for "FloatStorage".
std::optional<ScalarType> dtype_of_storage_class(std::string_view name);
/// kFloat for "float32" or "float".
std::optional<ScalarType> dtype_of_name(std::string_view name);

}  // namespace hb::io
