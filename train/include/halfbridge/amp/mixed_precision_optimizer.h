#pragma once
// Loss scaling around an optimizer alone.

#include <memory>
#include <string>
#include <vector>

#include <halfbridge/bridge/amp/grad_scaler.h>
#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::amp {

/// A loss scale in a call: "dynamic", or a number that it stays at.
class HB_API FixedOrDynamic {
 public:
  FixedOrDynamic(double scale);      // NOLINT: implicit. Throws ValueError unless it is above 0 and finite.
  FixedOrDynamic(const char* word);  // NOLINT. Throws ValueError for a word other than "dynamic".
  FixedOrDynamic(const std::string& word) : FixedOrDynamic(word.c_str()) {}  // NOLINT
  bool is_dynamic() const { return fixed_ == 0; }
  /// 0 for a dynamic one.
  double fixed() const { return fixed_; }

 private:
  double fixed_ = 0;
};

/// Scales losses, and around each step unscales the gradients, leaves the step out where one of them overflowed, and
/// adapts the scale. The optimizer is used through it, not copied, and must outlive it.
class HB_API MixedPrecisionOptimizer {
 public:
  using Optimizer = bridge::optim::Optimizer;
  MixedPrecisionOptimizer(Optimizer& optimizer, const FixedOrDynamic& loss_scale, GradScalerOptions options = {});

  /// The loss times the scale.
  Tensor scale(const Tensor& loss) { return scaler_.scale(loss); }
  void backward(const Tensor& loss) { scale(loss).backward(); }
  /// Unscales before the step, to look at gradients or to clip them.
  void unscale_() { scaler_.unscale_(optimizer_); }
  void unscale_(const std::vector<Tensor>& grads) { scaler_.unscale_(optimizer_, grads); }
  /// Unscales unless that is done, steps unless a gradient overflowed, adapts the scale. What the optimizer's step
  /// returned.
  Tensor step();
  /// The same with explicit gradients of the scaled loss, one per parameter.
  Tensor step(const std::vector<Tensor>& grads);
  Tensor operator()(const std::vector<Tensor>& grads) { return step(grads); }
  void zero_grad(bool set_to_none = true) { optimizer_.zero_grad(set_to_none); }

  double loss_scale() const { return scaler_.get_scale(); }
  Optimizer& optimizer() const { return optimizer_; }
  /// For state_dict() and trace_overflow().
  GradScaler& scaler() { return scaler_; }

 private:
  void adapt();

  Optimizer& optimizer_;
  double fixed_;
  GradScaler scaler_;
};

///   auto optimizer = hb::amp::enable_mixed_precision(adam);         // or (adam, 1024)
///   optimizer.zero_grad();
///   optimizer.backward(loss_of(batch));
///   optimizer.step();
inline MixedPrecisionOptimizer enable_mixed_precision(bridge::optim::Optimizer& optimizer,
                                                      const FixedOrDynamic& loss_scale = "dynamic") {
  return MixedPrecisionOptimizer(optimizer, loss_scale);
}

}  // namespace hb::amp
