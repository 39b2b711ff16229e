#pragma once
// The update rules of the optimizers. A rule holds the hyper-parameters of a step; its Formula is the update of one element,
// in the order of operations and roundings of LibTorch's own steps, so that trajectories agree.
//
// T is what is computed in; `r` rounds each intermediate result to what the parameter stores (nothing to do for float and
// double). LibTorch rounds the factors of scaled sums and of products in place to the stored type as well: r(factor).

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
        : shrink(1 - h.lr * h.weight_decay), weight_decay(h.weight_decay), beta1(h.beta1), gain1(1 - h.beta1),
          beta2(h.beta2), gain2(1 - h.beta2), root_correction2(std::sqrt(h.correction2)), eps(h.eps),
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
  static constexpr unsigned states(unsigned flags) { return 1 | (flags & kMomentum ? 2 : 0) | (flags & kCentered ? 4 : 0); }
  double lr, alpha, eps, weight_decay, momentum;

  template <class T, unsigned flags>
  struct Formula {
    T step, alpha, gain, eps, weight_decay, momentum;
    explicit Formula(const RmspropRule& h)
        : step(-h.lr), alpha(h.alpha), gain(1 - h.alpha), eps(h.eps), weight_decay(h.weight_decay),
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

inline UpdateKernel<SgdRule> sgd_update{"SGD"};
inline UpdateKernel<AdamRule> adam_update{"Adam"};
inline UpdateKernel<RmspropRule> rmsprop_update{"RMSprop"};
inline UpdateKernel<AdagradRule> adagrad_update{"Adagrad"};

}  // namespace hb
