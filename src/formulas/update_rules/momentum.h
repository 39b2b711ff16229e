#pragma once
// Rules that follow the gradient or its sign: SGD, ASGD, Rprop, Lion.

#include <algorithm>

#include "backend/update_call.h"
#include "formulas/host_device.h"

namespace hb {

struct SgdRule {
  enum : unsigned { kWeightDecay = 1, kMomentum = 2, kNesterov = 4, kFlagSets = 8 };
  /// Bit i: state i is read and written. State 0: the momentum buffer, which the first step fills.
  static constexpr unsigned states(unsigned flags) { return flags & kMomentum ? 1 : 0; }
  double lr, momentum, dampening, weight_decay;
  bool first = false;
  HB_HD double begin(int64_t step, double scalar) {
    first = step == 1;
    return scalar;
  }

  template <class T, unsigned flags>
  struct Formula {
    T step, momentum, gain, weight_decay;
    bool first;
    HB_HD explicit Formula(const SgdRule& h)
        : step(-h.lr), momentum(h.momentum), gain(1 - h.dampening), weight_decay(h.weight_decay), first(h.first) {}
    HB_HD void operator()(T& p, T g, T* s) const {
      if constexpr (flags & kWeightDecay) g = std::fma(p, weight_decay, g);
      if constexpr (flags & kMomentum) {
        const T next = std::fma(g, gain, s[0] * momentum);
        s[0] = first ? g : next;
        g = flags & kNesterov ? std::fma(s[0], momentum, g) : s[0];
      }
      p = std::fma(g, step, p);
    }
  };
};

struct AsgdRule {
  enum : unsigned { kWeightDecay = 1, kFlagSets = 2 };
  /// State: the averaged parameter.
  static constexpr unsigned states(unsigned) { return 1; }
  double lr, lambd, alpha, t0, weight_decay;
  double eta = 0, mu = 1;
  /// Carries the step length, which the learning rate of the step before has set.
  HB_HD double begin(int64_t step, double scalar) {
    const auto t = static_cast<double>(step);
    eta = step == 1 ? lr : scalar;
    mu = step == 1 ? 1 : 1 / std::max(1.0, t - 1 - t0);
    return lr / std::pow(1 + lambd * lr * t, alpha);
  }

  template <class T, unsigned flags>
  struct Formula {
    T shrink, step, mu, weight_decay;
    bool copied;
    HB_HD explicit Formula(const AsgdRule& h)
        : shrink(1 - h.lambd * h.eta), step(-h.eta), mu(h.mu), weight_decay(h.weight_decay), copied(h.mu == 1) {}
    HB_HD void operator()(T& p, T g, T* s) const {
      if constexpr (flags & kWeightDecay) g = std::fma(p, weight_decay, g);
      p = std::fma(g, step, p * shrink);
      const T averaged = s[0] + (p - s[0]) * mu;
      s[0] = copied ? p : averaged;
    }
  };
};

struct RpropRule {
  enum : unsigned { kFlagSets = 1 };
  /// States: the gradient before, the step size.
  static constexpr unsigned states(unsigned) { return 3; }
  double lr, eta_minus, eta_plus, least, most;
  bool first = false;
  HB_HD double begin(int64_t step, double scalar) {
    first = step == 1;
    return scalar;
  }

  template <class T, unsigned>
  struct Formula {
    T lr, eta_minus, eta_plus, least, most;
    bool first;
    HB_HD explicit Formula(const RpropRule& h)
        : lr(h.lr), eta_minus(h.eta_minus), eta_plus(h.eta_plus), least(h.least), most(h.most), first(h.first) {}
    HB_HD void operator()(T& p, T g, T* s) const {
      const T agree = g * s[0], before = first ? lr : s[1];
      const T grown = before * (agree > 0 ? eta_plus : agree < 0 ? eta_minus : T(1));
      s[1] = grown < least ? least : grown > most ? most : grown;
      g = agree < 0 ? T(0) : g;
      // NaN stays NaN: it must not turn into a step.
      const T sign = g > 0 ? T(1) : g < 0 ? T(-1) : g;
      p = std::fma(-sign, s[1], p);
      s[0] = g;
    }
  };
};

struct LionRule {
  enum : unsigned { kDecoupled = 1, kFlagSets = 2 };
  /// State: mean of the gradient.
  static constexpr unsigned states(unsigned) { return 1; }
  double lr, beta1, beta2, weight_decay;

  template <class T, unsigned flags>
  struct Formula {
    T shrink, lr, beta1, gain1, beta2, gain2;
    HB_HD explicit Formula(const LionRule& h)
        : shrink(1 - h.lr * h.weight_decay),
          lr(h.lr),
          beta1(h.beta1),
          gain1(1 - h.beta1),
          beta2(h.beta2),
          gain2(1 - h.beta2) {}
    HB_HD void operator()(T& p, T g, T* s) const {
      if constexpr (flags & kDecoupled) p = p * shrink;
      const T direction = std::fma(g, gain1, s[0] * beta1);
      // NaN stays NaN: it must not turn into a step.
      const T sign = direction > 0 ? T(1) : direction < 0 ? T(-1) : direction;
      p = std::fma(sign, -lr, p);
      s[0] = std::fma(g, gain2, s[0] * beta2);
    }
  };
};

}  // namespace hb
