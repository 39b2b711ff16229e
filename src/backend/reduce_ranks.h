#pragma once

#include <cstdint>

#include <halfbridge/macros.h>

#include "backend/kernel.h"

namespace hb {

/// How values of several ranks become one.
enum class RankReduction : int8_t { none = -1, sum, mean, product, min, max, bit_and, bit_or, bit_xor };

/// out[i] = in[0][i] op in[1][i] op ...: in the order of the list, half types in float and rounded once. `out` may be
/// one of the inputs. Uses the calling thread alone.
HB_API inline Kernel<void(ScalarType type, RankReduction op, void* out, const void* const* in, int64_t inputs,
                          int64_t n)>
    reduce_ranks_kernel{"reduce_ranks"};

}  // namespace hb
