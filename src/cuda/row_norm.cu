// layer_norm and rms_norm: every row by itself.
#include "backend/norm.h"

#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

// A: the parameters' type.
template <class T, class A>
__global__ void normalize(RowNorm p, T* y, const T* x, compute_t<T>* mean, compute_t<T>* rstd) {
  using C = compute_t<T>;
  const int64_t row = team_row(), n = p.n;
  if (row >= p.rows) return;
  const T* in = x + row * n;
  C m = 0, squares = 0;
  if (!p.rms) {
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) m += widen<C>(in[i]);
    m = team_sum(m) / static_cast<C>(n);
  }
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const C d = widen<C>(in[i]) - m;
    squares += d * d;
  }
  const C scale = C(1) / std::sqrt(team_sum(squares) / static_cast<C>(n) + static_cast<C>(p.eps));
  const A *weight = static_cast<const A*>(p.weight), *bias = static_cast<const A*>(p.bias);
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const C w = weight ? widen<C>(weight[i]) : C(1), b = bias ? widen<C>(bias[i]) : C(0);
    y[row * n + i] = T((widen<C>(in[i]) - m) * scale * w + b);
  }
  if (threadIdx.x == 0) mean[row] = m, rstd[row] = scale;
}

template <class T, class A>
__global__ void input_gradient(RowNorm p, T* grad_x, const T* g, const T* x, const compute_t<T>* mean,
                               const compute_t<T>* rstd) {
  using C = compute_t<T>;
  const int64_t row = team_row(), n = p.n;
  if (row >= p.rows) return;
  const C m = mean[row], scale = rstd[row];
  const A* weight = static_cast<const A*>(p.weight);
  C a = 0, b = 0;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const C gw = widen<C>(g[row * n + i]) * (weight ? widen<C>(weight[i]) : C(1));
    a += gw, b += gw * (widen<C>(x[row * n + i]) - m);
  }
  a = p.rms ? C(0) : team_sum(a) / static_cast<C>(n);
  b = team_sum(b) * scale * scale / static_cast<C>(n);
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const C gw = widen<C>(g[row * n + i]) * (weight ? widen<C>(weight[i]) : C(1));
    grad_x[row * n + i] = T((gw - a - (widen<C>(x[row * n + i]) - m) * b) * scale);
  }
}

constexpr int kRows = 8;  // of threads in a block, which sums 32 columns

// Each part sums some of the rows: weights' and biases' gradients, one behind the other.
template <class T>
__global__ void parameter_parts(RowNorm p, compute_t<T>* partial, const T* g, const T* x, const compute_t<T>* mean,
                                const compute_t<T>* rstd) {
  using C = compute_t<T>;
  const int64_t c = int64_t{blockIdx.x} * kWarp + threadIdx.x, n = p.n;
  C weight = 0, bias = 0;
  if (c < n) {
    for (int64_t r = int64_t{blockIdx.y} * kRows + threadIdx.y; r < p.rows; r += int64_t{gridDim.y} * kRows) {
      const C grad = widen<C>(g[r * n + c]);
      weight += grad * (widen<C>(x[r * n + c]) - mean[r]) * rstd[r];
      bias += grad;
    }
  }
  HB_SHARED(C, weights, (kRows * kWarp));
  HB_SHARED(C, biases, (kRows * kWarp));
  weights[threadIdx.y * kWarp + threadIdx.x] = weight;
  biases[threadIdx.y * kWarp + threadIdx.x] = bias;
  __syncthreads();
  if (threadIdx.y != 0 || c >= n) return;
  for (int y = 1; y < kRows; ++y) {
    weight += weights[y * kWarp + threadIdx.x];
    bias += biases[y * kWarp + threadIdx.x];
  }
  partial[2 * n * blockIdx.y + c] = weight;
  partial[2 * n * blockIdx.y + n + c] = bias;
}
template <class C, class A>
__global__ void sum_parameters(A* grad_weight, A* grad_bias, const C* partial, int64_t n, int parts) {
  HB_GRID_LOOP(i, 2 * n) {
    A* const to = i < n ? grad_weight : grad_bias;
    if (!to) continue;
    C sum = 0;
    for (int p = 0; p < parts; ++p) sum += partial[2 * n * p + i];
    to[i % n] = A(static_cast<compute_t<A>>(sum));
  }
}

template <class T, class A>
void backward(const RowNorm& p, T* grad_x, A* grad_weight, A* grad_bias, const T* g, const T* x,
              const compute_t<T>* mean, const compute_t<T>* rstd) {
  using C = compute_t<T>;
  if (grad_x) {
    const Teams teams(p.rows, p.n);
    HB_LAUNCH((input_gradient<T, A>), teams.grid, teams.block, 0, current_stream(), p, grad_x, g, x, mean, rstd);
  }
  if (!grad_weight && !grad_bias) return;
  const unsigned wide = blocks_for(p.n, kWarp);
  const int64_t deep = (p.rows + 4 * kRows - 1) / (4 * kRows), enough = (512 + wide - 1) / wide;
  const int parts = static_cast<int>(deep < enough ? deep : enough);
  const Scratch<C> memory(2 * p.n * parts);
  HB_LAUNCH(parameter_parts<T>, dim3(wide, parts), dim3(kWarp, kRows), 0, current_stream(), p, memory.get(), g, x, mean,
            rstd);
  HB_LAUNCH((sum_parameters<C, A>), blocks_for(2 * p.n), kThreads, 0, current_stream(), grad_weight, grad_bias,
            memory.get(), p.n, parts);
}

// Calls fn(T(), A()) for the dtypes of values and parameters.
template <class F>
void with_types(const char* name, const RowNorm& p, const F& fn) {
  HB_FLOATING_SWITCH(name, p.dtype, [&](auto type) {
    using T = decltype(type);
    if (p.affine_dtype == p.dtype) return fn(T(), T());
    HB_CHECK(p.affine_dtype == kFloat && p.dtype != kDouble, "[", name, "] expected parameters of ", p.dtype,
             " or Float, got ", p.affine_dtype);
    if constexpr (!std::is_same_v<T, double>) fn(T(), float());
  });
}

void row_norm(const RowNorm& p, void* y, const void* x, void* mean, void* rstd) {
  if (p.rows * p.n == 0) return;
  with_types("layer_norm", p, [&](auto t, auto a) {
    using T = decltype(t);
    using C = compute_t<T>;
    const Teams teams(p.rows, p.n);
    HB_LAUNCH((normalize<T, decltype(a)>), teams.grid, teams.block, 0, current_stream(), p, static_cast<T*>(y),
              static_cast<const T*>(x), static_cast<C*>(mean), static_cast<C*>(rstd));
  });
}
void row_norm_backward(const RowNorm& p, void* grad_x, void* grad_weight, void* grad_bias, const void* g, const void* x,
                       const void* mean, const void* rstd) {
  if (p.rows * p.n == 0) {
    for (void* grad : {grad_weight, grad_bias})
      if (grad) check(cudaMemsetAsync(grad, 0, p.n * element_size(p.affine_dtype), current_stream()), "layer_norm");
    return;
  }
  with_types("layer_norm_backward", p, [&](auto t, auto a) {
    using T = decltype(t);
    using A = decltype(a);
    using C = compute_t<T>;
    backward<T, A>(p, static_cast<T*>(grad_x), static_cast<A*>(grad_weight), static_cast<A*>(grad_bias),
                   static_cast<const T*>(g), static_cast<const T*>(x), static_cast<const C*>(mean),
                   static_cast<const C*>(rstd));
  });
}
HB_REGISTER_CUDA(row_norm_kernel, row_norm);
HB_REGISTER_CUDA(row_norm_backward_kernel, row_norm_backward);

}  // namespace
}  // namespace hb::cuda
