#pragma once
// Which value of a line stands at one rank of its order, without putting the others in order.

#include <cstdint>

#include <halfbridge/dtype.h>

namespace hb::cpu {

/// The place of the value at `rank` among n of a dtype, `stride` apart; equal values keep their order.
using PlaceAtRank = int64_t(ScalarType dtype, const void* in, int64_t n, int64_t stride, bool descending, int64_t rank);

namespace v3 {
PlaceAtRank place_at_rank;
}
namespace v4 {
PlaceAtRank place_at_rank;
}

}  // namespace hb::cpu
