#pragma once
// Adam and its relatives: Adam and AdamW, Adamax, NAdam, RAdam.

#include "backend/update_call.h"
#include "formulas/host_device.h"

namespace hb {

struct AdamRule {
  /// kDecay adds weight decay to the gradient, kDecoupled shrinks the parameter.
  enum : unsigned { kDecay = 1, kDecoupled = 2, kAmsgrad = 4, kFlagSets = 8 };
  /// States: mean of the gradient, of its square, largest mean of its square.
  static constexpr unsigned states(unsigned flags) { return flags & kAmsgrad ? 7 : 3; }
  double lr, beta1, beta2, eps, weight_decay;
  double correction1 = 0, correction2 = 0;  // 1 - beta^step
  HB_HD double begin(int64_t step, double scalar) {
    correction1 = 1 - std::pow(beta1, static_cast<double>(step));
    correction2 = 1 - std::pow(beta2, static_cast<double>(step));
    return scalar;
  }

  template <class T, unsigned flags>
  struct Formula {
    // A quotient takes as long as a root: that by the correction's root is a product.
    T shrink, weight_decay, beta1, gain1, beta2, gain2, inverse_root, eps, step;
    HB_HD explicit Formula(const AdamRule& h)
        : shrink(1 - h.lr * h.weight_decay),
          weight_decay(h.weight_decay),
          beta1(h.beta1),
          gain1(1 - h.beta1),
          beta2(h.beta2),
          gain2(1 - h.beta2),
          inverse_root(1 / std::sqrt(h.correction2)),
          eps(h.eps),
          step(-(h.lr / h.correction1)) {}
    HB_HD void operator()(T& p, T g, T* s) const {
      if constexpr (flags & kDecoupled) p = p * shrink;
      if constexpr (flags & kDecay) g = std::fma(p, weight_decay, g);
      s[0] = std::fma(g, gain1, s[0] * beta1);
      s[1] = std::fma(gain2 * g, g, s[1] * beta2);
      if constexpr (flags & kAmsgrad) s[2] = s[1] > s[2] || s[1] != s[1] ? s[1] : s[2];
      const T second = flags & kAmsgrad ? s[2] : s[1];
      const T denominator = std::fma(std::sqrt(second), inverse_root, eps);
      p = p + step * s[0] / denominator;
    }
  };
};

struct AdamaxRule {
  enum : unsigned { kWeightDecay = 1, kFlagSets = 2 };
  /// States: mean of the gradient, decaying largest gradient.
  static constexpr unsigned states(unsigned) { return 3; }
  double lr, beta1, beta2, eps, weight_decay;
  double corrected_lr = 0;
  HB_HD double begin(int64_t step, double scalar) {
    corrected_lr = lr / (1 - std::pow(beta1, static_cast<double>(step)));
    return scalar;
  }

  template <class T, unsigned flags>
  struct Formula {
    T step, gain1, beta2, eps, weight_decay;
    HB_HD explicit Formula(const AdamaxRule& h)
        : step(-h.corrected_lr), gain1(1 - h.beta1), beta2(h.beta2), eps(h.eps), weight_decay(h.weight_decay) {}
    HB_HD void operator()(T& p, T g, T* s) const {
      if constexpr (flags & kWeightDecay) g = std::fma(p, weight_decay, g);
      s[0] = std::fma(g - s[0], gain1, s[0]);
      const T decayed = s[1] * beta2, size = std::fabs(g) + eps;
      s[1] = decayed > size || decayed != decayed ? decayed : size;
      p = p + step * s[0] / s[1];
    }
  };
};

struct NadamRule {
  enum : unsigned { kDecay = 1, kDecoupled = 2, kFlagSets = 4 };
  /// States: mean of the gradient, of its square.
  static constexpr unsigned states(unsigned) { return 3; }
  double lr, beta1, beta2, eps, weight_decay, momentum_decay;
  double correction2 = 0;
  double grad_step = 0, momentum_step = 0;  // what the gradient and its mean are scaled with
  /// Carries the product of the momenta of all steps.
  HB_HD double begin(int64_t step, double product) {
    const auto t = static_cast<double>(step);
    const auto momentum = [&](double at) { return beta1 * (1 - 0.5 * std::pow(0.96, at * momentum_decay)); };
    const double mu = momentum(t), next = momentum(t + 1);
    product = (step == 1 ? 1 : product) * mu;
    correction2 = 1 - std::pow(beta2, t);
    grad_step = lr * (1 - mu) / (1 - product);
    momentum_step = lr * next / (1 - product * next);
    return product;
  }

  template <class T, unsigned flags>
  struct Formula {
    T shrink, weight_decay, gain1, beta2, gain2, correction2, eps, grad_step, momentum_step;
    HB_HD explicit Formula(const NadamRule& h)
        : shrink(1 - h.lr * h.weight_decay),
          weight_decay(h.weight_decay),
          gain1(1 - h.beta1),
          beta2(h.beta2),
          gain2(1 - h.beta2),
          correction2(h.correction2),
          eps(h.eps),
          grad_step(-h.grad_step),
          momentum_step(-h.momentum_step) {}
    HB_HD void operator()(T& p, T g, T* s) const {
      if constexpr (flags & kDecoupled) p = p * shrink;
      if constexpr (flags & kDecay) g = std::fma(p, weight_decay, g);
      s[0] = std::fma(g - s[0], gain1, s[0]);
      s[1] = std::fma(gain2 * g, g, s[1] * beta2);
      const T denominator = std::sqrt(s[1] / correction2) + eps;
      p = p + grad_step * g / denominator;
      p = p + momentum_step * s[0] / denominator;
    }
  };
};

struct RadamRule {
  enum : unsigned { kDecay = 1, kDecoupled = 2, kFlagSets = 4 };
  /// States: mean of the gradient, of its square.
  static constexpr unsigned states(unsigned) { return 3; }
  double lr, beta1, beta2, eps, weight_decay;
  double correction1 = 0;
  bool rectified = false;    // enough steps were made for the second moment to be of use
  double rectification = 0;  // that of the variance, times the root of 1 - beta2^step
  HB_HD double begin(int64_t step, double scalar) {
    // Length of the approximated simple moving average, at this step and in the limit.
    const auto t = static_cast<double>(step);
    const double power = std::pow(beta2, t), correction2 = 1 - power;
    const double limit = 2 / (1 - beta2) - 1, length = limit - 2 * t * power / correction2;
    rectified = length > 5;
    const double ratio = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length);
    rectification = rectified ? std::sqrt(ratio * correction2) : 0;
    correction1 = 1 - std::pow(beta1, t);
    return scalar;
  }

  template <class T, unsigned flags>
  struct Formula {
    T shrink, weight_decay, gain1, beta2, gain2, correction1, lr, rectification, eps;
    bool rectified;
    HB_HD explicit Formula(const RadamRule& h)
        : shrink(1 - h.lr * h.weight_decay),
          weight_decay(h.weight_decay),
          gain1(1 - h.beta1),
          beta2(h.beta2),
          gain2(1 - h.beta2),
          correction1(h.correction1),
          lr(h.lr),
          rectification(h.rectification),
          eps(h.eps),
          rectified(h.rectified) {}
    HB_HD void operator()(T& p, T g, T* s) const {
      if constexpr (flags & kDecoupled) p = p * shrink;
      if constexpr (flags & kDecay) g = std::fma(p, weight_decay, g);
      s[0] = std::fma(g - s[0], gain1, s[0]);
      s[1] = std::fma(gain2 * g, g, s[1] * beta2);
      const T factor = rectification / (std::sqrt(s[1]) + eps);
      p = p - s[0] / correction1 * lr * (rectified ? factor : T(1));
    }
  };
};

}  // namespace hb
