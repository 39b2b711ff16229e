#pragma once

#include <halfbridge/dtype.h>

namespace hb::io {

/// "float32", "bfloat16", "int64", …: as Python PyTorch calls it; "?" for a dtype that tensors cannot have.
HB_API const char* dtype_name(ScalarType dtype);

}  // namespace hb::io
