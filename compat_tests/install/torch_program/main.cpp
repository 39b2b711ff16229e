// Learns XOR, saves the net, loads it again, and checks that it still answers right.
#include <ATen/ops/mse_loss_backward.h>
#include <torch/torch.h>

#include <iostream>

struct Net : torch::nn::Module {
  Net() {
    hidden = register_module("hidden", torch::nn::Linear(2, 16));
    output = register_module("output", torch::nn::Linear(16, 1));
  }
  torch::Tensor forward(torch::Tensor x) { return output(torch::tanh(hidden(x))); }
  torch::nn::Linear hidden{nullptr}, output{nullptr};
};

int64_t largest_below(const at::Tensor& values, int64_t limit);  // types_only.cpp

int main() {
  if (largest_below(torch::tensor({3, 9, 4}), 9) != 4) return 2;
  torch::manual_seed(1);
  auto net = std::make_shared<Net>();
  const auto inputs = torch::tensor({0.f, 0.f, 0.f, 1.f, 1.f, 0.f, 1.f, 1.f}).view({4, 2});
  const auto targets = torch::tensor({0.f, 1.f, 1.f, 0.f}).view({4, 1});
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.05));
  for (int step = 0; step < 300; ++step) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(net->forward(inputs), targets);
    loss.backward();
    optimizer.step();
  }
  torch::save(net, "net.pt");
  auto loaded = std::make_shared<Net>();
  torch::load(loaded, "net.pt");

  torch::NoGradGuard no_grad;
  const auto answer = loaded->forward(inputs);
  const auto slope = at::mse_loss_backward(torch::ones({}), answer, targets, at::Reduction::Sum);
  if (!slope.equal(2 * (answer - targets))) return 1;
  std::cout << answer << std::endl;
  const float worst = (answer - targets).abs().max().item<float>();
  std::cout << "worst error " << worst << std::endl;
  return worst < 0.1f ? 0 : 1;
}
