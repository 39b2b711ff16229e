#pragma once
// Rules that divide by the size of past gradients: RMSprop, Adagrad, Adadelta.

#include "backend/update_call.h"
#include "formulas/host_device.h"

namespace hb {

struct RmspropRule {
  enum : unsigned { kWeightDecay = 1, kCentered = 2, kMomentum = 4, kFlagSets = 8 };
  /// States: mean of the squared gradient, momentum buffer, mean of the gradient.
  static constexpr unsigned states(unsigned flags) {
    return 1 | (flags & kMomentum ? 2 : 0) | (flags & kCentered ? 4 : 0);
  }
  double lr, alpha, eps, weight_decay, momentum;

  template <class T, unsigned flags>
  struct Formula {
    T step, alpha, gain, eps, weight_decay, momentum;
    HB_HD explicit Formula(const RmspropRule& h)
        : step(-h.lr),
          alpha(h.alpha),
          gain(1 - h.alpha),
          eps(h.eps),
          weight_decay(h.weight_decay),
          momentum(h.momentum) {}
    HB_HD void operator()(T& p, T g, T* s) const {
      if constexpr (flags & kWeightDecay) g = std::fma(p, weight_decay, g);
      s[0] = std::fma(gain * g, g, s[0] * alpha);
      T variance = s[0];
      if constexpr (flags & kCentered) {
        s[2] = std::fma(g, gain, s[2] * alpha);
        variance = std::fma(-s[2], s[2], s[0]);
        variance = variance < 0 ? T(0) : variance;  // of rounding
      }
      const T denominator = std::sqrt(variance) + eps;
      if constexpr (flags & kMomentum) {
        s[1] = s[1] * momentum + g / denominator;
        p = std::fma(s[1], step, p);
      } else {
        p = p + step * g / denominator;
      }
    }
  };
};

struct AdagradRule {
  enum : unsigned { kWeightDecay = 1, kFlagSets = 2 };
  /// State: sum of the squared gradients.
  static constexpr unsigned states(unsigned) { return 1; }
  double lr, lr_decay, eps, weight_decay;
  double decayed_lr = 0;
  HB_HD double begin(int64_t step, double scalar) {
    decayed_lr = lr / (1 + static_cast<double>(step - 1) * lr_decay);
    return scalar;
  }

  template <class T, unsigned flags>
  struct Formula {
    T step, eps, weight_decay;
    HB_HD explicit Formula(const AdagradRule& h) : step(-h.decayed_lr), eps(h.eps), weight_decay(h.weight_decay) {}
    HB_HD void operator()(T& p, T g, T* s) const {
      if constexpr (flags & kWeightDecay) g = std::fma(p, weight_decay, g);
      s[0] = std::fma(g, g, s[0]);
      p = p + step * g / (std::sqrt(s[0]) + eps);
    }
  };
};

struct AdadeltaRule {
  enum : unsigned { kWeightDecay = 1, kFlagSets = 2 };
  /// States: mean of the squared gradient, mean of the squared change.
  static constexpr unsigned states(unsigned) { return 3; }
  double lr, rho, eps, weight_decay;

  template <class T, unsigned flags>
  struct Formula {
    T step, rho, gain, eps, weight_decay;
    HB_HD explicit Formula(const AdadeltaRule& h)
        : step(-h.lr), rho(h.rho), gain(1 - h.rho), eps(h.eps), weight_decay(h.weight_decay) {}
    HB_HD void operator()(T& p, T g, T* s) const {
      if constexpr (flags & kWeightDecay) g = std::fma(p, weight_decay, g);
      s[0] = std::fma(gain * g, g, s[0] * rho);
      const T size = std::sqrt(s[0] + eps);
      const T change = std::sqrt(s[1] + eps) / size * g;
      s[1] = std::fma(gain * change, change, s[1] * rho);
      p = std::fma(change, step, p);
    }
  };
};

}  // namespace hb
