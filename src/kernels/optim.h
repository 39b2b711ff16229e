#pragma once
// The update rules of the optimizers. A rule holds the hyper-parameters of a step; its Formula is the update of one
// element, in the order of operations and roundings of LibTorch's own steps, so that trajectories agree.
//
// T is what is computed in; `r` rounds each intermediate result to what the parameter stores (nothing to do for float
// and double). LibTorch rounds the factors of scaled sums and of products in place to the stored type as well:
// r(factor).

#include <cmath>

#include <halfbridge/array_ref.h>

#include "kernels/kernel.h"

namespace hb {

/// One parameter and its state: all dense, in one layout, of one dtype. Unused states are null.
struct UpdateTensor {
  static constexpr int kMaxStates = 3;
  void* param;
  const void* grad;
  void* state[kMaxStates];
  int64_t numel;
};

/// Updates all tensors of a list in one pass over memory.
template <class Rule>
using UpdateKernel = Kernel<void(ScalarType dtype, ArrayRef<UpdateTensor> tensors, const Rule& rule, unsigned flags)>;

struct SgdRule {
  enum : unsigned { kWeightDecay = 1, kMomentum = 2, kFirst = 4, kNesterov = 8, kFlagSets = 16 };
  /// Bit i: state i is read and written. State 0: the momentum buffer, which the first step fills.
  static constexpr unsigned states(unsigned flags) { return flags & kMomentum ? 1 : 0; }
  double lr, momentum, dampening, weight_decay;

  template <class T, unsigned flags>
  struct Formula {
    T step, momentum, gain, weight_decay;
    explicit Formula(const SgdRule& h)
        : step(-h.lr), momentum(h.momentum), gain(1 - h.dampening), weight_decay(h.weight_decay) {}
    template <class Round>
    void operator()(Round r, T& p, T g, T* s) const {
      if constexpr (flags & kWeightDecay) g = r(std::fma(p, r(weight_decay), g));
      if constexpr (flags & kMomentum) {
        s[0] = flags & kFirst ? g : r(std::fma(g, r(gain), r(s[0] * r(momentum))));
        g = flags & kNesterov ? r(std::fma(s[0], r(momentum), g)) : s[0];
      }
      p = r(std::fma(g, r(step), p));
    }
  };
};

struct AdamRule {
  /// kDecay adds weight decay to the gradient, kDecoupled shrinks the parameter.
  enum : unsigned { kDecay = 1, kDecoupled = 2, kAmsgrad = 4, kFlagSets = 8 };
  /// States: mean of the gradient, of its square, largest mean of its square.
  static constexpr unsigned states(unsigned flags) { return flags & kAmsgrad ? 7 : 3; }
  double lr, beta1, beta2, eps, weight_decay;
  double correction1, correction2;  // 1 - beta^step

  template <class T, unsigned flags>
  struct Formula {
    T shrink, weight_decay, beta1, gain1, beta2, gain2, root_correction2, eps, step;
    explicit Formula(const AdamRule& h)
        : shrink(1 - h.lr * h.weight_decay),
          weight_decay(h.weight_decay),
          beta1(h.beta1),
          gain1(1 - h.beta1),
          beta2(h.beta2),
          gain2(1 - h.beta2),
          root_correction2(std::sqrt(h.correction2)),
          eps(h.eps),
          step(-(h.lr / h.correction1)) {}
    template <class Round>
    void operator()(Round r, T& p, T g, T* s) const {
      if constexpr (flags & kDecoupled) p = r(p * r(shrink));
      if constexpr (flags & kDecay) g = r(std::fma(p, r(weight_decay), g));
      s[0] = r(std::fma(g, r(gain1), r(s[0] * r(beta1))));
      s[1] = r(std::fma(gain2 * g, g, r(s[1] * r(beta2))));
      if constexpr (flags & kAmsgrad) s[2] = s[1] > s[2] || s[1] != s[1] ? s[1] : s[2];
      const T second = flags & kAmsgrad ? s[2] : s[1];
      const T denominator = r(r(r(std::sqrt(second)) / root_correction2) + r(eps));
      p = r(p + step * s[0] / denominator);
    }
  };
};

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
    explicit Formula(const RmspropRule& h)
        : step(-h.lr),
          alpha(h.alpha),
          gain(1 - h.alpha),
          eps(h.eps),
          weight_decay(h.weight_decay),
          momentum(h.momentum) {}
    template <class Round>
    void operator()(Round r, T& p, T g, T* s) const {
      if constexpr (flags & kWeightDecay) g = r(std::fma(p, r(weight_decay), g));
      s[0] = r(std::fma(gain * g, g, r(s[0] * r(alpha))));
      T variance = s[0];
      if constexpr (flags & kCentered) {
        s[2] = r(std::fma(g, r(gain), r(s[2] * r(alpha))));
        variance = r(std::fma(-s[2], s[2], s[0]));
      }
      const T denominator = r(r(std::sqrt(variance)) + r(eps));
      if constexpr (flags & kMomentum) {
        s[1] = r(r(s[1] * r(momentum)) + g / denominator);
        p = r(std::fma(s[1], r(step), p));
      } else {
        p = r(p + step * g / denominator);
      }
    }
  };
};

struct AdagradRule {
  enum : unsigned { kWeightDecay = 1, kFlagSets = 2 };
  /// State: sum of the squared gradients.
  static constexpr unsigned states(unsigned) { return 1; }
  double lr, eps, weight_decay;

  template <class T, unsigned flags>
  struct Formula {
    T step, eps, weight_decay;
    explicit Formula(const AdagradRule& h) : step(-h.lr), eps(h.eps), weight_decay(h.weight_decay) {}
    template <class Round>
    void operator()(Round r, T& p, T g, T* s) const {
      if constexpr (flags & kWeightDecay) g = r(std::fma(p, r(weight_decay), g));
      s[0] = r(std::fma(g, g, s[0]));
      p = r(p + step * g / r(r(std::sqrt(s[0])) + r(eps)));
    }
  };
};

struct AdamaxRule {
  enum : unsigned { kWeightDecay = 1, kFlagSets = 2 };
  /// States: mean of the gradient, decaying largest gradient.
  static constexpr unsigned states(unsigned) { return 3; }
  double lr, beta1, beta2, eps, weight_decay;  // lr over 1 - beta1^step

  template <class T, unsigned flags>
  struct Formula {
    T step, gain1, beta2, eps, weight_decay;
    explicit Formula(const AdamaxRule& h)
        : step(-h.lr), gain1(1 - h.beta1), beta2(h.beta2), eps(h.eps), weight_decay(h.weight_decay) {}
    template <class Round>
    void operator()(Round r, T& p, T g, T* s) const {
      if constexpr (flags & kWeightDecay) g = r(std::fma(p, r(weight_decay), g));
      s[0] = r(std::fma(g - s[0], gain1, s[0]));
      const T decayed = r(s[1] * r(beta2)), size = r(std::fabs(g) + r(eps));
      s[1] = decayed > size || decayed != decayed ? decayed : size;
      p = r(p + step * s[0] / s[1]);
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
    explicit Formula(const AdadeltaRule& h)
        : step(-h.lr), rho(h.rho), gain(1 - h.rho), eps(h.eps), weight_decay(h.weight_decay) {}
    template <class Round>
    void operator()(Round r, T& p, T g, T* s) const {
      if constexpr (flags & kWeightDecay) g = r(std::fma(p, r(weight_decay), g));
      s[0] = r(std::fma(gain * g, g, r(s[0] * r(rho))));
      const T size = r(std::sqrt(r(s[0] + r(eps))));
      const T change = r(r(r(std::sqrt(r(s[1] + r(eps)))) / size) * g);
      s[1] = r(std::fma(gain * change, change, r(s[1] * r(rho))));
      p = r(std::fma(change, r(step), p));
    }
  };
};

struct NadamRule {
  enum : unsigned { kDecay = 1, kDecoupled = 2, kFlagSets = 4 };
  /// States: mean of the gradient, of its square.
  static constexpr unsigned states(unsigned) { return 3; }
  double lr, beta1, beta2, eps, weight_decay, correction2;
  double grad_step, momentum_step;  // what the gradient and its mean are scaled with

  template <class T, unsigned flags>
  struct Formula {
    T shrink, weight_decay, gain1, beta2, gain2, correction2, eps, grad_step, momentum_step;
    explicit Formula(const NadamRule& h)
        : shrink(1 - h.lr * h.weight_decay),
          weight_decay(h.weight_decay),
          gain1(1 - h.beta1),
          beta2(h.beta2),
          gain2(1 - h.beta2),
          correction2(h.correction2),
          eps(h.eps),
          grad_step(-h.grad_step),
          momentum_step(-h.momentum_step) {}
    template <class Round>
    void operator()(Round r, T& p, T g, T* s) const {
      if constexpr (flags & kDecoupled) p = r(p * r(shrink));
      if constexpr (flags & kDecay) g = r(std::fma(p, r(weight_decay), g));
      s[0] = r(std::fma(g - s[0], gain1, s[0]));
      s[1] = r(std::fma(gain2 * g, g, r(s[1] * r(beta2))));
      const T denominator = r(r(std::sqrt(r(s[1] / correction2))) + r(eps));
      p = r(p + grad_step * g / denominator);
      p = r(p + momentum_step * s[0] / denominator);
    }
  };
};

struct RadamRule {
  /// kRectified: enough steps were made for the second moment to be of use.
  enum : unsigned { kDecay = 1, kDecoupled = 2, kRectified = 4, kFlagSets = 8 };
  /// States: mean of the gradient, of its square.
  static constexpr unsigned states(unsigned) { return 3; }
  double lr, beta1, beta2, eps, weight_decay, correction1;
  double rectification;  // that of the variance, times the root of 1 - beta2^step

  template <class T, unsigned flags>
  struct Formula {
    T shrink, weight_decay, gain1, beta2, gain2, correction1, lr, rectification, eps;
    explicit Formula(const RadamRule& h)
        : shrink(1 - h.lr * h.weight_decay),
          weight_decay(h.weight_decay),
          gain1(1 - h.beta1),
          beta2(h.beta2),
          gain2(1 - h.beta2),
          correction1(h.correction1),
          lr(h.lr),
          rectification(h.rectification),
          eps(h.eps) {}
    template <class Round>
    void operator()(Round r, T& p, T g, T* s) const {
      if constexpr (flags & kDecoupled) p = r(p * r(shrink));
      if constexpr (flags & kDecay) g = r(std::fma(p, r(weight_decay), g));
      s[0] = r(std::fma(g - s[0], gain1, s[0]));
      s[1] = r(std::fma(gain2 * g, g, r(s[1] * r(beta2))));
      T change = r(r(s[0] / correction1) * lr);
      if constexpr (flags & kRectified) change = r(change * r(rectification / r(r(std::sqrt(s[1])) + r(eps))));
      p = r(p - change);
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
    explicit Formula(const LionRule& h)
        : shrink(1 - h.lr * h.weight_decay),
          lr(h.lr),
          beta1(h.beta1),
          gain1(1 - h.beta1),
          beta2(h.beta2),
          gain2(1 - h.beta2) {}
    template <class Round>
    void operator()(Round r, T& p, T g, T* s) const {
      if constexpr (flags & kDecoupled) p = r(p * r(shrink));
      const T direction = r(std::fma(g, gain1, s[0] * beta1));
      // NaN stays NaN: it must not turn into a step.
      const T sign = direction > 0 ? T(1) : direction < 0 ? T(-1) : direction;
      p = r(std::fma(sign, -lr, p));
      s[0] = r(std::fma(g, gain2, s[0] * beta2));
    }
  };
};

/// (rule, name of its kernel, name of the optimizer): a rule that is listed here has a kernel on every device.
#define HB_FORALL_UPDATE_RULES(_)              \
  _(SgdRule, sgd_update, "SGD")                \
  _(AdamRule, adam_update, "Adam")             \
  _(RmspropRule, rmsprop_update, "RMSprop")    \
  _(AdagradRule, adagrad_update, "Adagrad")    \
  _(AdamaxRule, adamax_update, "Adamax")       \
  _(AdadeltaRule, adadelta_update, "Adadelta") \
  _(NadamRule, nadam_update, "NAdam")          \
  _(RadamRule, radam_update, "RAdam")          \
  _(LionRule, lion_update, "Lion")

#define HB_UPDATE_KERNEL(Rule, kernel, name) inline UpdateKernel<Rule> kernel{name};
HB_FORALL_UPDATE_RULES(HB_UPDATE_KERNEL)
#undef HB_UPDATE_KERNEL

}  // namespace hb
