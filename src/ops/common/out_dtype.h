#pragma once

#include <halfbridge/dtype.h>

namespace hb {

/// Whether name_out may write a result of one dtype into a tensor of another. Element-wise functions cast, to a dtype
/// of the same or a wider kind; the others want the result's own dtype, and say so in LibTorch's words.
void check_out_dtype(const char* name, ScalarType result, ScalarType out);
/// Where the caller named a dtype as well: out has this one.
void require_out_dtype(const char* name, ScalarType wanted, ScalarType out);

}  // namespace hb
