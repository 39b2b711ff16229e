#pragma once
// Gradient scaling for training in half precision: torch::amp::GradScaler.

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <halfbridge/bridge/amp/overflow.h>
#include <halfbridge/bridge/arg.h>
#include <halfbridge/bridge/optim/optimizer.h>
#include <halfbridge/ivalue.h>
#include <halfbridge/owned.h>

namespace hb::amp {

/// PyTorch's keyword arguments.
struct HB_API GradScalerOptions {
  HB_ARG(double, init_scale) = 65536.0;
  HB_ARG(double, growth_factor) = 2.0;
  HB_ARG(double, backoff_factor) = 0.5;
  HB_ARG(int64_t, growth_interval) = 2000;
  HB_ARG(bool, enabled) = true;
};

/// Multiplies losses by a scale so that small gradients survive in half precision, divides the gradients by it again
/// before the optimizer sees them, skips the update when one of them overflowed, and adapts the scale: half of it after
/// an overflow, twice after `growth_interval` updates without one. Behaves as PyTorch's torch.amp.GradScaler:
///
///   scaler.scale(loss).backward();
///   scaler.step(optimizer);
///   scaler.update();
///
/// The scale and the overflow flags are tensors on the device of the losses. With the library's own optimizers no call
/// here reads them back; with an optimizer of the program's own, step() reads the flag to decide whether to call it.
class HB_API GradScaler {
 public:
  using Optimizer = bridge::optim::Optimizer;
  using StateDict = Dict<std::string, IValue>;

  /// `device` is where losses and gradients live. "cuda" without CUDA warns and disables the scaler, as in PyTorch.
  /// Throws for growth_factor <= 1 and backoff_factor >= 1.
  explicit GradScaler(Device device = kCUDA, GradScalerOptions options = {});
  GradScaler(Device device, double init_scale, double growth_factor = 2.0, double backoff_factor = 0.5,
             int64_t growth_interval = 2000, bool enabled = true);
  GradScaler(GradScaler&&) noexcept;
  GradScaler& operator=(GradScaler&&) noexcept;
  GradScaler(const GradScaler&) = delete;
  GradScaler& operator=(const GradScaler&) = delete;
  ~GradScaler();

  /// The loss (or each of several) times the scale; float32 even for a half loss.
  Tensor scale(const Tensor& output);
  std::vector<Tensor> scale(const std::vector<Tensor>& outputs);
  template <class... Ts>
  std::tuple<Ts...> scale(const std::tuple<Ts...>& outputs) {
    return std::apply([this](const auto&... t) { return std::tuple<Ts...>(scale(t)...); }, outputs);
  }

  /// Divides the gradients of the optimizer's parameters by the scale in place and looks for inf and NaN, in one pass
  /// over memory. Once per optimizer and update(). Throws for half gradients, which cannot be unscaled without loss.
  void unscale_(Optimizer& optimizer);
  /// The same for gradients that are not in the parameters: one per parameter of all groups, in order; undefined ones
  /// are passed over.
  void unscale_(Optimizer& optimizer, const std::vector<Tensor>& grads);

  /// Unscales unless that is done, then optimizer.step() where no gradient overflowed. Returns what the optimizer's
  /// step returned. A closure is refused.
  Tensor step(Optimizer& optimizer, Optimizer::LossClosure closure = nullptr);
  /// With explicit gradients: optimizer.step(grads).
  Tensor step(Optimizer& optimizer, const std::vector<Tensor>& grads, Optimizer::LossClosure closure = nullptr);

  /// Ends an iteration: adapts the scale, or sets a new one. After all optimizers have stepped.
  void update();
  void update(double new_scale);
  void update(const Tensor& new_scale);

  /// The current scale, 1 if disabled. Waits for the device.
  double get_scale() const;
  double get_growth_factor() const;
  void set_growth_factor(double new_factor);
  double get_backoff_factor() const;
  void set_backoff_factor(double new_factor);
  int64_t get_growth_interval() const;
  void set_growth_interval(int64_t new_interval);
  bool is_enabled() const;

  /// "scale", "growth_factor", "backoff_factor", "growth_interval" and "_growth_tracker"; empty if disabled. Take it
  /// after update().
  StateDict state_dict() const;
  void load_state_dict(const StateDict& state);

  // PyTorch's private names, which programs use.
  /// The scale as a tensor on its device; undefined before the first scale().
  Tensor _get_scale_async() const;
  int64_t _get_growth_tracker() const;
  /// The optimizer's overflow flags since the last update, one per device: not 0 after an overflow.
  std::vector<Tensor> _found_inf_per_device(const Optimizer& optimizer) const;

  /// From now on, finds out where an overflow began: which operation of which of the model's layers, and which
  /// parameter. Looks at every value that the model computes, which is slow; stop with stop_tracing().
  void trace_overflow(bridge::nn::Module& model);
  void stop_tracing();
  bool is_tracing() const;
  /// The last overflow that was traced.
  std::optional<Overflow> last_overflow() const;

  /// Internal.
  struct State;

 private:
  friend HB_API bridge::serialize::OutputArchive& operator<<(bridge::serialize::OutputArchive& archive,
                                                             const GradScaler& scaler);
  Tensor step_with(Optimizer& optimizer, const std::vector<Tensor>* grads, const Optimizer::LossClosure& closure);
  void finish_update();
  hb::detail::Owned<State> state_;
};

HB_API bridge::serialize::OutputArchive& operator<<(bridge::serialize::OutputArchive& archive,
                                                    const GradScaler& scaler);
HB_API bridge::serialize::InputArchive& operator>>(bridge::serialize::InputArchive& archive, GradScaler& scaler);

}  // namespace hb::amp
