// The order of rows by their first element that differs: sorted runs of rows are merged, two and two.
#include <utility>

#include "backend/distinct.h"
#include "cuda/sort_key.h"

namespace hb::cuda {
namespace {

template <class W>
struct RowBefore {
  const W* rows;
  int64_t m;
  KeyRule rule;
  __device__ bool operator()(int64_t a, int64_t b) const {
    const W *const first = rows + a * m, *const second = rows + b * m;
    for (int64_t c = 0; c < m; ++c) {
      const W x = key_of_bits(first[c], rule), y = key_of_bits(second[c], rule);
      if (x != y) return x < y;
    }
    return false;
  }
};

__global__ void number_rows(int64_t* order, int64_t n) { HB_GRID_LOOP(i, n) order[i] = i; }

/// Runs of `width` in order become runs of twice that: each row's place is its own, and how many of the other run come
/// before it. Those of the first run come before equal ones of the second.
template <class W>
__global__ void merge_runs(int64_t* out, const int64_t* in, RowBefore<W> before, int64_t n, int64_t width) {
  HB_GRID_LOOP(i, n) {
    const int64_t run = i / width, other = (run ^ 1) * width, own = in[i];
    int64_t low = 0, high = other >= n ? 0 : n - other < width ? n - other : width;
    while (low < high) {
      const int64_t middle = (low + high) / 2, row = in[other + middle];
      if (run % 2 == 0 ? before(row, own) : !before(own, row))
        low = middle + 1;
      else
        high = middle;
    }
    out[run / 2 * 2 * width + i % width + low] = own;
  }
}

template <class W>
void order_rows(int64_t* order, const W* rows, int64_t n, int64_t m, const KeyRule& rule) {
  const Scratch<int64_t> room(n);
  int passes = 0;
  for (int64_t width = 1; width < n; width *= 2) ++passes;
  int64_t *from = passes % 2 ? room.get() : order, *to = passes % 2 ? order : room.get();
  HB_LAUNCH(number_rows, blocks_for(n), kThreads, 0, current_stream(), from, n);
  for (int64_t width = 1; width < n; width *= 2) {
    HB_LAUNCH(merge_runs<W>, blocks_for(n, kWarp), kWarp, 0, current_stream(), to, static_cast<const int64_t*>(from),
              RowBefore<W>{rows, m, rule}, n, width);
    std::swap(from, to);
  }
}

void row_order(const Tensor& places, const Tensor& rows) {
  const int64_t n = rows.size(0), m = rows.size(1);
  if (n == 0) return;
  with_ordered("unique_dim", rows.scalar_type(), [&](auto type) {
    using T = decltype(type);
    using W = std::conditional_t<sizeof(T) == 1, uint8_t, SortKey<T>>;
    order_rows(static_cast<int64_t*>(places.impl().raw_data()), static_cast<const W*>(rows.impl().raw_data()), n, m,
               key_rule<T>());
  });
}
HB_REGISTER_CUDA(row_order_kernel, row_order);

}  // namespace
}  // namespace hb::cuda
