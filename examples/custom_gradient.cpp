// A function with a gradient of its own: forward rounds to whole numbers, backward pretends that it did not,
// so that a parameter can be learnt through the rounding.
#include <torch/torch.h>

#include <cstdio>
#include <iostream>

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct RoundThrough : torch::autograd::Function<RoundThrough> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x, double limit) {
    ctx->save_for_backward({x});
    ctx->saved_data["limit"] = limit;
    return x.clamp(-limit, limit).round();
  }

  static variable_list backward(AutogradContext* ctx, variable_list grad_outputs) {
    const auto x = ctx->get_saved_variables()[0];
    const auto inside = x.abs() <= ctx->saved_data["limit"].toDouble();
    return {grad_outputs[0] * inside.to(torch::kFloat), torch::Tensor()};  // `limit` has no gradient
  }
};

int main() {
  torch::manual_seed(3);
  const auto target = torch::tensor({3.0f, -2.0f, 0.0f, 5.0f});
  auto weights = torch::randn({4}, torch::requires_grad());
  torch::optim::SGD optimizer({weights}, /*lr=*/0.1);
  for (int step = 0; step < 60; ++step) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(RoundThrough::apply(weights, 8.0), target);
    loss.backward();
    optimizer.step();
    if (step % 20 == 0) std::printf("step %2d: loss %.4f\n", step, loss.item<float>());
  }
  const auto rounded = RoundThrough::apply(weights, 8.0);
  std::cout << rounded << std::endl;
  return torch::equal(rounded, target) ? 0 : 1;
}
