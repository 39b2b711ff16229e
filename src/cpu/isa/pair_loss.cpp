#include <vector>

#include "backend/loss.h"
#include "cpu/isa/runs.h"
#include "formulas/math.h"

namespace hb::cpu::HB_ISA {
namespace {

template <PairLoss kind, class C>
inline __attribute__((always_inline)) C value(C a, C b, C param) {
  const C d = a - b, size = d < 0 ? -d : d;
  if constexpr (kind == PairLoss::mse) return d * d;
  if constexpr (kind == PairLoss::l1) return size;
  if constexpr (kind == PairLoss::smooth_l1) return size < param ? C(0.5) * d * d / param : size - C(0.5) * param;
  if constexpr (kind == PairLoss::huber) return size <= param ? C(0.5) * d * d : param * (size - C(0.5) * param);
  if constexpr (kind == PairLoss::bce) {
    // The logarithms stop at -100, so that a certain and wrong answer costs a finite amount.
    return (b - 1) * std::max(math::log1p(-a), C(-100)) - b * std::max(math::log(a), C(-100));
  }
  if constexpr (kind == PairLoss::bce_logits) {
    const C m = a < 0 ? -a : C(0), far = a < 0 ? a : -a;
    return a * (1 - b) + m + math::log1p(quick_exp(far));
  }
}

template <PairLoss kind, class C>
inline __attribute__((always_inline)) C slope(C a, C b, C param) {
  const C d = a - b, sign = d > 0 ? C(1) : d < 0 ? C(-1) : C(0);
  if constexpr (kind == PairLoss::mse) return 2 * d;
  if constexpr (kind == PairLoss::l1) return sign;
  if constexpr (kind == PairLoss::smooth_l1) return d <= -param ? C(-1) : d >= param ? C(1) : d / param;
  if constexpr (kind == PairLoss::huber) return d < -param ? -param : d > param ? param : d;
  if constexpr (kind == PairLoss::bce) return d / std::max((1 - a) * a, C(1e-12));
  if constexpr (kind == PairLoss::bce_logits) return 1 / (1 + quick_exp(-a)) - b;
}

constexpr int64_t kChunk = 4096;

template <PairLoss kind, class T>
void forward(double param_, int64_t n, const double* scale, T* out, const T* a, const T* b) {
  using C = compute_t<T>;
  const C param = static_cast<C>(param_);
  if (!scale) {
    return parallel_for(0, n, kGrain / 2, [&](int64_t from, int64_t to) {
      over_runs<T, 2>(to - from, out + from, {a + from, b + from},
                      [=](C* y, const std::array<const C*, 2>& x, int64_t, int64_t count) {
                        HB_INDEPENDENT
                        for (int64_t i = 0; i < count; ++i) y[i] = value<kind, C>(x[0][i], x[1][i], param);
                      });
    });
  }
  // Sums of fixed chunks, added in order: the same on any number of threads.
  std::vector<double> sums((n + kChunk - 1) / kChunk);
  parallel_for(0, static_cast<int64_t>(sums.size()), 4, [&](int64_t from, int64_t to) {
    C wide_a[kStoredAsComputed<T> ? 1 : kChunk], wide_b[kStoredAsComputed<T> ? 1 : kChunk];
    for (int64_t c = from; c < to; ++c) {
      const int64_t count = std::min(kChunk, n - c * kChunk);
      const C *x = computable(a + c * kChunk, wide_a, count), *y = computable(b + c * kChunk, wide_b, count);
      sums[c] = static_cast<double>(sum_over<C>(count, [=](int64_t i) { return value<kind, C>(x[i], y[i], param); }));
    }
  });
  double total = 0;
  for (double s : sums) total += s;
  out[0] = T(static_cast<C>(total * *scale));
}

template <PairLoss kind, class T>
void backward(double param_, int64_t n, const double* scale, T* out, const T* grad, const T* a, const T* b) {
  using C = compute_t<T>;
  const C param = static_cast<C>(param_), common = scale ? static_cast<C>(*scale) * widen(grad[0]) : C(0);
  parallel_for(0, n, kGrain / 2, [&](int64_t from, int64_t to) {
    if (scale) {
      over_runs<T, 2>(to - from, out + from, {a + from, b + from},
                      [=](C* y, const std::array<const C*, 2>& x, int64_t, int64_t count) {
                        HB_INDEPENDENT
                        for (int64_t i = 0; i < count; ++i) y[i] = common * slope<kind, C>(x[0][i], x[1][i], param);
                      });
    } else {
      over_runs<T, 3>(to - from, out + from, {a + from, b + from, grad + from},
                      [=](C* y, const std::array<const C*, 3>& x, int64_t, int64_t count) {
                        HB_INDEPENDENT
                        for (int64_t i = 0; i < count; ++i) y[i] = x[2][i] * slope<kind, C>(x[0][i], x[1][i], param);
                      });
    }
  });
}

#define HB_KIND_SWITCH(fn, ...)                        \
  switch (kind) {                                      \
    case PairLoss::mse:                                \
      return fn<PairLoss::mse, T>(__VA_ARGS__);        \
    case PairLoss::l1:                                 \
      return fn<PairLoss::l1, T>(__VA_ARGS__);         \
    case PairLoss::smooth_l1:                          \
      return fn<PairLoss::smooth_l1, T>(__VA_ARGS__);  \
    case PairLoss::huber:                              \
      return fn<PairLoss::huber, T>(__VA_ARGS__);      \
    case PairLoss::bce:                                \
      return fn<PairLoss::bce, T>(__VA_ARGS__);        \
    case PairLoss::bce_logits:                         \
      return fn<PairLoss::bce_logits, T>(__VA_ARGS__); \
  }

void pair_loss(ScalarType dtype, PairLoss kind, double param, int64_t n, const double* scale, void* out, const void* a,
               const void* b) {
  HB_FLOATING_SWITCH("pair_loss", dtype, [&](auto type) {
    using T = decltype(type);
    HB_KIND_SWITCH(forward, param, n, scale, static_cast<T*>(out), static_cast<const T*>(a), static_cast<const T*>(b))
  });
}
HB_REGISTER_ISA(pair_loss_kernel, pair_loss);

void pair_loss_backward(ScalarType dtype, PairLoss kind, double param, int64_t n, const double* scale, void* grad_a,
                        const void* grad, const void* a, const void* b) {
  HB_FLOATING_SWITCH("pair_loss_backward", dtype, [&](auto type) {
    using T = decltype(type);
    HB_KIND_SWITCH(backward, param, n, scale, static_cast<T*>(grad_a), static_cast<const T*>(grad),
                   static_cast<const T*>(a), static_cast<const T*>(b))
  });
}
HB_REGISTER_ISA(pair_loss_backward_kernel, pair_loss_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
