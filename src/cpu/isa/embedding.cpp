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

/// Adds the gradients of the embeddings among rows [from, to) to the rows that table(row) gives.
template <class T, class Table>
void add_rows(const Table& table, const T* grad, const int64_t* index, int64_t n, int64_t width, int64_t from,
              int64_t to, int64_t padding, const std::vector<int64_t>& counts) {
  using C = compute_t<T>;
  RunBuffer<T> wide(width);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = index[i];
    if (row < from || row >= to || row == padding) continue;
    const C* __restrict g = computable(grad + i * width, wide.data(), width);
    C* __restrict sum = table(row);
    const C scale = counts.empty() ? C(1) : C(1) / static_cast<C>(counts[row]);
    for (int64_t j = 0; j < width; ++j) sum[j] += g[j] * scale;
  }
}

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
    std::memset(static_cast<void*>(grad_weight + from * width), 0, (to - from) * width * sizeof(T));
    if constexpr (kStoredAsComputed<T>) {
      const auto table = [&](int64_t row) { return grad_weight + row * width; };
      return add_rows(table, grad, index, n, width, from, to, padding, counts);
    } else {  // of the rows that come, sums in float
      std::vector<int64_t> place(to - from, -1);
      int64_t some = 0;
      for (int64_t i = 0; i < n; ++i) {
        const int64_t row = index[i] - from;
        if (row >= 0 && row < to - from && index[i] != padding && place[row] < 0) place[row] = some++;
      }
      std::vector<C> sums(some * width);
      const auto table = [&](int64_t row) { return sums.data() + place[row - from] * width; };
      add_rows(table, grad, index, n, width, from, to, padding, counts);
      for (int64_t row = from; row < to; ++row)
        if (place[row - from] >= 0) store(table(row), grad_weight + row * width, width);
    }
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
