#pragma once
// A stack of matrices of any layout as kernels take it.

#include <utility>

#include <halfbridge/tensor.h>

#include "cuda/launch.h"

namespace hb::cuda {

template <class T>
T* data(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.impl().visible_data()) : nullptr;
}

template <class T>
struct View {
  T* first = nullptr;
  int64_t count = 0, rows = 0, columns = 0, step = 0, row = 0, column = 0;
  View() = default;
  explicit View(const Tensor& t)
      : first(data<T>(t)),
        count(t.size(0)),
        rows(t.size(1)),
        columns(t.size(2)),
        step(t.stride(0)),
        row(t.stride(1)),
        column(t.stride(2)) {}
  __host__ __device__ int64_t numel() const { return count * rows * columns; }
  __device__ T& operator()(int64_t i, int64_t r, int64_t c) const { return first[i * step + r * row + c * column]; }
  View turned() const {
    View v = *this;
    std::swap(v.rows, v.columns), std::swap(v.row, v.column);
    return v;
  }
};

}  // namespace hb::cuda
