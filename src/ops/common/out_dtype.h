#pragma once

#include <halfbridge/dtype.h>
#include <halfbridge/error.h>
#include <halfbridge/ops/combine.h>

namespace hb {

/// Throws where a result cannot be written to a tensor of dtype `to`, which has to be of the same or a wider kind.
inline void check_cast(const char* name, ScalarType result, ScalarType to) {
  HB_CHECK(can_cast(result, to), "[", name, "] result type ", toString(result),
           " can't be cast to the desired output type ", toString(to));
}
/// Whether name_out may write a result of one dtype into a tensor of another. Element-wise functions cast, to a dtype
/// of the same or a wider kind; the others want the result's own dtype, and say so in LibTorch's words.
void check_out_dtype(const char* name, ScalarType result, ScalarType out);
/// Where the caller named a dtype as well: out has this one.
void require_out_dtype(const char* name, ScalarType wanted, ScalarType out);

}  // namespace hb
