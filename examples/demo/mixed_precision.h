// Training in half precision by hand, as a LibTorch program does it: the net's weights and activations are
// half, the optimizer works on f32 copies of the weights, and for fp16 the loss is scaled so that small
// gradients survive.
#pragma once

#include <torch/torch.h>

#include <vector>

namespace demo {

/// The f32 weights that an optimizer updates, beside the half weights that the net computes with. For an f32
/// net they are the net's own weights and nothing is copied.
class MasterWeights {
 public:
  explicit MasterWeights(const torch::nn::Module& net) : own_(net.parameters()) {
    for (const auto& p : own_) {
      master_.push_back(p.scalar_type() == torch::kFloat ? p : p.detach().to(torch::kFloat).requires_grad_());
    }
  }

  const std::vector<torch::Tensor>& parameters() const { return master_; }

  /// Takes the net's gradients, divided by the loss scale. False if one of them is infinite or not a number.
  bool take_gradients(double loss_scale) {
    bool finite = true;
    for (size_t i = 0; i < own_.size(); ++i) {
      if (own_[i].is_same(master_[i])) continue;
      auto grad = own_[i].grad().to(torch::kFloat);
      if (loss_scale != 1.0) grad.mul_(1.0 / loss_scale);
      finite = finite && torch::isfinite(grad.sum()).item<bool>();
      master_[i].mutable_grad() = grad;
    }
    return finite;
  }

  /// Rounds the updated weights to half.
  void give_weights() {
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < own_.size(); ++i) {
      if (!own_[i].is_same(master_[i])) own_[i].copy_(master_[i]);
    }
  }

 private:
  std::vector<torch::Tensor> own_, master_;
};

/// Starts high, halves after a step whose gradients overflowed, doubles after many that did not.
class LossScale {
 public:
  explicit LossScale(bool enabled) : enabled_(enabled), scale_(enabled ? 65536.0 : 1.0) {}

  double value() const { return scale_; }

  void update(bool finite) {
    if (!enabled_) return;
    good_ = finite ? good_ + 1 : 0;
    if (!finite) scale_ = scale_ > 1 ? scale_ / 2 : 1;
    if (good_ == kGrowAfter) {
      scale_ *= 2;
      good_ = 0;
    }
  }

 private:
  static constexpr int kGrowAfter = 500;
  bool enabled_;
  double scale_;
  int good_ = 0;
};

}  // namespace demo
