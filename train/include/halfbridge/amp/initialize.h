#pragma once
// apex's way: initialize(), and a scope around the backward pass.

#include <optional>
#include <string>
#include <tuple>

#include <halfbridge/amp/levels.h>
#include <halfbridge/bridge/amp/grad_scaler.h>
#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::amp {

/// apex's keyword arguments. What is not given follows from the level:
///
///             the network              master weights  loss scale
///   O0        as it is                 no              1
///   O1        auto                     no              dynamic (bf16: 1)
///   O2        parameters are half,     yes             dynamic (bf16: 1)
///             the black list's float32
///   O3        parameters are half      no              1
struct HB_API InitializeOptions {
  HB_ARG(ScalarType, cast_model_type) = kHalf;
  HB_ARG(std::optional<bool>, keep_batchnorm_fp32) = std::nullopt;
  HB_ARG(std::optional<bool>, master_weights) = std::nullopt;
  /// A fixed scale; 0: a dynamic one.
  HB_ARG(std::optional<double>, loss_scale) = std::nullopt;
};

namespace detail {
HB_API void initialize(bridge::nn::Module& model, bridge::optim::Optimizer& optimizer, const std::string& level,
                       const InitializeOptions& options);
}

/// Brings model and optimizer to a level and gives the optimizer a loss scaler, for scale_loss:
///   auto [net, adam] = hb::amp::initialize(model, optimizer, "O1");
/// Both are the given ones, changed in place. Level O1 is `auto` of auto_mixed_precision: functions that the model's
/// forward calls are cast too, as apex does.
template <class Model, class Optimizer>
std::tuple<Model, Optimizer&> initialize(Model model, Optimizer& optimizer, const std::string& level = "O1",
                                         const InitializeOptions& options = {}) {
  detail::initialize(*model, optimizer, level, options);
  return {std::move(model), optimizer};
}

/// The scaler that initialize() gave the optimizer; throws where it did not.
HB_API GradScaler& scaler_of(const bridge::optim::Optimizer& optimizer);

/// The loss times the scale, for one backward pass:
///   {
///     auto scaled = hb::amp::scale_loss(loss, optimizer);
///     scaled.backward();
///   }
///   optimizer.step();
/// When the scope ends the gradients are divided by the scale and the scale adapts; after an overflow the next step()
/// changes nothing. Zero the gradients in between: a second scope would divide the first one's again.
class HB_API ScaledLoss {
 public:
  ScaledLoss(const Tensor& loss, bridge::optim::Optimizer& optimizer);
  ~ScaledLoss() noexcept(false);
  ScaledLoss(const ScaledLoss&) = delete;
  ScaledLoss& operator=(const ScaledLoss&) = delete;
  void backward() const { scaled_.backward(); }
  const Tensor& operator*() const { return scaled_; }
  const Tensor* operator->() const { return &scaled_; }

 private:
  bridge::optim::Optimizer& optimizer_;
  Tensor scaled_;
  int exceptions_;
};
[[nodiscard]] inline ScaledLoss scale_loss(const Tensor& loss, bridge::optim::Optimizer& optimizer) {
  return ScaledLoss(loss, optimizer);
}

}  // namespace hb::amp
