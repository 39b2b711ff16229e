// layer_norm and rms_norm: every row by itself.
#include "backend/norm.h"

#include "cuda/kernel_file.h"
#include "cuda/last_block.h"
#include "cuda/row_pieces.h"

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

/// The same of rows in registers.
template <class T, class A>
__global__ void __launch_bounds__(kThreads)
    normalize_pieces(RowNorm p, T* y, const T* x, compute_t<T>* mean, compute_t<T>* rstd) {
  using C = compute_t<T>;
  HB_SHARED(C, sums, kWarp);
  HB_SHARED(C, sums_of_squares, kWarp);
  const int64_t row = team_row(), n = row < p.rows ? p.n : 0;
  RowPieces<T> in;
  in.load(x + row * n, n);
  C m = 0, squares = 0;
  if (!p.rms) {
    in.each(n, [&](int k, int) {
#pragma unroll
      for (int e = 0; e < kRowEach<T>; ++e) m += in.at(k, e);
    });
    m = teams_sum(m, sums) / static_cast<C>(p.n);
  }
  in.each(n, [&](int k, int) {
#pragma unroll
    for (int e = 0; e < kRowEach<T>; ++e) squares += (in.at(k, e) - m) * (in.at(k, e) - m);
  });
  squares = teams_sum(squares, sums_of_squares);
  const C scale = C(1) / std::sqrt(squares / static_cast<C>(p.n) + static_cast<C>(p.eps));
  in.each(n, [&](int k, int i) {
    const RowParameters<T, A> weight(static_cast<const A*>(p.weight), i, C(1)),
        bias(static_cast<const A*>(p.bias), i, C(0));
    RowVector<T> out;
#pragma unroll
    for (int e = 0; e < kRowEach<T>; ++e) out.x[e] = T((in.at(k, e) - m) * scale * weight.x[e] + bias.x[e]);
    store_vector(y + row * n + i, out);
  });
  if (n > 0 && threadIdx.x == 0) mean[row] = m, rstd[row] = scale;
}

/// Of one launch: blocks that compute rows of the input's gradient, and behind them blocks that sum parameters'
/// gradients over a part of the rows, 32 columns each.
template <class T, class A>
struct Gradients {
  T* x;  // may be absent, as the others
  A *weight, *bias;
  const T *g, *values;
  const compute_t<T>*mean, *rstd;
  compute_t<T>* partial;  // weights' and biases' sums of each part, one behind the other
  int* counters;
  int row_blocks, wide, parts;
};

template <class T, class A>
__device__ void input_gradient(const RowNorm& p, const Gradients<T, A>& grad, int64_t row) {
  using C = compute_t<T>;
  const int64_t n = p.n;
  const T *g = grad.g + row * n, *x = grad.values + row * n;
  const C m = grad.mean[row], scale = grad.rstd[row];
  const A* weight = static_cast<const A*>(p.weight);
  C a = 0, b = 0;
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const C gw = widen<C>(g[i]) * (weight ? widen<C>(weight[i]) : C(1));
    a += gw, b += gw * (widen<C>(x[i]) - m);
  }
  a = p.rms ? C(0) : team_sum(a) / static_cast<C>(n);
  b = team_sum(b) * scale * scale / static_cast<C>(n);
  for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
    const C gw = widen<C>(g[i]) * (weight ? widen<C>(weight[i]) : C(1));
    grad.x[row * n + i] = T((gw - a - (widen<C>(x[i]) - m) * b) * scale);
  }
}

/// The same of a row in registers; all threads of the block call it.
template <class T, class A>
__device__ void input_gradient_of_pieces(const RowNorm& p, const Gradients<T, A>& grad, int64_t row) {
  using C = compute_t<T>;
  HB_SHARED(C, of_a, kWarp);
  HB_SHARED(C, of_b, kWarp);
  const int64_t n = row < p.rows ? p.n : 0;
  RowPieces<T> g, x;
  g.load(grad.g + row * n, n);
  x.load(grad.values + row * n, n);
  const C m = n > 0 ? grad.mean[row] : C(0), scale = n > 0 ? grad.rstd[row] : C(0);
  const A* weight = static_cast<const A*>(p.weight);
  C a = 0, b = 0;
  x.each(n, [&](int k, int i) {
    const RowParameters<T, A> w(weight, i, C(1));
#pragma unroll
    for (int e = 0; e < kRowEach<T>; ++e) {
      const C gw = g.at(k, e) * w.x[e];
      a += gw, b += gw * (x.at(k, e) - m);
    }
  });
  a = p.rms ? C(0) : teams_sum(a, of_a) / static_cast<C>(p.n);
  b = teams_sum(b, of_b) * scale * scale / static_cast<C>(p.n);
  x.each(n, [&](int k, int i) {
    const RowParameters<T, A> w(weight, i, C(1));
    RowVector<T> out;
#pragma unroll
    for (int e = 0; e < kRowEach<T>; ++e) out.x[e] = T((g.at(k, e) * w.x[e] - a - (x.at(k, e) - m) * b) * scale);
    store_vector(grad.x + row * n + i, out);
  });
}

constexpr int kRows = 8;  // of threads in a block
static_assert(kRows * kWarp == kThreads);

template <class T, class A>
__device__ void parameter_gradients(const RowNorm& p, const Gradients<T, A>& grad, int group, int part) {
  using C = compute_t<T>;
  const int self = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x), x = self % kWarp, y = self / kWarp;
  const int64_t n = p.n, c = int64_t{group} * kWarp + x;
  C weight = 0, bias = 0;
  if (c < n) {
    for (int64_t r = int64_t{part} * kRows + y; r < p.rows; r += int64_t{grad.parts} * kRows) {
      const C g = widen<C>(grad.g[r * n + c]);
      weight += g * (widen<C>(grad.values[r * n + c]) - grad.mean[r]) * grad.rstd[r];
      bias += g;
    }
  }
  HB_SHARED(C, weights, kThreads);
  HB_SHARED(C, biases, kThreads);
  weights[self] = weight;
  biases[self] = bias;
  __syncthreads();
  if (y == 0 && c < n) {
    for (int k = 1; k < kRows; ++k) weight += weights[k * kWarp + x], bias += biases[k * kWarp + x];
    grad.partial[2 * n * part + c] = weight;
    grad.partial[2 * n * part + n + c] = bias;
  }
  if (!is_last_block(grad.counters + (grad.parts > 1 ? group : 0), grad.parts)) return;
  A* const to = y == 0 ? grad.weight : y == 1 ? grad.bias : nullptr;
  if (!to || c >= n) return;
  C sum = 0;
  for (int k = 0; k < grad.parts; ++k) sum += written_by_others(&grad.partial[2 * n * k + y * n + c]);
  to[c] = A(static_cast<compute_t<A>>(sum));
}

template <class T, class A, bool pieces>
__global__ void __launch_bounds__(kThreads) gradients(RowNorm p, Gradients<T, A> grad) {
  const int block = static_cast<int>(blockIdx.x) - grad.row_blocks;
  if (block >= 0) return parameter_gradients(p, grad, block % grad.wide, block / grad.wide);
  const int64_t row = team_row();
  if constexpr (pieces)
    input_gradient_of_pieces(p, grad, row);
  else if (row < p.rows)
    input_gradient(p, grad, row);
}

template <class T, class A>
void backward(const RowNorm& p, Gradients<T, A> grad) {
  const int width = begin_vectors(grad.x, grad.g, grad.values, p.weight) ? row_team<T>(p.n) : 0;
  const unsigned across = width ? width : p.n <= 1024 ? kWarp : kThreads;
  const dim3 block(across, kThreads / across);
  grad.row_blocks = grad.x ? static_cast<int>((p.rows + block.y - 1) / block.y) : 0;
  if (grad.weight || grad.bias) {
    const unsigned wide = blocks_for(p.n, kWarp);
    const int64_t deep = (p.rows + 4 * kRows - 1) / (4 * kRows), enough = (512 + wide - 1) / wide;
    grad.wide = static_cast<int>(wide);
    grad.parts = static_cast<int>(deep < enough ? deep : enough);
  }
  const Scratch<compute_t<T>> memory(2 * p.n * grad.parts);
  grad.partial = memory.get(), grad.counters = block_counters(current_stream());
  const int blocks = grad.row_blocks + grad.wide * grad.parts;
  if (blocks == 0) return;
  if (width > 0)
    HB_LAUNCH((gradients<T, A, true>), blocks, block, 0, current_stream(), p, grad);
  else
    HB_LAUNCH((gradients<T, A, false>), blocks, block, 0, current_stream(), p, grad);
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
    using A = decltype(a);
    using C = compute_t<T>;
    T* const out = static_cast<T*>(y);
    const T* const in = static_cast<const T*>(x);
    C *const means = static_cast<C*>(mean), *const scales = static_cast<C*>(rstd);
    if (const int width = begin_vectors(x, y, p.weight, p.bias) ? row_team<T>(p.n) : 0) {
      const RowTeams teams(p.rows, width);
      HB_LAUNCH((normalize_pieces<T, A>), teams.grid, teams.block, 0, current_stream(), p, out, in, means, scales);
    } else {
      const Teams teams(p.rows, p.n);
      HB_LAUNCH((normalize<T, A>), teams.grid, teams.block, 0, current_stream(), p, out, in, means, scales);
    }
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
    backward<T, A>(p, {static_cast<T*>(grad_x), static_cast<A*>(grad_weight), static_cast<A*>(grad_bias),
                       static_cast<const T*>(g), static_cast<const T*>(x), static_cast<const C*>(mean),
                       static_cast<const C*>(rstd), nullptr, nullptr, 0, 0, 0});
  });
}
HB_REGISTER_CUDA(row_norm_kernel, row_norm);
HB_REGISTER_CUDA(row_norm_backward_kernel, row_norm_backward);

}  // namespace
}  // namespace hb::cuda
