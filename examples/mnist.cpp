// An MLP on MNIST: `example_mnist DIR` where DIR holds the four IDX files, unpacked.
#include <torch/torch.h>

#include <cstdio>
#include <exception>

struct Net : torch::nn::Module {
  Net() {
    fc1 = register_module("fc1", torch::nn::Linear(784, 256));
    fc2 = register_module("fc2", torch::nn::Linear(256, 10));
  }
  torch::Tensor forward(torch::Tensor x) { return fc2(torch::relu(fc1(x.flatten(1)))); }
  torch::nn::Linear fc1{nullptr}, fc2{nullptr};
};

auto mnist(const char* dir, torch::data::datasets::MNIST::Mode mode) {
  return torch::data::datasets::MNIST(dir, mode)
      .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
      .map(torch::data::transforms::Stack<>());
}

int main(int argc, char** argv) try {
  using Mode = torch::data::datasets::MNIST::Mode;
  const char* dir = argc > 1 ? argv[1] : ".";
  torch::manual_seed(1);
  Net net;
  torch::optim::Adam optimizer(net.parameters(), torch::optim::AdamOptions(1e-3));
  auto training = torch::data::make_data_loader(mnist(dir, Mode::kTrain), /*batch_size=*/64);
  auto test = torch::data::make_data_loader(mnist(dir, Mode::kTest), /*batch_size=*/1000);

  for (int epoch = 1; epoch <= 3; ++epoch) {
    net.train();
    double total = 0;
    int64_t batches = 0;
    for (auto& batch : *training) {
      optimizer.zero_grad();
      auto loss = torch::nn::functional::cross_entropy(net.forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
      ++batches;
    }
    net.eval();
    torch::NoGradGuard no_grad;
    int64_t right = 0, seen = 0;
    for (auto& batch : *test) {
      right += net.forward(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
      seen += batch.target.size(0);
    }
    std::printf("epoch %d: loss %.4f, accuracy %.4f\n", epoch, total / static_cast<double>(batches),
                static_cast<double>(right) / static_cast<double>(seen));
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
