#include "backend/softmax.h"

#include "cuda/kernel_file.h"
#include "cuda/row_pieces.h"

namespace hb::cuda {
namespace {

template <class T, bool kLog>
__global__ void softmax_rows(T* out, const T* in, int64_t rows, int64_t length) {
  using C = compute_t<T>;
  const int64_t row = team_row(), n = row < rows ? length : 0;
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
__global__ void softmax_rows_backward(T* grad_in, const T* grad, const T* out, int64_t rows, int64_t length) {
  using C = compute_t<T>;
  const int64_t row = team_row(), n = row < rows ? length : 0;
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

// The same of rows in registers.
template <class T, bool kLog, int kVectors>
__global__ void __launch_bounds__(kThreads) softmax_pieces(T* out, const T* in, int64_t rows, int64_t length) {
  using C = compute_t<T>;
  HB_SHARED(C, largest, kWarp);
  HB_SHARED(C, sums, kWarp);
  const int64_t row = team_row(), n = row < rows ? length : 0;
  RowPieces<T, kVectors> x;
  x.load(in + row * n, n);
  C top = -C(INFINITY), sum = 0;
  x.each(n, [&](int k, int) {
#pragma unroll
    for (int e = 0; e < kRowEach<T>; ++e) top = larger_or_nan(x.at(k, e), top);
  });
  top = teams_max(top, largest);
  x.each(n, [&](int k, int) {
#pragma unroll
    for (int e = 0; e < kRowEach<T>; ++e) sum += std::exp(x.at(k, e) - top);
  });
  sum = teams_sum(sum, sums);
  const C shift = kLog ? std::log(sum) : C(0), scale = C(1) / sum;
  x.each(n, [&](int k, int i) {
    RowVector<T> y;
#pragma unroll
    for (int e = 0; e < kRowEach<T>; ++e) {
      const C d = x.at(k, e) - top;
      y.x[e] = T(kLog ? d - shift : std::exp(d) * scale);
    }
    store_vector(out + row * n + i, y);
  });
}

template <class T, bool kLog, int kVectors>
__global__ void __launch_bounds__(kThreads)
    softmax_pieces_backward(T* grad_in, const T* grad, const T* out, int64_t rows, int64_t length) {
  using C = compute_t<T>;
  HB_SHARED(C, sums, kWarp);
  const int64_t row = team_row(), n = row < rows ? length : 0;
  RowPieces<T, kVectors> g, y;
  g.load(grad + row * n, n), y.load(out + row * n, n);
  C sum = 0;
  g.each(n, [&](int k, int) {
#pragma unroll
    for (int e = 0; e < kRowEach<T>; ++e) sum += kLog ? g.at(k, e) : g.at(k, e) * y.at(k, e);
  });
  sum = teams_sum(sum, sums);
  g.each(n, [&](int k, int i) {
    RowVector<T> x;
#pragma unroll
    for (int e = 0; e < kRowEach<T>; ++e)
      x.x[e] = T(kLog ? g.at(k, e) - std::exp(y.at(k, e)) * sum : y.at(k, e) * (g.at(k, e) - sum));
    store_vector(grad_in + row * n + i, x);
  });
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

/// How rows lie in registers: threads of a team, or 0, with so many vectors each. More than one of doubles would take too
/// many registers for their exponentials.
struct InRegisters {
  int width = 0;
  bool one_vector = false;
};
template <class T, class... P>
InRegisters in_registers(const SoftmaxShape& s, const P*... at) {
  if (s.inner != 1 || !begin_vectors(at...)) return {};
  if (const int width = row_team<T>(s.n, 1); width > 0 && (width <= kWarp || sizeof(T) > sizeof(float)))
    return {width, true};
  return {sizeof(T) <= sizeof(float) ? row_team<T>(s.n) : 0, false};
}

template <class T, bool kLog>
void forward(const SoftmaxShape& s, T* out, const T* in) {
  if (const InRegisters rows = in_registers<T>(s, out, in); rows.width > 0) {
    const RowTeams teams(s.outer, rows.width);
    if (rows.one_vector)
      HB_LAUNCH((softmax_pieces<T, kLog, 1>), teams.grid, teams.block, 0, current_stream(), out, in, s.outer, s.n);
    else if constexpr (sizeof(T) <= sizeof(float))
      HB_LAUNCH((softmax_pieces<T, kLog, kRowVectors>), teams.grid, teams.block, 0, current_stream(), out, in, s.outer,
                s.n);
  } else if (s.inner == 1) {
    const Teams teams = Teams::narrow(s.outer, s.n);
    HB_LAUNCH((softmax_rows<T, kLog>), teams.grid, teams.block, 0, current_stream(), out, in, s.outer, s.n);
  } else {
    HB_LAUNCH((softmax_columns<T, kLog>), blocks_for(s.outer * s.inner), kThreads, 0, current_stream(), out, in,
              s.outer, s.n, s.inner);
  }
}
template <class T, bool kLog>
void backward(const SoftmaxShape& s, T* grad_in, const T* grad, const T* out) {
  if (const InRegisters rows = in_registers<T>(s, grad_in, grad, out); rows.width > 0) {
    const RowTeams teams(s.outer, rows.width);
    if (rows.one_vector)
      HB_LAUNCH((softmax_pieces_backward<T, kLog, 1>), teams.grid, teams.block, 0, current_stream(), grad_in, grad, out,
                s.outer, s.n);
    else if constexpr (sizeof(T) <= sizeof(float))
      HB_LAUNCH((softmax_pieces_backward<T, kLog, kRowVectors>), teams.grid, teams.block, 0, current_stream(), grad_in,
                grad, out, s.outer, s.n);
  } else if (s.inner == 1) {
    const Teams teams = Teams::narrow(s.outer, s.n);
    HB_LAUNCH((softmax_rows_backward<T, kLog>), teams.grid, teams.block, 0, current_stream(), grad_in, grad, out,
              s.outer, s.n);
  } else {
    HB_LAUNCH((softmax_columns_backward<T, kLog>), blocks_for(s.outer * s.inner), kThreads, 0, current_stream(),
              grad_in, grad, out, s.outer, s.n, s.inner);
  }
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
