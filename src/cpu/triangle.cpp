// The lower or upper triangle of matrices.
#include "backend/triangle.h"

#include <algorithm>
#include <cstring>

#include "cpu/parallel.h"

namespace hb::cpu {
namespace {

void triangle(const Triangle& t, void* out, const void* in) {
  const int64_t row_bytes = t.columns * t.itemsize;
  parallel_for(0, t.matrices * t.rows, std::max<int64_t>(1, 4 * kGrain / std::max<int64_t>(1, row_bytes)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   auto* to = static_cast<char*>(out) + r * row_bytes;
                   const auto* from = static_cast<const char*>(in) + r * row_bytes;
                   const int64_t begin_kept = t.from(r % t.rows) * t.itemsize, end_kept = t.to(r % t.rows) * t.itemsize;
                   std::memset(to, 0, begin_kept);
                   if (to != from) std::memcpy(to + begin_kept, from + begin_kept, end_kept - begin_kept);
                   std::memset(to + end_kept, 0, row_bytes - end_kept);
                 }
               });
}
HB_REGISTER_CPU(triangle_kernel, triangle);

}  // namespace
}  // namespace hb::cpu
