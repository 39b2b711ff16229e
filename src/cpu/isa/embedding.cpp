#include <vector>

#include "backend/attention.h"
#include "cpu/isa/copy_bytes.h"
#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

void embedding(ScalarType dtype, void* out, const void* weight, const int64_t* index, int64_t n, int64_t rows,
               int64_t width) {
  const int64_t bytes = width * static_cast<int64_t>(element_size(dtype));
  auto* to_bytes = static_cast<char*>(out);
  const auto* table = static_cast<const char*>(weight);
  parallel_for(0, n, std::max<int64_t>(1, kGrain / std::max<int64_t>(width, 1)), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      HB_CHECK_INDEX(index[i] >= 0 && index[i] < rows,
                     "[embedding] index out of range in self: expected indices in [0, ", rows, "), got ", index[i]);
      copy_bytes(to_bytes + i * bytes, table + index[i] * bytes, bytes);
    }
  });
}
HB_REGISTER_ISA(embedding_kernel, embedding);

template <class T>
void backward(T* grad_weight, const T* grad, const int64_t* index, int64_t n, int64_t rows, int64_t width,
              int64_t padding, bool by_frequency) {
  using C = compute_t<T>;
  std::vector<int64_t> counts;
  if (by_frequency) {
    counts.resize(rows);
    for (int64_t i = 0; i < n; ++i) ++counts[index[i]];
  }
  // Each thread owns a range of rows, so that the order of the sums does not depend on the number of threads.
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(width, 1)), [&](int64_t from, int64_t to) {
    RunBuffer<T> sums((to - from) * width), wide(width);
    C* table = results(grad_weight + from * width, sums.data());
    std::fill(table, table + (to - from) * width, C(0));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = index[i];
      if (row < from || row >= to || row == padding) continue;
      const C* __restrict g = computable(grad + i * width, wide.data(), width);
      C* __restrict sum = table + (row - from) * width;
      const C scale = by_frequency ? C(1) / static_cast<C>(counts[row]) : C(1);
      for (int64_t j = 0; j < width; ++j) sum[j] += g[j] * scale;
    }
    finish(table, grad_weight + from * width, (to - from) * width);
  });
}

void embedding_backward(ScalarType dtype, void* grad_weight, const void* grad, const int64_t* index, int64_t n,
                        int64_t rows, int64_t width, int64_t padding, bool by_frequency) {
  HB_FLOATING_SWITCH("embedding_backward", dtype, [&](auto type) {
    using T = decltype(type);
    backward(static_cast<T*>(grad_weight), static_cast<const T*>(grad), index, n, rows, width, padding, by_frequency);
  });
}
HB_REGISTER_ISA(embedding_backward_kernel, embedding_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
