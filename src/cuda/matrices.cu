// What is done with matrices before and after cuSOLVER's calls.
#include "cuda/matrices.h"

#include <limits>

#include "backend/decompositions.h"
#include "cuda/kernel_file.h"
#include "cuda/matrix_view.h"
#include "cuda/pivots.h"
#include "formulas/complex_math.h"

namespace hb::cuda {
namespace {

__global__ void narrow(int32_t* to, const int64_t* from, int64_t n) {
  HB_GRID_LOOP(i, n) to[i] = static_cast<int32_t>(from[i]);
}
__global__ void put_wide(int64_t* to, const int32_t* from, int64_t n, int64_t rows, PivotReporters report) {
  HB_GRID_LOOP(i, n) to[i] = report.checked(from[i], rows);
}
template <class T>
__global__ void clear_triangle(View<T> m, bool upper) {
  HB_GRID_LOOP(k, m.numel()) {
    const int64_t r = k % m.rows, c = k / m.rows % m.columns;
    if (upper ? r > c : r < c) m(k / (m.rows * m.columns), r, c) = T(0);
  }
}
template <class T>
__global__ void take_upper(View<T> to, View<T> from) {
  HB_GRID_LOOP(k, to.numel()) {
    const int64_t i = k / (to.rows * to.columns), r = k % to.rows, c = k / to.rows % to.columns;
    to(i, r, c) = r <= c ? from(i, r, c) : T(0);
  }
}
template <class T>
__global__ void look_at_diagonal(View<T> m, int32_t* info) {
  HB_GRID_LOOP(i, m.count) {
    int32_t found = 0;
    for (int64_t k = 0; k < m.rows && k < m.columns && !found; ++k)
      if (m(i, k, k) == T(0)) found = static_cast<int32_t>(k + 1);
    info[i] = found;
  }
}
/// Of a pair the first value has the positive imaginary part.
template <class R>
__global__ void pair(View<Complex<R>> out, View<R> packed, const Complex<R>* values) {
  HB_GRID_LOOP(k, out.numel()) {
    const int64_t i = k / (out.rows * out.columns), r = k % out.rows, c = k / out.rows % out.columns;
    const R imaginary = values[i * out.columns + c].imag();
    if (imaginary == 0)
      out(i, r, c) = {packed(i, r, c), R(0)};
    else if (imaginary > 0)
      out(i, r, c) = {packed(i, r, c), packed(i, r, c + 1)};
    else
      out(i, r, c) = {packed(i, r, c - 1), -packed(i, r, c)};
  }
}

template <class T>
__device__ bool is_nan(const T& x) {
  return x != x;
}
template <class T>
__device__ bool is_finite(const T& x) {
  return x - x == T(0);
}
/// A block for each matrix. bad: 1 for infinities, 2 for NaN.
template <class T>
__global__ void __launch_bounds__(kThreads) set_aside(View<T> m, bool upper, int32_t* bad) {
  const int64_t i = blockIdx.x;
  int worst = 0;
  for (int64_t k = threadIdx.x; k < m.rows * m.columns; k += kThreads) {
    const int64_t r = k % m.rows, c = k / m.rows;
    if (upper ? r > c : r < c) continue;
    const T x = m(i, r, c);
    worst = is_nan(x) ? 2 : !is_finite(x) && worst == 0 ? 1 : worst;
  }
  worst = team_reduce(worst, 0, [](int a, int b) { return a > b ? a : b; });
  if (threadIdx.x == 0) bad[i] = worst;
  if (worst == 0) return;
  for (int64_t k = threadIdx.x; k < m.rows * m.columns; k += kThreads) m(i, k % m.rows, k / m.rows) = T(0);
}
template <class T, class R>
__global__ void nan_where(T* vectors, R* values, int32_t* info, const int32_t* bad, int64_t count, int64_t n) {
  HB_GRID_LOOP(k, count * n * n) {
    const int64_t i = k / (n * n), at = k % (n * n);
    if (bad[i] == 0) continue;
    if (vectors) vectors[k] = T(std::numeric_limits<R>::quiet_NaN());
    if (at < n) values[i * n + at] = std::numeric_limits<R>::quiet_NaN();
    if (at == 0) info[i] = bad[i] == 2 && n > 2 ? static_cast<int32_t>(n - 1) : 0;
  }
}
/// A thread for each matrix: exchanges follow each other.
__global__ void follow_pivots(int64_t* order, const int32_t* pivots, int64_t count, int64_t m, int64_t k, int64_t step,
                              int64_t each, Reporter report) {
  HB_GRID_LOOP(b, count) {
    int64_t* const to = order + b * m;
    for (int64_t i = 0; i < m; ++i) to[i] = i;
    for (int64_t i = 0; i < k; ++i) {
      const int64_t other = pivots[b * step + i * each];
      if (other < 1 || other > m) {
        report.out_of_range(other, m);
        continue;
      }
      const int64_t kept = to[i];
      to[i] = to[other - 1], to[other - 1] = kept;
    }
  }
}
void pivot_order(const Tensor& pivots, const Tensor& order) {
  HB_LAUNCH(follow_pivots, blocks_for(order.size(0)), kThreads, 0, current_stream(), data<int64_t>(order),
            data<const int32_t>(pivots), order.size(0), order.size(1), pivots.size(1), pivots.stride(0),
            pivots.stride(1), reporter("lu_unpack", "expected pivots between 1 and {limit}, got {value}"));
}
HB_REGISTER_CUDA(pivot_order_kernel, pivot_order);

}  // namespace

void narrow_pivots(int32_t* to, const int64_t* from, int64_t n) {
  HB_LAUNCH(narrow, blocks_for(n), kThreads, 0, current_stream(), to, from, n);
}
void widen_pivots(int64_t* to, const int32_t* from, int64_t n, int64_t rows) {
  HB_LAUNCH(put_wide, blocks_for(n), kThreads, 0, current_stream(), to, from, n, rows, pivot_reporters());
}
void clear_other_triangle(const Tensor& factor, bool upper) {
  with_matrix_type(factor, [&](auto type) {
    HB_LAUNCH((clear_triangle<decltype(type)>), blocks_for(factor.numel()), kThreads, 0, current_stream(),
              View<decltype(type)>(factor), upper);
  });
}
void copy_upper(const Tensor& to, const Tensor& from) {
  with_matrix_type(to, [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(take_upper<T>, blocks_for(to.numel()), kThreads, 0, current_stream(), View<T>(to), View<T>(from));
  });
}
void find_zero_on_diagonal(const Tensor& matrices, int32_t* info) {
  with_matrix_type(matrices, [&](auto type) {
    HB_LAUNCH((look_at_diagonal<decltype(type)>), blocks_for(matrices.size(0)), kThreads, 0, current_stream(),
              View<decltype(type)>(matrices), info);
  });
}
void pair_columns(const Tensor& vectors, const Tensor& packed, const Tensor& values) {
  const auto run = [&](auto real) {
    using R = decltype(real);
    HB_LAUNCH(pair<R>, blocks_for(vectors.numel()), kThreads, 0, current_stream(), View<Complex<R>>(vectors),
              View<R>(packed), data<const Complex<R>>(values));
  };
  packed.scalar_type() == kDouble ? run(double()) : run(float());
}
void set_aside_not_finite(const Tensor& matrices, bool upper, int32_t* bad) {
  with_matrix_type(matrices, [&](auto type) {
    HB_LAUNCH((set_aside<decltype(type)>), static_cast<unsigned>(matrices.size(0)), kThreads, 0, current_stream(),
              View<decltype(type)>(matrices), upper, bad);
  });
}
void put_nan(const Tensor& values, const Tensor& vectors, const Tensor& info, const int32_t* bad) {
  const int64_t count = values.size(0), n = values.size(1);
  const auto run = [&](auto type) {
    using T = decltype(type);
    using R = math::magnitude_t<T>;
    HB_LAUNCH((nan_where<T, R>), blocks_for(count * n * n), kThreads, 0, current_stream(), data<T>(vectors),
              data<R>(values), data<int32_t>(info), bad, count, n);
  };
  vectors.defined() ? with_matrix_type(vectors, run) : with_matrix_type(values, run);
}

}  // namespace hb::cuda
