#pragma once
// Rules whose step depends on norms of whole tensors, LAMB and Adafactor: they read a tensor more than once.

#include <cmath>

#include "backend/update_call.h"
#include "formulas/host_device.h"

namespace hb {

/// LAMB (You et al., "Large Batch Optimization for Deep Learning", algorithm 2): Adam's direction u = m / (sqrt(v) +
/// eps) + weight_decay * p, both moments corrected, scaled by |p| / |u| over the tensor (1 where either norm is zero).
struct LambRule {
  double lr, beta1, beta2, eps, weight_decay;
  double correction1 = 0, correction2 = 0;  // 1 - beta^step
  HB_HD double begin(int64_t step, double scalar) {
    correction1 = 1 - std::pow(beta1, static_cast<double>(step));
    correction2 = 1 - std::pow(beta2, static_cast<double>(step));
    return scalar;
  }
  /// What multiplies the directions of a tensor, by the norms of its values and of the directions.
  HB_HD double scale(double weight, double size) const { return -lr * (weight > 0 && size > 0 ? weight / size : 1.0); }

  template <class T>
  struct Formula {
    T beta1, gain1, beta2, gain2, correction1, root_correction2, eps, weight_decay;
    HB_HD explicit Formula(const LambRule& h)
        : beta1(h.beta1),
          gain1(1 - h.beta1),
          beta2(h.beta2),
          gain2(1 - h.beta2),
          correction1(h.correction1),
          root_correction2(std::sqrt(h.correction2)),
          eps(h.eps),
          weight_decay(h.weight_decay) {}
    HB_HD void moments(T g, T& m, T& v) const {
      m = std::fma(g, gain1, m * beta1);
      v = std::fma(gain2 * g, g, v * beta2);
    }
    HB_HD T direction(T p, T m, T v) const {
      return std::fma(p, weight_decay, m / correction1 / (std::sqrt(v) / root_correction2 + eps));
    }
  };
};
HB_NO_OPERANDS(LambRule)
HB_API inline UpdateKernel<LambRule> lamb_update{"LAMB"};

/// A parameter as (batch, rows, cols), contiguous, with the factors of its second moment; or a vector, with its second
/// moment itself. The three are float, or double for double parameters. `tensor` holds no states.
struct FactoredTensor {
  UpdateTensor tensor;
  void* row_var;   // (batch, rows)
  void* col_var;   // (batch, cols)
  void* variance;  // not null: (numel)
  int64_t batch, rows, cols;
};
inline void operands(capture::Operands& v, FactoredTensor& t) {
  operands(v, t.tensor);
  v.changes(t.row_var), v.changes(t.col_var), v.changes(t.variance);
}
/// Adafactor as PyTorch has it.
struct AdafactorRule {
  double lr, beta2_decay, eps1, eps2, d, weight_decay;
  /// How much of the second moment is new.
  HB_HD double gain(double step) const { return std::pow(step, beta2_decay); }
  /// What multiplies the updates of `numel` values, by the norms of the values and of the updates.
  HB_HD double scale(double weight, double size, double step, int64_t numel) const {
    const double root = std::sqrt(static_cast<double>(numel));
    const double alpha = ::fmax(eps2, weight / root) * ::fmin(lr, 1 / std::sqrt(step));
    return -alpha / ::fmax(1.0, size / (root * d));
  }
  /// The second moment and its factors move to `fresh` by `gain`.
  template <class T>
  HB_HD static T moved(T moment, T fresh, T gain) {
    return gain < T(0.5) ? moment + gain * (fresh - moment) : fresh - (fresh - moment) * (T(1) - gain);
  }
};
HB_NO_OPERANDS(AdafactorRule)
HB_API inline Kernel<void(const UpdateCall& call, const FactoredTensor& tensor, const AdafactorRule& rule)>
    adafactor_update{"Adafactor"};

}  // namespace hb
