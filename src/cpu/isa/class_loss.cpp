#include <vector>

#include "backend/loss.h"
#include "cpu/isa/row_sums.h"
#include "cpu/isa/runs.h"
#include "cpu/pieces.h"

namespace hb::cpu::HB_ISA {
namespace {

enum { kNone = 0, kMean = 1 };

[[gnu::noinline, noreturn]] void fail_class(const char* name, const ClassLoss& l, int64_t t) {
  HB_CHECK_INDEX(false, "[", name, "] Target ", t, " is out of bounds. Expected targets in [0, ", l.classes, ")");
  __builtin_unreachable();
}
inline int64_t class_of(const char* name, const ClassLoss& l, int64_t i) {
  const int64_t t = l.target[i];
  if (HB_UNLIKELY(t < 0 || t >= l.classes)) fail_class(name, l, t);
  return t;
}

/// Where the logit of class c for target i stands: (outer, classes, inner).
int64_t place_of(const ClassLoss& l, int64_t i, int64_t c) {
  if (HB_LIKELY(l.inner == 1)) return i * l.classes + c;  // a division takes longer than the rest
  return ((i / l.inner) * l.classes + c) * l.inner + i % l.inner;
}

template <class T>
double weight_of(const ClassLoss& l, int64_t c) {
  return l.weight ? static_cast<double>(widen(static_cast<const T*>(l.weight)[c])) : 1.0;
}

// Each thread's share of the sum, in double: the result does not depend on the order within a share.
struct Totals {
  double loss = 0, weight = 0;
};

// T: of the logits, L: of the loss. one(i, buffer) may use memory for `row` logits.
template <class T, class L, class F>
void reduce_losses(const ClassLoss& l, void* out_data, int64_t n, int64_t grain, int64_t row, const F& one) {
  const int threads = threads_for(n, grain);
  std::vector<Totals> totals(threads);
  auto* out = static_cast<L*>(out_data);
  parallel_ranges(0, n, threads, [&](int64_t from, int64_t to, int thread) {
    RunBuffer<T> buffer(row);
    Totals sum;
    for (int64_t i = from; i < to; ++i) {
      const Totals x = one(i, buffer.data());
      sum.loss += x.loss, sum.weight += x.weight;
      if (l.reduction == kNone) out[i] = L(static_cast<compute_t<L>>(x.loss));
    }
    totals[thread] = sum;
  });
  double loss = 0, weight = 0;
  for (const auto& t : totals) loss += t.loss, weight += t.weight;
  *l.total = weight;
  if (l.reduction == kNone) return;
  out[0] = L(static_cast<compute_t<L>>(l.reduction == kMean ? loss / weight : loss));
}

template <class T>
void nll_of(const ClassLoss& l, void* out) {
  const auto* x = static_cast<const T*>(l.x);
  reduce_losses<T, T>(l, out, l.outer * l.inner, kGrain / 4, 0, [&](int64_t i, compute_t<T>*) -> Totals {
    if (l.target[i] == l.ignore_index) return {};
    const int64_t c = class_of("nll_loss", l, i);
    const double w = weight_of<T>(l, c);
    return {-w * static_cast<double>(widen(x[place_of(l, i, c)])), w};
  });
}

template <class T>
void nll_backward_of(const ClassLoss& l, void* grad_x, const void* grad_data) {
  using C = compute_t<T>;
  auto* out = static_cast<T*>(grad_x);
  const auto* grad = static_cast<const T*>(grad_data);
  std::memset(static_cast<void*>(out), 0, l.outer * l.classes * l.inner * sizeof(T));
  const double scale = l.reduction == kMean ? 1 / *l.total : 1.0;
  for (int64_t i = 0; i < l.outer * l.inner; ++i) {
    if (l.target[i] == l.ignore_index) continue;
    const int64_t c = class_of("nll_loss", l, i);
    const double g = static_cast<double>(widen(grad[l.reduction == kNone ? i : 0]));
    out[place_of(l, i, c)] = T(static_cast<C>(-g * scale * weight_of<T>(l, c)));
  }
}

// T: of the logits and their gradient, L: of the loss and its gradient.
template <class T, class L>
void cross_entropy_of(const ClassLoss& l, void* out, void* normalizer) {
  using C = compute_t<T>;
  const auto* x = static_cast<const T*>(l.x);
  auto* kept = static_cast<C*>(normalizer);
  const int64_t n = l.classes;
  reduce_losses<T, L>(l, out, l.outer, std::max<int64_t>(1, kGrain / 8 / n), n, [&](int64_t i, C* buffer) -> Totals {
    const C* __restrict row = computable(x + i * n, buffer, n);
    const C top = max_of_run(row, n);
    const C shift = top + std::log(sum_over<C>(n, [=](int64_t j) { return quick_exp(row[j] - top); }));
    kept[i] = shift;
    if (l.target[i] == l.ignore_index) return {};
    const int64_t c = class_of("cross_entropy", l, i);
    const double w = weight_of<T>(l, c);
    double loss = w * static_cast<double>(shift - row[c]);
    if (l.smoothing > 0) {
      const C sum = sum_over<C>(n, [=](int64_t j) { return shift - row[j]; });
      loss = (1 - l.smoothing) * loss + l.smoothing / static_cast<double>(n) * static_cast<double>(sum);
    }
    return {loss, w};
  });
}

template <class T, class L>
void cross_entropy_backward_of(const ClassLoss& l, void* grad_x, const void* grad_data, const void* normalizer) {
  using C = compute_t<T>;
  const auto* x = static_cast<const T*>(l.x);
  const auto* grad = static_cast<const L*>(grad_data);
  const auto* kept = static_cast<const C*>(normalizer);
  auto* out = static_cast<T*>(grad_x);
  const int64_t n = l.classes;
  const double mean = l.reduction == kMean ? 1 / *l.total : 1.0;
  parallel_pieces(0, l.outer, std::max<int64_t>(1, kGrain / 8 / n), [&](int64_t from, int64_t to) {
    RunBuffer<T> buffer(n);
    for (int64_t i = from; i < to; ++i) {
      T* o = out + i * n;
      if (l.target[i] == l.ignore_index) {
        std::memset(static_cast<void*>(o), 0, n * sizeof(T));
        continue;
      }
      const int64_t c = class_of("cross_entropy", l, i);
      const C g =
          static_cast<C>(static_cast<double>(widen(grad[l.reduction == kNone ? i : 0])) * mean * weight_of<T>(l, c));
      const C shift = kept[i], spread = static_cast<C>(l.smoothing / static_cast<double>(n));
      const C* row = computable(x + i * n, buffer.data(), n);
      C* y = results(o, buffer.data());
      const C at_target = g * (quick_exp(row[c] - shift) - spread - static_cast<C>(1 - l.smoothing));
      HB_INDEPENDENT
      for (int64_t j = 0; j < n; ++j) y[j] = g * (quick_exp(row[j] - shift) - spread);
      y[c] = at_target;
      finish(y, o, n);
    }
  });
}

#define HB_CLASS_LOSS(name, params, call)             \
  void name params {                                  \
    HB_FLOATING_SWITCH(#name, dtype, [&](auto type) { \
      using T = decltype(type);                       \
      call;                                           \
    });                                               \
  }                                                   \
  HB_REGISTER_ISA(name##_kernel, name)
HB_CLASS_LOSS(nll, (ScalarType dtype, const ClassLoss& l, void* out), nll_of<T>(l, out));
HB_CLASS_LOSS(nll_backward, (ScalarType dtype, const ClassLoss& l, void* grad_x, const void* grad),
              nll_backward_of<T>(l, grad_x, grad));
template <class T>
void cross_entropy_as_asked(const ClassLoss& l, void* out, void* normalizer) {
  return l.float_loss ? cross_entropy_of<T, float>(l, out, normalizer) : cross_entropy_of<T, T>(l, out, normalizer);
}
template <class T>
void cross_entropy_backward_as_asked(const ClassLoss& l, void* grad_x, const void* grad, const void* normalizer) {
  return l.float_loss ? cross_entropy_backward_of<T, float>(l, grad_x, grad, normalizer)
                      : cross_entropy_backward_of<T, T>(l, grad_x, grad, normalizer);
}
HB_CLASS_LOSS(cross_entropy, (ScalarType dtype, const ClassLoss& l, void* out, void* normalizer),
              cross_entropy_as_asked<T>(l, out, normalizer));
HB_CLASS_LOSS(cross_entropy_backward,
              (ScalarType dtype, const ClassLoss& l, void* grad_x, const void* grad, const void* normalizer),
              cross_entropy_backward_as_asked<T>(l, grad_x, grad, normalizer));

}  // namespace
}  // namespace hb::cpu::HB_ISA
