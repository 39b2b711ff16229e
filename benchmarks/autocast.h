// Mixed precision of a forward pass, by the switches that LibTorch has too.
#pragma once

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <optional>

namespace bench {

/// nullopt: none.
using Precision = std::optional<torch::Dtype>;
class Autocast {
 public:
  explicit Autocast(Precision precision, torch::DeviceType device = torch::kCPU)
      : device_(device), on_(precision.has_value()) {
    if (!on_) return;
    at::autocast::set_autocast_enabled(device_, true);
    at::autocast::set_autocast_dtype(device_, *precision);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    if (!on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, false);
  }

 private:
  torch::DeviceType device_;
  bool on_;
};

}  // namespace bench
