#pragma once
// Which value of a line stands at one rank of its order, without putting the others in order, and which ones stand
// before a value.

#include <cstdint>

#include <halfbridge/dtype.h>

namespace hb::cpu {

/// The place of the value at `rank` among n of a dtype, `stride` apart; equal values keep their order.
using PlaceAtRank = int64_t(ScalarType dtype, const void* in, int64_t n, int64_t stride, bool descending, int64_t rank);

/// The first place from `from` on, of n, whose key (radix_sort.h; turned where `descending`) is below `limit`; n if
/// there is none.
using NextBefore = int64_t(ScalarType dtype, const void* in, int64_t from, int64_t n, bool descending, uint64_t limit);

namespace v3 {
PlaceAtRank place_at_rank;
NextBefore next_before;
}  // namespace v3
namespace v4 {
PlaceAtRank place_at_rank;
NextBefore next_before;
}  // namespace v4

}  // namespace hb::cpu
