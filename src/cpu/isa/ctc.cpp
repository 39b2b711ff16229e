// Connectionist temporal classification: sums over all alignments, in logarithms, a vector of label positions at a
// time.
#include "backend/ctc.h"

#include "cpu/isa/vec.h"
#include "formulas/math.h"

namespace hb::cpu::HB_ISA {
namespace {

template <class C>
constexpr C kNever = -std::numeric_limits<C>::infinity();

/// One sequence of the batch.
template <class C>
struct Sequence {
  int64_t steps, width;  // its own: 2 * target + 1
  const int64_t* labels;
  std::vector<C> skip;  // 0 where the blank before may be left out, else the logarithm of 0; two more at the end

  Sequence(const CtcTargets& t, int64_t n)
      : steps(t.inputs[n]),
        width(2 * t.targets[n] + 1),
        labels(t.labels.data() + n * t.width),
        skip(width + 2, kNever<C>) {
    for (int64_t s = 0; s < width; ++s)
      if (t.may_skip[n * t.width + s]) skip[s] = 0;
  }
  /// The positions that an alignment can have at a step: no further than it can have come, or that reach the end.
  int64_t first(int64_t t) const { return std::max<int64_t>(0, width - 2 * (steps - t)); }
  int64_t end(int64_t t) const { return std::min(width, 2 * (t + 1)); }
};

/// out[s] = log(e^a[s] + e^b[s] + e^(c[s] + skip[s])) + at[s]
template <class C>
void log_add(int64_t n, const C* a, const C* b, const C* c, const C* skip, const C* at, C* out) {
  HB_INDEPENDENT
  for (int64_t s = 0; s < n; ++s) {
    const C third = c[s] + skip[s];
    C top = a[s] > b[s] ? a[s] : b[s];
    top = third > top ? third : top;
    top = top > kNever<C> ? top : C(0);
    out[s] = math::log(quick_exp(a[s] - top) + quick_exp(b[s] - top) + quick_exp(third - top)) + top + at[s];
  }
}

template <class C>
void emit(const Sequence<C>& q, const C* log_probs, C* out) {
  for (int64_t s = 0; s < q.width; ++s) out[s] = log_probs[q.labels[s]];
}

template <class C>
C loss_of(const Sequence<C>& q, const C* last) {
  const C a = last[q.width - 1], b = q.width > 1 ? last[q.width - 2] : kNever<C>;
  if (a == kNever<C> && b == kNever<C>) return -kNever<C>;
  const C top = std::max(a, b);
  return -(std::log(std::exp(a - top) + std::exp(b - top)) + top);
}

template <class C>
void forward(const CtcTargets& t, const C* log_probs, C* alpha, C* loss) {
  parallel_for(0, t.batch, 1, [&](int64_t from, int64_t to) {
    std::vector<C> emitted(t.width);
    for (int64_t n = from; n < to; ++n) {
      const Sequence<C> q(t, n);
      if (q.steps == 0) {
        loss[n] = q.width == 1 ? C(0) : -kNever<C>;
        continue;
      }
      C* row = alpha + n * t.steps * (t.width + 2) + 2;
      for (int64_t i = 0; i < q.steps; ++i, row += t.width + 2) {
        std::fill(row - 2, row + t.width, kNever<C>);
        emit(q, log_probs + (i * t.batch + n) * t.classes, emitted.data());
        const int64_t s = q.first(i), count = q.end(i) - s;
        if (i == 0) {
          std::copy(emitted.data() + s, emitted.data() + s + std::max<int64_t>(0, count), row + s);
        } else {
          const C* before = row - (t.width + 2) + s;
          log_add(count, before, before - 1, before - 2, q.skip.data() + s, emitted.data() + s, row + s);
        }
      }
      loss[n] = loss_of(q, row - (t.width + 2));
    }
  });
}

template <class C>
void backward(const CtcTargets& t, const C* log_probs, const C* alpha, const C* loss, const C* grad, C* grad_x) {
  parallel_for(0, t.batch, 1, [&](int64_t from, int64_t to) {
    std::vector<C> emitted(t.width), posterior(t.width), rows(2 * (t.width + 2)), sum(t.classes);
    C *beta = rows.data(), *after = beta + t.width + 2;  // the endings from this step, and from the next
    for (int64_t n = from; n < to; ++n) {
      const Sequence<C> q(t, n);
      for (int64_t i = q.steps; i < t.steps; ++i) std::fill_n(grad_x + (i * t.batch + n) * t.classes, t.classes, C(0));
      for (int64_t i = q.steps - 1; i >= 0; --i, std::swap(beta, after)) {
        const C* x = log_probs + (i * t.batch + n) * t.classes;
        std::fill(beta, beta + t.width + 2, kNever<C>);
        emit(q, x, emitted.data());
        const int64_t s = q.first(i), count = q.end(i) - s;
        if (i == q.steps - 1) {
          std::copy(emitted.data() + s, emitted.data() + s + std::max<int64_t>(0, count), beta + s);
        } else {
          log_add(count, after + s, after + s + 1, after + s + 2, q.skip.data() + s + 2, emitted.data() + s, beta + s);
        }
        const C* begun = alpha + (n * t.steps + i) * (t.width + 2) + 2;
        const C whole = loss[n];
        for (int64_t k = 0; k < q.width; ++k) posterior[k] = quick_exp(begun[k] + beta[k] + whole - emitted[k]);
        std::fill(sum.begin(), sum.end(), C(0));
        for (int64_t k = 0; k < q.width; ++k) sum[q.labels[k]] += posterior[k];
        C* out = grad_x + (i * t.batch + n) * t.classes;
        HB_INDEPENDENT
        for (int64_t k = 0; k < t.classes; ++k) out[k] = (quick_exp(x[k]) - sum[k]) * grad[n];
      }
    }
  });
}

void ctc(ScalarType dtype, const CtcTargets& t, const void* log_probs, void* alpha, void* loss) {
  const auto run = [&](auto type) {
    using C = decltype(type);
    forward(t, static_cast<const C*>(log_probs), static_cast<C*>(alpha), static_cast<C*>(loss));
  };
  dtype == kDouble ? run(double()) : run(float());
}
void ctc_backward(ScalarType dtype, const CtcTargets& t, const void* log_probs, const void* alpha, const void* loss,
                  const void* grad, void* grad_log_probs) {
  const auto run = [&](auto type) {
    using C = decltype(type);
    backward(t, static_cast<const C*>(log_probs), static_cast<const C*>(alpha), static_cast<const C*>(loss),
             static_cast<const C*>(grad), static_cast<C*>(grad_log_probs));
  };
  dtype == kDouble ? run(double()) : run(float());
}

HB_REGISTER_ISA(ctc_kernel, ctc);
HB_REGISTER_ISA(ctc_backward_kernel, ctc_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
