#include <vector>

#include "cpu/isa/vec.h"
#include "kernels/loss.h"

namespace hb::cpu::HB_ISA {
namespace {

enum { kNone = 0, kMean = 1 };

int64_t class_of(const char* name, const ClassLoss& l, int64_t i) {
  const int64_t t = l.target[i];
  HB_CHECK_INDEX(t >= 0 && t < l.classes, "[", name, "] expected targets in [0, ", l.classes, "), got ", t);
  return t;
}

template <class T>
double weight_of(const ClassLoss& l, int64_t c) {
  return l.weight ? static_cast<double>(widen(static_cast<const T*>(l.weight)[c])) : 1.0;
}

// Each thread's share of the sum, in double: the result does not depend on the order within a share.
struct Totals {
  double loss = 0, weight = 0;
};

template <class T, class F>
void reduce_losses(ClassLoss& l, void* out_data, int64_t n, int64_t grain, const F& one) {
  const int threads = threads_for(n, grain);
  std::vector<Totals> totals(threads);
  auto* out = static_cast<T*>(out_data);
  parallel_ranges(0, n, threads, [&](int64_t from, int64_t to, int thread) {
    Totals sum;
    for (int64_t i = from; i < to; ++i) {
      const Totals x = one(i);
      sum.loss += x.loss, sum.weight += x.weight;
      if (l.reduction == kNone) out[i] = T(static_cast<compute_t<T>>(x.loss));
    }
    totals[thread] = sum;
  });
  double loss = 0;
  l.total = 0;
  for (const auto& t : totals) loss += t.loss, l.total += t.weight;
  if (l.reduction == kNone) return;
  out[0] = T(static_cast<compute_t<T>>(l.reduction == kMean ? loss / l.total : loss));
}

template <class T>
void nll_of(ClassLoss& l, void* out) {
  const auto* x = static_cast<const T*>(l.x);
  reduce_losses<T>(l, out, l.outer * l.inner, kGrain / 4, [&](int64_t i) -> Totals {
    if (l.target[i] == l.ignore_index) return {};
    const int64_t c = class_of("nll_loss", l, i);
    const double w = weight_of<T>(l, c);
    return {-w * static_cast<double>(widen(x[((i / l.inner) * l.classes + c) * l.inner + i % l.inner])), w};
  });
}

template <class T>
void nll_backward_of(const ClassLoss& l, void* grad_x, const void* grad_data) {
  using C = compute_t<T>;
  auto* out = static_cast<T*>(grad_x);
  const auto* grad = static_cast<const T*>(grad_data);
  std::memset(static_cast<void*>(out), 0, l.outer * l.classes * l.inner * sizeof(T));
  const double scale = l.reduction == kMean ? 1 / l.total : 1.0;
  for (int64_t i = 0; i < l.outer * l.inner; ++i) {
    if (l.target[i] == l.ignore_index) continue;
    const int64_t c = class_of("nll_loss", l, i);
    const double g = static_cast<double>(widen(grad[l.reduction == kNone ? i : 0]));
    out[((i / l.inner) * l.classes + c) * l.inner + i % l.inner] = T(static_cast<C>(-g * scale * weight_of<T>(l, c)));
  }
}

// A row in the type it is computed in. Halves are converted into a buffer of the thread, valid until its next row.
template <class T>
compute_t<T>* row_buffer(int64_t n) {
  thread_local std::vector<compute_t<T>> buffer;
  if (static_cast<int64_t>(buffer.size()) < n) buffer.resize(n);
  return buffer.data();
}
template <class T>
const compute_t<T>* computable_row(const T* row, int64_t n) {
  if constexpr (std::is_same_v<T, compute_t<T>>) {
    return row;
  } else {
    compute_t<T>* buffer = row_buffer<T>(n);
    load(row, buffer, n);
    return buffer;
  }
}

// T: of the logits and their gradient, L: of the loss and its gradient.
template <class T, class L>
void cross_entropy_of(ClassLoss& l, void* out, void* normalizer) {
  using C = compute_t<T>;
  const auto* x = static_cast<const T*>(l.x);
  auto* kept = static_cast<C*>(normalizer);
  const int64_t n = l.classes;
  reduce_losses<L>(l, out, l.outer, std::max<int64_t>(1, kGrain / 8 / n), [&](int64_t i) -> Totals {
    const C* __restrict row = computable_row(x + i * n, n);
    const C top = max_over<C>(n, [=](int64_t j) { return row[j]; });
    const C shift = top + std::log(sum_over<C>(n, [=](int64_t j) { return exp_of(row[j] - top); }));
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
  const double mean = l.reduction == kMean ? 1 / l.total : 1.0;
  parallel_for(0, l.outer, std::max<int64_t>(1, kGrain / 8 / n), [&](int64_t from, int64_t to) {
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
      const C* row = computable_row(x + i * n, n);
      C* to = std::is_same_v<T, C> ? reinterpret_cast<C*>(o) : row_buffer<T>(n);
      const C at_target = g * (exp_of(row[c] - shift) - spread - static_cast<C>(1 - l.smoothing));
      HB_INDEPENDENT
      for (int64_t j = 0; j < n; ++j) to[j] = g * (exp_of(row[j] - shift) - spread);
      to[c] = at_target;
      if constexpr (!std::is_same_v<T, C>) store(to, o, n);
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
HB_CLASS_LOSS(nll, (ScalarType dtype, ClassLoss& l, void* out), nll_of<T>(l, out));
HB_CLASS_LOSS(nll_backward, (ScalarType dtype, const ClassLoss& l, void* grad_x, const void* grad),
              nll_backward_of<T>(l, grad_x, grad));
template <class T>
void cross_entropy_as_asked(ClassLoss& l, void* out, void* normalizer) {
  return l.float_loss ? cross_entropy_of<T, float>(l, out, normalizer) : cross_entropy_of<T, T>(l, out, normalizer);
}
template <class T>
void cross_entropy_backward_as_asked(const ClassLoss& l, void* grad_x, const void* grad, const void* normalizer) {
  return l.float_loss ? cross_entropy_backward_of<T, float>(l, grad_x, grad, normalizer)
                      : cross_entropy_backward_of<T, T>(l, grad_x, grad, normalizer);
}
HB_CLASS_LOSS(cross_entropy, (ScalarType dtype, ClassLoss& l, void* out, void* normalizer),
              cross_entropy_as_asked<T>(l, out, normalizer));
HB_CLASS_LOSS(cross_entropy_backward,
              (ScalarType dtype, const ClassLoss& l, void* grad_x, const void* grad, const void* normalizer),
              cross_entropy_backward_as_asked<T>(l, grad_x, grad, normalizer));

}  // namespace
}  // namespace hb::cpu::HB_ISA
