#pragma once
// Every optimizer that the update kernels serve, and parameters and gradients for them.

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace optim = torch::optim;
using torch::Tensor;
using Tensors = std::vector<Tensor>;

namespace every_optimizer {

using Make = std::function<std::unique_ptr<optim::Optimizer>(Tensors)>;

template <class Optimizer, class Options>
Make make(Options options) {
  return [=](Tensors params) { return std::make_unique<Optimizer>(std::move(params), options); };
}

/// With options that use all of its state.
inline std::vector<std::pair<const char*, Make>> optimizers() {
  return {
      {"SGD", make<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9).dampening(0.5).weight_decay(0.01))},
      {"Adam", make<optim::Adam>(optim::AdamOptions(0.1).amsgrad(true).weight_decay(0.01))},
      {"AdamW", make<optim::AdamW>(optim::AdamWOptions(0.1))},
      {"RMSprop", make<optim::RMSprop>(optim::RMSpropOptions(0.1).momentum(0.5).centered(true))},
      {"Adagrad", make<optim::Adagrad>(optim::AdagradOptions(0.1).lr_decay(0.1).initial_accumulator_value(0.1))},
      {"Adamax", make<optim::Adamax>(optim::AdamaxOptions(0.1))},
      {"Adadelta", make<optim::Adadelta>(optim::AdadeltaOptions(0.5))},
      {"NAdam", make<optim::NAdam>(optim::NAdamOptions(0.1))},
      {"RAdam", make<optim::RAdam>(optim::RAdamOptions(0.1))},
      {"ASGD", make<optim::ASGD>(optim::ASGDOptions(0.1).t0(2))},
      {"Rprop", make<optim::Rprop>(optim::RpropOptions(0.01))},
      {"LAMB", make<optim::LAMB>(optim::LAMBOptions(0.01, {0.9, 0.99}, 1e-6, 0.1))},
      {"Adafactor", make<optim::Adafactor>(optim::AdafactorOptions(0.05))},
      {"Lion", make<optim::Lion>(optim::LionOptions(0.01).weight_decay(0.1))},
  };
}

inline Tensors leaves(torch::Dtype dtype = torch::kFloat) {
  torch::manual_seed(5);
  return {torch::randn({20, 40}).to(dtype).requires_grad_(), torch::randn({7}).to(dtype).requires_grad_()};
}
inline Tensors draw(const Tensors& like, uint64_t seed) {
  torch::manual_seed(seed);
  Tensors grads;
  for (const auto& p : like) grads.push_back(torch::randn(p.sizes().vec()));
  return grads;
}
inline void set_grads(const Tensors& params, const Tensors& grads) {
  for (size_t i = 0; i < params.size(); ++i) Tensor(params[i]).mutable_grad() = grads[i].to(params[i].scalar_type());
}
inline void expect_equal(const Tensors& a, const Tensors& b, const char* what) {
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].equal(b[i])) << what << ", parameter " << i;
}
/// State and options as a file holds them.
inline std::string saved(const optim::Optimizer& optimizer) {
  std::ostringstream text;
  text << optimizer.state_dict();
  return text.str();
}

}  // namespace every_optimizer
