#pragma once
// Networks with a training step, to be run eagerly and captured, and what both leave behind.

#include <gtest/gtest.h>
#include <halfbridge/graph.h>
#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

#include <cstring>
#include <functional>

namespace steps {

namespace nn = torch::nn;
using torch::Tensor;

/// A network with its data; what a step needs.
struct World {
  std::shared_ptr<nn::Module> net;
  std::function<Tensor(Tensor)> forward;
  std::function<Tensor(Tensor out, Tensor target)> loss;
  std::function<std::pair<Tensor, Tensor>()> batch;
};

World mlp();
World lenet();
World resnet();
World gpt();
World lstm();

inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  const Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  return std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

/// Parameters, their gradients and buffers.
inline std::vector<Tensor> state_of(const nn::Module& net) {
  std::vector<Tensor> all;
  for (const auto& p : net.parameters()) {
    all.push_back(p.detach().clone());
    all.push_back(p.grad().defined() ? p.grad().detach().clone() : Tensor());
  }
  for (const auto& b : net.buffers()) all.push_back(b.detach().clone());
  return all;
}

inline ::testing::AssertionResult same_state(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << a.size() << " tensors and " << b.size();
  for (size_t i = 0; i < a.size(); ++i)
    if (!same_bits(a[i], b[i])) return ::testing::AssertionFailure() << "tensor " << i << " differs";
  return ::testing::AssertionSuccess();
}

using Optimizer = std::shared_ptr<torch::optim::Optimizer>;
using MakeOptimizer = Optimizer (*)(const nn::Module& net);
template <class O, class Options>
Optimizer make(const nn::Module& net, const Options& options) {
  return std::make_shared<O>(net.parameters(), options);
}

/// Where gradients are dropped: in a step, before and after its update, or between steps.
enum class Drop { first, last, outside };

}  // namespace steps
