// Timed by the compiler alone: what a user's file costs that includes <torch/torch.h> and trains an MLP.
#include <torch/torch.h>

#include <iostream>

struct Net : torch::nn::Module {
  Net() {
    fc1 = register_module("fc1", torch::nn::Linear(784, 64));
    fc2 = register_module("fc2", torch::nn::Linear(64, 10));
  }
  torch::Tensor forward(torch::Tensor x) { return torch::log_softmax(fc2(torch::relu(fc1(x))), 1); }
  torch::nn::Linear fc1{nullptr}, fc2{nullptr};
};

int main() {
  auto net = std::make_shared<Net>();
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      torch::data::datasets::MNIST("./data").map(torch::data::transforms::Stack<>()), /*batch_size=*/64);
  torch::optim::SGD optimizer(net->parameters(), /*lr=*/0.01);
  for (size_t epoch = 1; epoch <= 10; ++epoch) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = torch::nll_loss(net->forward(batch.data.view({-1, 784})), batch.target);
      loss.backward();
      optimizer.step();
      std::cout << "Epoch: " << epoch << " | Loss: " << loss.item<float>() << std::endl;
    }
    torch::save(net, "net.pt");
  }
}
