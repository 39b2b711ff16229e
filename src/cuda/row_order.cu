// The order of rows by their first element that differs.
#include "backend/distinct.h"
#include "cuda/cub.h"
#include "cuda/sort_key.h"

namespace hb::cuda {
namespace {

template <class W>
struct RowBefore {
  const W* rows;
  int64_t m;
  KeyRule rule;
  __device__ bool operator()(int32_t a, int32_t b) const {
    const W *const first = rows + a * m, *const second = rows + b * m;
    for (int64_t c = 0; c < m; ++c) {
      const W x = key_of_bits(first[c], rule), y = key_of_bits(second[c], rule);
      if (x != y) return x < y;
    }
    return false;
  }
};

__global__ void number_rows(int32_t* order, int64_t n) { HB_GRID_LOOP(i, n) order[i] = static_cast<int32_t>(i); }
__global__ void widen_places(int64_t* places, const int32_t* order, int64_t n) {
  HB_GRID_LOOP(i, n) places[i] = order[i];
}

void row_order(const Tensor& places, const Tensor& rows) {
  const int64_t n = rows.size(0), m = rows.size(1);
  if (n == 0) return;
  HB_CHECK(n < INT32_MAX, "[unique_dim] expected fewer than 2^31 rows on CUDA, got ", n);
  const Scratch<int32_t> order(n);
  HB_LAUNCH(number_rows, blocks_for(n), kThreads, 0, current_stream(), order.get(), n);
  const auto sort = [&](auto word, const KeyRule& rule) {
    using W = decltype(word);
    const RowBefore<W> before{static_cast<const W*>(rows.impl().raw_data()), m, rule};
    HB_CUB(cub::DeviceMergeSort::StableSortKeys, order.get(), static_cast<int>(n), before);
  };
  with_ordered("unique_dim", rows.scalar_type(), [&](auto type) {
    using T = decltype(type);
    using W = std::conditional_t<sizeof(T) == 1, uint8_t, SortKey<T>>;
    sort(W(), key_rule<T>());
  });
  HB_LAUNCH(widen_places, blocks_for(n), kThreads, 0, current_stream(), static_cast<int64_t*>(places.impl().raw_data()),
            static_cast<const int32_t*>(order.get()), n);
}
HB_REGISTER_CUDA(row_order_kernel, row_order);

}  // namespace
}  // namespace hb::cuda
