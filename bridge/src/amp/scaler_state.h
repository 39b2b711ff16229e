#pragma once
// What a GradScaler keeps between calls.

#include <map>
#include <memory>
#include <vector>

#include <halfbridge/bridge/amp/grad_scaler.h>

namespace hb::amp {

class OverflowTracer;

/// Where an optimizer is between two updates of the scale.
enum class OptState { kReady, kUnscaled, kStepped };

struct PerOptimizer {
  OptState stage = OptState::kReady;
  std::vector<Tensor> found_inf;  // one per device
};

struct GradScaler::State {
  State(Device device, const GradScalerOptions& options);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Device device;
  GradScalerOptions options;
  Tensor scale, growth_tracker;  // made by the first scale()
  int64_t init_growth_tracker = 0;
  int64_t updates = 0;
  std::map<const Optimizer*, PerOptimizer> optimizers;
  std::shared_ptr<OverflowTracer> tracer;
  std::optional<Overflow> last_overflow;

  /// The scale, where the outputs are.
  Tensor scale_on(const Device& where);
  /// Throws unless scale() was called.
  void check_scale(const char* function) const;
  /// Looks at the gradients, and unscales them if that is asked for, in one pass. Fills `found_inf`.
  void check_grads(PerOptimizer& optimizer, const std::vector<Tensor>& grads, bool unscale);
  void unscale_once(PerOptimizer& optimizer, const std::vector<Tensor>& grads);
  /// The sum of the flags, on the device of the scale.
  Tensor found_inf(const PerOptimizer& optimizer) const;

  /// Whether a loss was scaled since the last update, and which gradients were unscaled since: for warn_if_scaled().
  void set_pending(bool now);
  void note_unscaled(const std::vector<Tensor>& grads);
};

}  // namespace hb::amp
