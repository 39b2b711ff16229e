#include "backend/softmax.h"

#include <memory>

#include "cpu/isa/map_pairs.h"
#include "cpu/isa/row_lines.h"
#include "cpu/isa/row_sums.h"
#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

// `rows` rows of n values as they are computed with; y may be where they stand. Exponentials go to `powers`, which is y
// where they are the result.
template <class C>
void softmax_rows(const C* in, C* y, C* powers, int64_t rows, int64_t n, bool log) {
  for (int64_t r = 0; r < rows; ++r) {
    const C top = max_of_run(in + r * n, n);
    HB_INDEPENDENT
    for (int64_t i = r * n; i < (r + 1) * n; ++i) y[i] = in[i] - top;
  }
  HB_INDEPENDENT
  for (int64_t i = 0; i < rows * n; ++i) powers[i] = quick_exp(y[i]);
  for (int64_t r = 0; r < rows; ++r) {
    const C sum = sum_of_run(powers + r * n, n), by = log ? std::log(sum) : C(1) / sum;
    C* row = y + r * n;
    if (log)
      for (int64_t i = 0; i < n; ++i) row[i] -= by;
    else
      for (int64_t i = 0; i < n; ++i) row[i] *= by;
  }
}

// One row; `out` may be where its gradient stands.
template <class C>
inline void softmax_row_backward(const C* grad, const C* y, C* out, int64_t n) {
  const C sum = dot_of_run(grad, y, n);
  write_row(
      out, n, [sum](auto g, auto v) __attribute__((always_inline)) { return v * (g - sum); }, grad, y);
}
// Rows of at most kFewLines whole lines of the cache, where the work around the loops counts.
constexpr int64_t kFewLines = 4;
template <class C>
constexpr int64_t kLine = 64 / sizeof(C);
template <class C>
void softmax_short_rows_backward(const C* grad, const C* y, C* out, int64_t values, int64_t n) {
  constexpr int64_t parts = kLine<C> / kLanes<C>;
  for (int64_t row = 0; row < values; row += n) {
    Vector<C> sums[parts]{};
    for (int64_t i = row; i < row + n; i += kLine<C>)
      for (int64_t p = 0, at = i; p < parts; ++p, at += kLanes<C>) sums[p] += load<C>(grad + at) * load<C>(y + at);
    if constexpr (parts == 2) sums[0] += sums[1];
    const C sum = halved<kLanes<C>, C>(sums[0], [](auto& to, const auto& v) { to += v; });
    for (int64_t i = row; i < row + n; i += kLine<C>)
      for (int64_t p = 0, at = i; p < parts; ++p, at += kLanes<C>)
        store<C>(out + at, load<C>(y + at) * (load<C>(grad + at) - sum));
  }
}
template <class C>
void log_softmax_row_backward(const C* grad, const C* y, C* out, int64_t n) {
  const C sum = sum_of_run(grad, n);
  HB_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i] = grad[i] - quick_exp(y[i]) * sum;
}

float dot_of_run(const Half* x, const Half* y, int64_t n) {
  static_assert(kHalfLanes == kLanes<float>);
  const auto lanes = [](const Half* at) __attribute__((always_inline)) {
    float wide[kHalfLanes];
    load_lanes(at, wide);
    return load<float>(wide);
  };
  Vector<float> a{}, b{}, c{}, d{};
  int64_t i = 0;
  const auto take = [&](Vector<float> & sum, int64_t at) __attribute__((always_inline)) {
    sum += lanes(x + at) * lanes(y + at);
  };
  for (; i + 4 * kHalfLanes <= n; i += 4 * kHalfLanes)
    take(a, i), take(b, i + kHalfLanes), take(c, i + 2 * kHalfLanes), take(d, i + 3 * kHalfLanes);
  for (; i + kHalfLanes <= n; i += kHalfLanes) take(a, i);
  float total = halved<kHalfLanes, float>((a + b) + (c + d), [](auto& sum, const auto& v) { sum += v; });
  for (; i < n; ++i) total += widen(x[i]) * widen(y[i]);
  return total;
}
// Of half types, whose numbers are widened and rounded where they lie.
template <class T>
void softmax_half_row_backward(const T* grad, const T* y, T* out, int64_t n) {
  const float sum = dot_of_run(grad, y, n);
  const auto of = [sum](float g, float v) __attribute__((always_inline)) { return v * (g - sum); };
  map_pairs(n, out, of, grad, y);
}

// Rows [from, to) of n values; as many are widened at once as go together.
template <class T>
void softmax_rows_backward(const T* grad, const T* y, T* out, int64_t n, bool log, int64_t from, int64_t to) {
  if constexpr (is_half_v<T>) {
    if (!log && n >= 32) {  // shorter ones go together
      for (int64_t r = from; r < to; ++r) softmax_half_row_backward(grad + r * n, y + r * n, out + r * n, n);
      return;
    }
  }
  const int64_t at_once = std::min(to - from, rows_together(n));
  RunBuffer<T> wide_g(at_once * n), wide_y(at_once * n);
  for (int64_t r = from; r < to; r += at_once) {
    const int64_t rows = std::min(at_once, to - r), values = rows * n;
    const auto *g = computable(grad + r * n, wide_g.data(), values), *v = computable(y + r * n, wide_y.data(), values);
    auto* results_of = results(out + r * n, wide_g.data());
    if (!log && n % kLine<compute_t<T>> == 0 && n <= kFewLines * kLine<compute_t<T>>) {
      softmax_short_rows_backward(g, v, results_of, values, n);
      finish(results_of, out + r * n, values);
      continue;
    }
    const auto row_backward = log ? log_softmax_row_backward<compute_t<T>> : softmax_row_backward<compute_t<T>>;
    for (int64_t i = 0; i < values; i += n) row_backward(g + i, v + i, results_of + i, n);
    finish(results_of, out + r * n, values);
  }
}

constexpr int64_t kBlock = 512;  // columns at once
/// The width from which on blocks would be too large for their cache.
template <class T>
constexpr int64_t kMostColumns = 2048 / static_cast<int64_t>(sizeof(compute_t<T>));

// `width` neighbouring columns at once, each of n values `inner` apart.
template <class T>
void softmax_columns(const T* in, T* out, int64_t n, int64_t inner, int64_t width, bool log) {
  using C = compute_t<T>;
  C top[kBlock], sum[kBlock] = {}, wide[kBlock];
  std::fill(top, top + kBlock, -std::numeric_limits<C>::infinity());
  for (int64_t i = 0; i < n; ++i) {
    const C* x = computable(in + i * inner, wide, width);
    for (int64_t j = 0; j < width; ++j) top[j] = x[j] > top[j] ? x[j] : top[j];
  }
  const bool keep = !log && kStoredAsComputed<T>;  // the exponentials, for the last pass
  for (int64_t i = 0; i < n; ++i) {
    const C* x = computable(in + i * inner, wide, width);
    C* y = keep ? results(out + i * inner, wide) : wide;
    HB_INDEPENDENT
    for (int64_t j = 0; j < width; ++j) {
      y[j] = quick_exp(x[j] - top[j]);
      sum[j] += y[j];
    }
  }
  for (int64_t j = 0; j < width; ++j) sum[j] = log ? std::log(sum[j]) : C(1) / sum[j];
  for (int64_t i = 0; i < n; ++i) {
    C* y = results(out + i * inner, wide);
    if (keep) {
      for (int64_t j = 0; j < width; ++j) y[j] *= sum[j];
      continue;
    }
    const C* x = computable(in + i * inner, wide, width);
    if (log) {
      HB_INDEPENDENT
      for (int64_t j = 0; j < width; ++j) y[j] = x[j] - top[j] - sum[j];
    } else {
      HB_INDEPENDENT
      for (int64_t j = 0; j < width; ++j) y[j] = quick_exp(x[j] - top[j]) * sum[j];
    }
    finish(y, out + i * inner, width);
  }
}

constexpr int64_t kKept = 1 << 16;  // values of a half type that a block keeps as they are computed with
constexpr int64_t kKeptColumns = 64;

// The same of at most kKeptColumns of a half type, widened once: of a constant number, whose sums stay in registers, or
// (0) of `some`.
template <int64_t constant, class T>
void softmax_kept_columns(const T* in, T* out, int64_t n, int64_t inner, int64_t some, bool log, float* kept) {
  constexpr int64_t kMost = constant ? constant : kKeptColumns;
  const int64_t width = constant ? constant : some;
  float top[kMost], sum[kMost] = {}, power[kMost];
  std::fill(top, top + kMost, -std::numeric_limits<float>::infinity());
  for (int64_t i = 0; i < n; ++i) {
    float* x = kept + i * width;
    load(in + i * inner, x, width);
    for (int64_t j = 0; j < width; ++j) top[j] = x[j] > top[j] ? x[j] : top[j];
  }
  for (int64_t i = 0; i < n; ++i) {
    float* __restrict x = kept + i * width;
    for (int64_t j = 0; j < width; ++j) {
      x[j] -= top[j];
      power[j] = quick_exp(x[j]);
      sum[j] += power[j];
    }
    if (!log) std::copy_n(power, width, x);
  }
  for (int64_t j = 0; j < width; ++j) sum[j] = log ? std::log(sum[j]) : 1 / sum[j];
  for (int64_t i = 0; i < n; ++i) {
    float* __restrict x = kept + i * width;
    if (log)
      for (int64_t j = 0; j < width; ++j) x[j] -= sum[j];
    else
      for (int64_t j = 0; j < width; ++j) x[j] *= sum[j];
    store(x, out + i * inner, width);
  }
}

template <class T>
void softmax_kept_columns(const T* in, T* out, int64_t n, int64_t inner, int64_t width, bool log) {
  const std::unique_ptr<float[]> kept(new float[std::min(width, kKeptColumns) * n]);
  for (int64_t j = 0, some; j < width; j += some) {
    some = std::min(width - j, kKeptColumns);
    const auto columns = some == kKeptColumns ? softmax_kept_columns<kKeptColumns, T>
                         : some == 32         ? softmax_kept_columns<32, T>
                                              : softmax_kept_columns<0, T>;
    columns(in + j, out + j, n, inner, some, log, kept.get());
  }
}

template <class T>
void softmax_columns_backward(const T* grad, const T* y, T* out, int64_t n, int64_t inner, int64_t width, bool log) {
  using C = compute_t<T>;
  C sum[kBlock] = {}, wide_g[kBlock], wide_y[kBlock];
  for (int64_t i = 0; i < n; ++i) {
    const C *g = computable(grad + i * inner, wide_g, width), *v = computable(y + i * inner, wide_y, width);
    if (log)
      for (int64_t j = 0; j < width; ++j) sum[j] += g[j];
    else
      for (int64_t j = 0; j < width; ++j) sum[j] += g[j] * v[j];
  }
  for (int64_t i = 0; i < n; ++i) {
    const C *g = computable(grad + i * inner, wide_g, width), *v = computable(y + i * inner, wide_y, width);
    C* to = results(out + i * inner, wide_g);
    if (log) {
      HB_INDEPENDENT
      for (int64_t j = 0; j < width; ++j) to[j] = g[j] - quick_exp(v[j]) * sum[j];
    } else {
      HB_INDEPENDENT_LINES
      for (int64_t j = 0; j < width; ++j) to[j] = v[j] * (g[j] - sum[j]);
    }
    finish(to, out + i * inner, width);
  }
}

// Of an even number of columns of bf16, two at a time.
void softmax_columns_backward(const BFloat16* grad, const BFloat16* y, BFloat16* out, int64_t n, int64_t inner,
                              int64_t width) {
  float low[kBlock / 2] = {}, high[kBlock / 2] = {};
  const auto pairs = [](auto* at) { return reinterpret_cast<const Bf16Pair*>(at); };
  for (int64_t i = 0; i < n; ++i) {
    const Bf16Pair *g = pairs(grad + i * inner), *v = pairs(y + i * inner);
    for (int64_t j = 0; j < width / 2; ++j)
      low[j] += low_of(g[j]) * low_of(v[j]), high[j] += high_of(g[j]) * high_of(v[j]);
  }
  for (int64_t i = 0; i < n; ++i) {
    const Bf16Pair *g = pairs(grad + i * inner), *v = pairs(y + i * inner);
    auto* to = reinterpret_cast<Bf16Pair*>(out + i * inner);
    HB_INDEPENDENT
    for (int64_t j = 0; j < width / 2; ++j)
      to[j] = pair_of(low_of(v[j]) * (low_of(g[j]) - low[j]), high_of(v[j]) * (high_of(g[j]) - high[j]));
  }
}

// Of `most` columns at once.
template <class F>
void over_columns(const SoftmaxShape& s, int64_t most, const F& f) {
  // Wide blocks read memory in order; narrower ones where all threads would not have one.
  const int64_t wanted = std::max<int64_t>(1, get_num_threads() / s.outer);
  const int64_t width = std::clamp(std::min((s.inner / wanted + 63) / 64, most / 64) * 64, int64_t{64}, kBlock);
  const int64_t blocks = (s.inner + width - 1) / width, cost = std::max<int64_t>(1, s.n * std::min(width, s.inner));
  parallel_for(0, s.outer * blocks, std::max<int64_t>(1, kGrain / 8 / cost), [&](int64_t from, int64_t to) {
    for (int64_t b = from; b < to; ++b) {
      const int64_t first = (b % blocks) * width;
      f((b / blocks) * s.n * s.inner + first, std::min(width, s.inner - first));
    }
  });
}

void softmax(ScalarType dtype, const SoftmaxShape& s, bool log, void* out_data, const void* in_data) {
  HB_FLOATING_SWITCH("softmax", dtype, [&](auto type) {
    using T = decltype(type);
    const auto* in = static_cast<const T*>(in_data);
    auto* out = static_cast<T*>(out_data);
    if (s.inner > 1)
      return over_columns(s, kMostColumns<T>, [&](int64_t at, int64_t width) {
        if constexpr (!kStoredAsComputed<T>)
          if (std::min(s.inner, kKeptColumns) * s.n <= kKept)
            return softmax_kept_columns(in + at, out + at, s.n, s.inner, width, log);
        softmax_columns(in + at, out + at, s.n, s.inner, width, log);
      });
    using C = compute_t<T>;
    const int64_t at_once = rows_together(s.n);
    parallel_for(0, s.outer, std::max<int64_t>(1, kGrain / 8 / std::max<int64_t>(1, s.n)),
                 [&](int64_t from, int64_t to) {
                   const int64_t most = std::min(at_once, to - from) * s.n;
                   const std::unique_ptr<C[]> wide(kStoredAsComputed<T> ? nullptr : new C[most]);
                   const std::unique_ptr<C[]> powers(log ? new C[most] : nullptr);
                   for (int64_t r = from; r < to; r += at_once) {
                     const int64_t rows = std::min(at_once, to - r), n = rows * s.n;
                     const auto* x = computable(in + r * s.n, wide.get(), n);
                     auto* y = results(out + r * s.n, wide.get());
                     softmax_rows(x, y, log ? powers.get() : y, rows, s.n, log);
                     finish(y, out + r * s.n, n);
                   }
                 });
  });
}
HB_REGISTER_ISA(softmax_kernel, softmax);

void softmax_backward(ScalarType dtype, const SoftmaxShape& s, bool log, void* grad_in, const void* grad_data,
                      const void* out_data) {
  HB_FLOATING_SWITCH("softmax_backward", dtype, [&](auto type) {
    using T = decltype(type);
    const auto *grad = static_cast<const T*>(grad_data), *y = static_cast<const T*>(out_data);
    auto* out = static_cast<T*>(grad_in);
    if (s.inner > 1)
      return over_columns(s, kMostColumns<T>, [&](int64_t at, int64_t width) {
        if constexpr (std::is_same_v<T, BFloat16>)
          if (!log && width % 2 == 0) return softmax_columns_backward(grad + at, y + at, out + at, s.n, s.inner, width);
        softmax_columns_backward(grad + at, y + at, out + at, s.n, s.inner, width, log);
      });
    parallel_for(0, s.outer, std::max<int64_t>(1, kGrain / 8 / std::max<int64_t>(1, s.n)),
                 [&](int64_t from, int64_t to) { softmax_rows_backward(grad, y, out, s.n, log, from, to); });
  });
}
HB_REGISTER_ISA(softmax_backward_kernel, softmax_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
