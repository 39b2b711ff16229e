// A program that runs a scripted network, and one that compiles a script itself.
#include <torch/script.h>

namespace script = torch::jit;

int main(int argc, char** argv) {
  script::Module net = torch::jit::load(argv[argc - 1]);
  torch::jit::script::Module copy = net;
  std::vector<torch::jit::IValue> inputs{torch::ones({1, 3})};
  const torch::Tensor y = net.forward(inputs).toTensor();
  const auto unit = torch::jit::compile("def f(x):\n  return x + 1");
  torch::jit::freeze(net);
  torch::jit::setGraphExecutorOptimize(false);
  return y.defined() ? 0 : 1;
}
