// layer_norm and rms_norm: every row by itself.
#include <vector>

#include "backend/norm.h"
#include "cpu/isa/row_lines.h"
#include "cpu/isa/row_sums.h"
#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

// Parameters as floats once per call, whatever they are stored as; `missing` where they are absent.
template <class C>
std::vector<C> widened(const void* data, ScalarType dtype, int64_t n, C missing) {
  std::vector<C> out(n, missing);
  if (!data) return out;
  HB_FLOATING_SWITCH("layer_norm", dtype, [&](auto type) {
    using T = decltype(type);
    RunBuffer<T> buffer(n);
    const auto* in = computable(static_cast<const T*>(data), buffer.data(), n);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<C>(in[i]);
  });
  return out;
}

int64_t grain_for(int64_t n) { return std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(n, 1)); }

template <class T>
void forward(const RowNorm& p, T* y, const T* x, compute_t<T>* mean, compute_t<T>* rstd) {
  using C = compute_t<T>;
  const auto w = widened<C>(p.weight, p.affine_dtype, p.n, 1), b = widened<C>(p.bias, p.affine_dtype, p.n, 0);
  const int64_t n = p.n;
  parallel_for(0, p.rows, grain_for(n), [&](int64_t from, int64_t to) {
    const C* __restrict weight = w.data(), * __restrict bias = b.data();
    RunBuffer<T> buffer(n);
    for (int64_t r = from; r < to; ++r) {
      const C* in = computable(x + r * n, buffer.data(), n);
      C* out = results(y + r * n, buffer.data());
      const C m = p.rms ? C(0) : sum_of_run(in, n) / static_cast<C>(n);
      const auto square = [](auto d) { return d * d; };
      const C v = sum_in_lanes<C>(
          n, [=](int64_t i) { return square(lanes_at(in + i) - m); }, [=](int64_t i) { return square(in[i] - m); });
      const C scale = C(1) / std::sqrt(v / static_cast<C>(n) + static_cast<C>(p.eps));
      HB_INDEPENDENT
      for (int64_t i = 0; i < n; ++i) out[i] = (in[i] - m) * scale * weight[i] + bias[i];
      finish(out, y + r * n, n);
      mean[r] = m, rstd[r] = scale;
    }
  });
}

template <class C>
struct RowSums {
  C *weight, *bias;  // null where they are not wanted
};

template <class C>
constexpr int64_t kLanesOfRow = kShort / kParts<C>;
template <class C>
using Lanes = Vector<C, kLanesOfRow<C>>;

template <class C>
using LaneOrder = Vector<std::conditional_t<sizeof(C) == 4, int32_t, int64_t>, kLanesOfRow<C>>;

/// Adds to each lane the one that is `step` away, then step / 2, and so on: then all of its group have their sum.
template <int step, class C, int... lane>
inline void add_apart(Lanes<C>& v, std::integer_sequence<int, lane...> all) {
  v += __builtin_shuffle(v, LaneOrder<C>{(lane ^ step)...});
  if constexpr (step > 1) add_apart<step / 2, C>(v, all);
}
/// The sum of the lanes of a and that of b: each addition serves both.
template <class C, int... lane>
inline std::pair<C, C> two_sums(const Lanes<C>& a, const Lanes<C>& b, std::integer_sequence<int, lane...> all) {
  constexpr int n = sizeof...(lane), half = n / 2;
  // The first half's lanes are a's, the second's b's.
  Lanes<C> v = __builtin_shuffle(a, b, LaneOrder<C>{(lane < half ? lane : lane + half)...}) +
               __builtin_shuffle(a, b, LaneOrder<C>{(lane < half ? lane + half : lane + n)...});
  add_apart<half / 2, C>(v, all);
  return {v[0], v[half]};
}

/// The sums of grad * weight and of grad * weight * (in - m).
template <class C>
inline __attribute__((always_inline)) std::pair<C, C> sums_of_row(const C* grad, const C* in, const C* weight, C m,
                                                                  int64_t n) {
  constexpr int64_t width = kLanesOfRow<C>;
  Lanes<C> a[2]{}, b[2]{};
  const auto take = [&](int k, int64_t i) {
    const Lanes<C> g = lanes_at(grad + i) * lanes_at(weight + i);
    a[k] += g, b[k] += g * (lanes_at(in + i) - m);
  };
  int64_t i = 0;
  for (; i + 2 * width <= n; i += 2 * width) take(0, i), take(1, i + width);
  for (; i + width <= n; i += width) take(0, i);
  auto [first, second] = two_sums<C>(a[0] + a[1], b[0] + b[1], std::make_integer_sequence<int, width>());
  for (; i < n; ++i) first += grad[i] * weight[i], second += grad[i] * weight[i] * (in[i] - m);
  return {first, second};
}

// One row; `out` may be where its gradient stands.
template <class C>
void backward_row(const RowNorm& p, C* out, const C* grad, const C* in, C m, C scale, const C* __restrict weight,
                  RowSums<C> sums) {
  const int64_t n = p.n;
  if (sums.weight) {
    C* __restrict sum = sums.weight;
    for (int64_t i = 0; i < n; ++i) sum[i] += grad[i] * (in[i] - m) * scale;
  }
  if (sums.bias) {
    C* __restrict sum = sums.bias;
    for (int64_t i = 0; i < n; ++i) sum[i] += grad[i];
  }
  if (!out) return;
  const auto [plain, turned] = sums_of_row(grad, in, weight, m, n);
  const C a = p.rms ? C(0) : plain / static_cast<C>(n), b = turned * scale * scale / static_cast<C>(n);
  const auto of = [=](auto g, auto w, auto x) __attribute__((always_inline)) {
    return (g * w - a - (x - m) * b) * scale;
  };
  write_row(out, n, of, grad, weight, in);
}

template <class T>
void backward_rows(const RowNorm& p, T* grad_x, const T* g, const T* x, const compute_t<T>* mean,
                   const compute_t<T>* rstd, const compute_t<T>* weight, int64_t from, int64_t to,
                   RowSums<compute_t<T>> sums) {
  using C = compute_t<T>;
  const int64_t n = p.n, at_once = std::min(to - from, rows_together(n));
  RunBuffer<T> wide_g(at_once * n), wide_x(at_once * n);
  for (int64_t r = from; r < to; r += at_once) {
    const int64_t rows = std::min(at_once, to - r);
    const C* grad = computable(g + r * n, wide_g.data(), rows * n);
    const C* in = computable(x + r * n, wide_x.data(), rows * n);
    C* out = grad_x ? results(grad_x + r * n, wide_g.data()) : nullptr;
    for (int64_t k = 0; k < rows; ++k)
      backward_row(p, out ? out + k * n : nullptr, grad + k * n, in + k * n, mean[r + k], rstd[r + k], weight, sums);
    if (out) finish(out, grad_x + r * n, rows * n);
  }
}

template <class C>
void store_sum(void* to, ScalarType dtype, const std::vector<C>& partial, int64_t n, int threads, int64_t offset) {
  if (!to) return;
  HB_FLOATING_SWITCH("layer_norm_backward", dtype, [&](auto type) {
    using T = decltype(type);
    for (int64_t i = 0; i < n; ++i) {
      C sum = 0;
      for (int t = 0; t < threads; ++t) sum += partial[2 * n * t + offset + i];
      static_cast<T*>(to)[i] = T(static_cast<compute_t<T>>(sum));
    }
  });
}

template <class T>
void backward(const RowNorm& p, T* grad_x, void* grad_weight, void* grad_bias, const T* g, const T* x,
              const compute_t<T>* mean, const compute_t<T>* rstd) {
  using C = compute_t<T>;
  const auto w = widened<C>(p.weight, p.affine_dtype, p.n, 1);
  const int threads = threads_for(p.rows, grain_for(p.n));
  std::vector<C> partial(2 * p.n * threads, C(0));
  parallel_ranges(0, p.rows, threads, [&](int64_t from, int64_t to, int thread) {
    C* mine = partial.data() + 2 * p.n * thread;
    backward_rows(p, grad_x, g, x, mean, rstd, w.data(), from, to,
                  RowSums<C>{grad_weight ? mine : nullptr, grad_bias ? mine + p.n : nullptr});
  });
  store_sum(grad_weight, p.affine_dtype, partial, p.n, threads, 0);
  store_sum(grad_bias, p.affine_dtype, partial, p.n, threads, p.n);
}

void row_norm(const RowNorm& p, void* y, const void* x, void* mean, void* rstd) {
  HB_FLOATING_SWITCH("layer_norm", p.dtype, [&](auto type) {
    using T = decltype(type);
    using C = compute_t<T>;
    forward<T>(p, static_cast<T*>(y), static_cast<const T*>(x), static_cast<C*>(mean), static_cast<C*>(rstd));
  });
}
void row_norm_backward(const RowNorm& p, void* grad_x, void* grad_weight, void* grad_bias, const void* g, const void* x,
                       const void* mean, const void* rstd) {
  HB_FLOATING_SWITCH("layer_norm_backward", p.dtype, [&](auto type) {
    using T = decltype(type);
    using C = compute_t<T>;
    backward<T>(p, static_cast<T*>(grad_x), grad_weight, grad_bias, static_cast<const T*>(g), static_cast<const T*>(x),
                static_cast<const C*>(mean), static_cast<const C*>(rstd));
  });
}
HB_REGISTER_ISA(row_norm_kernel, row_norm);
HB_REGISTER_ISA(row_norm_backward_kernel, row_norm_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
