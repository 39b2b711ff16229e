#include "backend/softmax.h"

#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

template <class T, bool kLog>
__global__ void softmax_rows(T* out, const T* in, int64_t rows, int64_t n) {
  using C = compute_t<T>;
  const int64_t row = team_row();
  if (row >= rows) return;
  const T* x = in + row * n;
  C top = -C(INFINITY);
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const C v = widen<C>(x[i]);
    top = v != v || v > top ? v : top;
  }
  top = team_max(top);
  C sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += std::exp(widen<C>(x[i]) - top);
  sum = team_sum(sum);
  const C shift = kLog ? std::log(sum) : C(0), scale = C(1) / sum;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const C d = widen<C>(x[i]) - top;
    out[row * n + i] = T(kLog ? d - shift : std::exp(d) * scale);
  }
}

template <class T, bool kLog>
__global__ void softmax_rows_backward(T* grad_in, const T* grad, const T* out, int64_t rows, int64_t n) {
  using C = compute_t<T>;
  const int64_t row = team_row();
  if (row >= rows) return;
  C sum = 0;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const C g = widen<C>(grad[row * n + i]);
    sum += kLog ? g : g * widen<C>(out[row * n + i]);
  }
  sum = team_sum(sum);
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const C g = widen<C>(grad[row * n + i]), y = widen<C>(out[row * n + i]);
    grad_in[row * n + i] = T(kLog ? g - std::exp(y) * sum : y * (g - sum));
  }
}

// A thread for each column of n values, `inner` apart.
template <class T, bool kLog>
__global__ void softmax_columns(T* out, const T* in, int64_t outer, int64_t n, int64_t inner) {
  using C = compute_t<T>;
  HB_GRID_LOOP(column, outer * inner) {
    const int64_t at = column / inner * n * inner + column % inner;
    C top = -C(INFINITY), sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const C v = widen<C>(in[at + i * inner]);
      top = v != v || v > top ? v : top;
    }
    for (int64_t i = 0; i < n; ++i) sum += std::exp(widen<C>(in[at + i * inner]) - top);
    const C shift = kLog ? std::log(sum) : C(0), scale = C(1) / sum;
    for (int64_t i = 0; i < n; ++i) {
      const C d = widen<C>(in[at + i * inner]) - top;
      out[at + i * inner] = T(kLog ? d - shift : std::exp(d) * scale);
    }
  }
}

template <class T, bool kLog>
__global__ void softmax_columns_backward(T* grad_in, const T* grad, const T* out, int64_t outer, int64_t n,
                                         int64_t inner) {
  using C = compute_t<T>;
  HB_GRID_LOOP(column, outer * inner) {
    const int64_t at = column / inner * n * inner + column % inner;
    C sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const C g = widen<C>(grad[at + i * inner]);
      sum += kLog ? g : g * widen<C>(out[at + i * inner]);
    }
    for (int64_t i = 0; i < n; ++i) {
      const C g = widen<C>(grad[at + i * inner]), y = widen<C>(out[at + i * inner]);
      grad_in[at + i * inner] = T(kLog ? g - std::exp(y) * sum : y * (g - sum));
    }
  }
}

template <class T, bool kLog>
void forward(const SoftmaxShape& s, T* out, const T* in) {
  const Teams teams(s.outer, s.n);
  if (s.inner == 1)
    HB_LAUNCH((softmax_rows<T, kLog>), teams.grid, teams.block, 0, current_stream(), out, in, s.outer, s.n);
  else
    HB_LAUNCH((softmax_columns<T, kLog>), blocks_for(s.outer * s.inner), kThreads, 0, current_stream(), out, in,
              s.outer, s.n, s.inner);
}
template <class T, bool kLog>
void backward(const SoftmaxShape& s, T* grad_in, const T* grad, const T* out) {
  const Teams teams(s.outer, s.n);
  if (s.inner == 1)
    HB_LAUNCH((softmax_rows_backward<T, kLog>), teams.grid, teams.block, 0, current_stream(), grad_in, grad, out,
              s.outer, s.n);
  else
    HB_LAUNCH((softmax_columns_backward<T, kLog>), blocks_for(s.outer * s.inner), kThreads, 0, current_stream(),
              grad_in, grad, out, s.outer, s.n, s.inner);
}

void softmax(ScalarType dtype, const SoftmaxShape& s, bool log, void* out, const void* in) {
  if (s.outer * s.n * s.inner == 0) return;
  HB_FLOATING_SWITCH("softmax", dtype, [&](auto type) {
    using T = decltype(type);
    log ? forward<T, true>(s, static_cast<T*>(out), static_cast<const T*>(in))
        : forward<T, false>(s, static_cast<T*>(out), static_cast<const T*>(in));
  });
}
void softmax_backward(ScalarType dtype, const SoftmaxShape& s, bool log, void* grad_in, const void* grad,
                      const void* out) {
  if (s.outer * s.n * s.inner == 0) return;
  HB_FLOATING_SWITCH("softmax_backward", dtype, [&](auto type) {
    using T = decltype(type);
    const auto *g = static_cast<const T*>(grad), *y = static_cast<const T*>(out);
    log ? backward<T, true>(s, static_cast<T*>(grad_in), g, y) : backward<T, false>(s, static_cast<T*>(grad_in), g, y);
  });
}
HB_REGISTER_CUDA(softmax_kernel, softmax);
HB_REGISTER_CUDA(softmax_backward_kernel, softmax_backward);

}  // namespace
}  // namespace hb::cuda
