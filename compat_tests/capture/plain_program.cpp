// A program that knows nothing of traces: two training steps.
#include <torch/torch.h>

#include <iostream>

int main() {
  torch::manual_seed(1);
  torch::nn::Conv2d conv(1, 2, 3);
  torch::nn::Linear fc(2 * 3 * 3, 4);
  auto parameters = conv->parameters();
  for (const auto& p : fc->parameters()) parameters.push_back(p);
  torch::optim::SGD optimizer(parameters, 0.1);
  const auto x = torch::randn({2, 1, 8, 8});
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    const auto y = fc(torch::max_pool2d(torch::relu(conv(x)), 2).flatten(1));
    const auto loss = torch::nn::functional::cross_entropy(y, torch::tensor({1, 2}));
    loss.backward();
    optimizer.step();
    std::cout << loss.item<float>() << "\n";
  }
}
