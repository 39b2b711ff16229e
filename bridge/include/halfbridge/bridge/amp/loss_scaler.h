#pragma once
// Loss scaling with MindSpore's names: loss scalers, which work on tensors, and loss scale managers, which hold a
// number.

#include <memory>
#include <string>
#include <vector>

#include <halfbridge/ivalue.h>
#include <halfbridge/ops/amp.h>

namespace hb::amp {

/// Scales losses and unscales gradients. The scale is a tensor; nothing but load_state_dict and state_dict waits for
/// it.
class HB_API LossScaler {
 public:
  virtual ~LossScaler();
  /// The loss, or each of several tensors, times the scale (rounded to their dtype).
  Tensor scale(const Tensor& input) const;
  std::vector<Tensor> scale(const std::vector<Tensor>& inputs) const;
  /// Gradients over the scale, as new tensors of their dtype; undefined ones stay so.
  Tensor unscale(const Tensor& input) const;
  std::vector<Tensor> unscale(const std::vector<Tensor>& inputs) const;
  /// Adapts the scale to what all_finite() said of the gradients (a bool tensor). False if this scaler's is fixed.
  virtual bool adjust(const Tensor& grads_finite) = 0;
  bool adjust(bool grads_finite);
  /// float32, one element.
  const Tensor& scale_value() const { return scale_value_; }

 protected:
  /// Throws for a scale below 1.
  LossScaler(const char* name, double scale_value);
  Tensor scale_value_;
};

/// A scale that stays as it is.
class HB_API StaticLossScaler : public LossScaler {
 public:
  explicit StaticLossScaler(double scale_value);
  using LossScaler::adjust;
  bool adjust(const Tensor& grads_finite) override;
};

/// scale / scale_factor, but at least 1, when the gradients were not finite; scale * scale_factor after `scale_window`
/// times in a row that they were.
class HB_API DynamicLossScaler : public LossScaler {
 public:
  /// Throws for scale_value < 1, scale_factor < 1 and scale_window < 1.
  DynamicLossScaler(double scale_value, double scale_factor, int64_t scale_window);
  using LossScaler::adjust;
  bool adjust(const Tensor& grads_finite) override;
  double scale_factor() const { return scale_factor_; }
  int64_t scale_window() const { return scale_window_; }
  /// How often in a row the gradients were finite; int32, one element.
  const Tensor& counter() const { return counter_; }

  Dict<std::string, IValue> state_dict() const;
  void load_state_dict(const Dict<std::string, IValue>& state);

 private:
  double scale_factor_;
  int64_t scale_window_;
  Tensor counter_;
};

/// What a training step calls with its scale (float32, one element, changed in place) and whether the gradients
/// overflowed (bool, one element). Returns the latter.
class HB_API LossScaleUpdateCell {
 public:
  virtual ~LossScaleUpdateCell();
  virtual double get_loss_scale() const = 0;
  virtual Tensor operator()(Tensor& loss_scale, const Tensor& overflow) = 0;
  /// What it remembers besides the scale, for a checkpoint.
  virtual Dict<std::string, IValue> state_dict() const;
  virtual void load_state_dict(const Dict<std::string, IValue>& state);
};

/// Decides on the scale of a training loop from the overflows that it is told of.
class HB_API LossScaleManager {
 public:
  virtual ~LossScaleManager();
  virtual double get_loss_scale() const = 0;
  virtual void update_loss_scale(bool overflow) = 0;
  /// Whether an update is skipped when a gradient overflowed.
  virtual bool get_drop_overflow_update() const = 0;
  /// The same decision as an object that works on tensors; null where none is needed.
  virtual std::shared_ptr<LossScaleUpdateCell> get_update_cell() const = 0;
  /// What a checkpoint must hold; empty for a scaler that never changes.
  virtual Dict<std::string, IValue> state_dict() const;
  virtual void load_state_dict(const Dict<std::string, IValue>& state);
};

class HB_API FixedLossScaleManager : public LossScaleManager {
 public:
  /// Throws for a scale below 1.
  explicit FixedLossScaleManager(double loss_scale = 128.0, bool drop_overflow_update = true);
  double get_loss_scale() const override { return loss_scale_; }
  void update_loss_scale(bool overflow) override { (void)overflow; }
  bool get_drop_overflow_update() const override { return drop_overflow_update_; }
  /// Null without drop_overflow_update.
  std::shared_ptr<LossScaleUpdateCell> get_update_cell() const override;

 private:
  double loss_scale_;
  bool drop_overflow_update_;
};

class HB_API DynamicLossScaleManager : public LossScaleManager {
 public:
  /// Throws for init_loss_scale < 1, scale_factor <= 0 and scale_window < 1.
  explicit DynamicLossScaleManager(double init_loss_scale = 16777216.0, double scale_factor = 2.0,
                                   int64_t scale_window = 2000);
  double get_loss_scale() const override { return loss_scale_; }
  /// Throws after more than 1000 overflows in a row.
  void update_loss_scale(bool overflow) override;
  bool get_drop_overflow_update() const override { return true; }
  std::shared_ptr<LossScaleUpdateCell> get_update_cell() const override;
  Dict<std::string, IValue> state_dict() const override;
  void load_state_dict(const Dict<std::string, IValue>& state) override;

 private:
  double loss_scale_, scale_factor_;
  int64_t scale_window_, cur_iter_ = 1, last_overflow_iter_ = 0, bad_steps_ = 0;
};

}  // namespace hb::amp
