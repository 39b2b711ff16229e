#include <vector>

#include "cpu/isa/vec.h"
#include "kernels/loss.h"

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
    return (b - 1) * std::max(std::log1p(-a), C(-100)) - b * std::max(std::log(a), C(-100));
  }
  if constexpr (kind == PairLoss::bce_logits) {
    const C m = a < 0 ? -a : C(0), far = a < 0 ? a : -a;
    return a * (1 - b) + m + std::log1p(exp_of(far));
  }
}

template <PairLoss kind, class C>
inline __attribute__((always_inline)) C slope(C a, C b, C param) {
  const C d = a - b, sign = d > 0 ? C(1) : d < 0 ? C(-1) : d;
  if constexpr (kind == PairLoss::mse) return 2 * d;
  if constexpr (kind == PairLoss::l1) return sign;
  if constexpr (kind == PairLoss::smooth_l1) return d <= -param ? C(-1) : d >= param ? C(1) : d / param;
  if constexpr (kind == PairLoss::huber) return d < -param ? -param : d > param ? param : d;
  if constexpr (kind == PairLoss::bce) return d / std::max((1 - a) * a, C(1e-12));
  if constexpr (kind == PairLoss::bce_logits) return 1 / (1 + exp_of(-a)) - b;
}

constexpr int64_t kChunk = 4096;

template <PairLoss kind, class T>
void forward(double param_, int64_t n, const double* scale, T* out, const T* a, const T* b) {
  using C = compute_t<T>;
  const C param = static_cast<C>(param_);
  if (!scale) {
    return parallel_for(0, n, kGrain / 2, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) out[i] = T(value<kind, C>(widen(a[i]), widen(b[i]), param));
    });
  }
  // Sums of fixed chunks, added in order: the same on any number of threads.
  std::vector<double> sums((n + kChunk - 1) / kChunk);
  parallel_for(0, static_cast<int64_t>(sums.size()), 4, [&](int64_t from, int64_t to) {
    for (int64_t c = from; c < to; ++c) {
      const T *x = a + c * kChunk, *y = b + c * kChunk;
      sums[c] = static_cast<double>(sum_over<C>(std::min(kChunk, n - c * kChunk), [=](int64_t i) {
        return value<kind, C>(widen(x[i]), widen(y[i]), param);
      }));
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
      for (int64_t i = from; i < to; ++i) out[i] = T(common * slope<kind, C>(widen(a[i]), widen(b[i]), param));
    } else {
      for (int64_t i = from; i < to; ++i) out[i] = T(widen(grad[i]) * slope<kind, C>(widen(a[i]), widen(b[i]), param));
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
