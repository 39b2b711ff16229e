// A program that knows nothing of traces, for the test of HALFBRIDGE_TRACE: trains two steps and prints the loss.
// An argument makes it end otherwise: `throw` by an exception, `exit` in the middle. `captured` makes six steps by a
// graph.
#include <halfbridge/graph.h>
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>

#include "net.h"

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "help") return 0;
  torch::manual_seed(argc > 2 ? std::atoi(argv[2]) : 1);
  torch::Tensor images = torch::rand({16, 1, 8, 8});
  const torch::Tensor labels = torch::arange(16).remainder(10);
  torch::manual_seed(7);
  auto net = std::make_shared<Net>();
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  images = (images - 0.5) / 0.25;  // preprocessing, not the network
  if (argc > 2) torch::manual_seed(std::atoi(argv[2]));
  if (how == "captured") {
    auto captured = hb::graph::compile([&] {
      optimizer.zero_grad();
      torch::nn::functional::cross_entropy(net->forward(images), labels).backward();
      optimizer.step();
    });
    for (int step = 0; step < 6; ++step) captured();
    return 0;
  }
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    const torch::Tensor loss = torch::nn::functional::cross_entropy(net->forward(images), labels);
    loss.backward();
    optimizer.step();
    std::cout.precision(9);
    std::cout << loss.item<float>() << '\n';
    if (how == "throw") throw std::runtime_error("the data ran out");
    if (how == "exit") std::exit(0);
  }
}
