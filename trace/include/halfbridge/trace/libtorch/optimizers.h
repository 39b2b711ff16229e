#pragma once
// The tensors of LibTorch's optimizer states, by the names that PyTorch gives them.

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <torch/torch.h>

namespace hb::trace::libtorch {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

inline NamedTensors tensors_of(const torch::optim::OptimizerParamState& state) {
  using namespace torch::optim;                                                      // NOLINT
  const auto step = [](int64_t n) { return torch::tensor(static_cast<float>(n)); };  // a tensor in Python
  if (const auto* s = dynamic_cast<const SGDParamState*>(&state)) return {{"momentum_buffer", s->momentum_buffer()}};
  if (const auto* s = dynamic_cast<const AdamParamState*>(&state)) {
    return {{"step", step(s->step())},
            {"exp_avg", s->exp_avg()},
            {"exp_avg_sq", s->exp_avg_sq()},
            {"max_exp_avg_sq", s->max_exp_avg_sq()}};
  }
  if (const auto* s = dynamic_cast<const AdamWParamState*>(&state)) {
    return {{"step", step(s->step())},
            {"exp_avg", s->exp_avg()},
            {"exp_avg_sq", s->exp_avg_sq()},
            {"max_exp_avg_sq", s->max_exp_avg_sq()}};
  }
  if (const auto* s = dynamic_cast<const RMSpropParamState*>(&state)) {
    return {{"step", step(s->step())},
            {"square_avg", s->square_avg()},
            {"momentum_buffer", s->momentum_buffer()},
            {"grad_avg", s->grad_avg()}};
  }
  if (const auto* s = dynamic_cast<const AdagradParamState*>(&state))
    return {{"step", step(s->step())}, {"sum", s->sum()}};
  return {};
}

/// An optimizer that the trace was told of.
class WatchedOptimizer {
 public:
  explicit WatchedOptimizer(torch::optim::Optimizer& optimizer) : optimizer_(&optimizer) {}

  bool has(const torch::Tensor& parameter) const {
    for (const auto& group : optimizer_->param_groups())
      for (const auto& p : group.params())
        if (p.is_same(parameter)) return true;
    return false;
  }
  NamedTensors state_of(const torch::Tensor& parameter) const {
    for (const auto& item : optimizer_->state())
      if (is_key_of(item.first, parameter)) return tensors_of(*item.second);
    return {};
  }

 private:
  static bool is_key_of(const void* key, const torch::Tensor& t) { return key == t.unsafeGetTensorImpl(); }
  // LibTorch before 2.0: the address as text.
  static bool is_key_of(const std::string& key, const torch::Tensor& t) {
    std::ostringstream address;
    address << t.unsafeGetTensorImpl();
    return key == address.str();
  }
  torch::optim::Optimizer* optimizer_;
};

}  // namespace hb::trace::libtorch
