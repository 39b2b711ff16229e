// A program for the test of tools that watch together: trains three steps in float16, of which the second overflows,
// and prints the losses. With the argument `profile` it prints what the profiler saw, with `story` where the overflow
// began.
#include <halfbridge/profiler.h>
#include <torch/torch.h>

#include <iostream>
#include <limits>
#include <set>
#include <string>

#include "net.h"

void print(const hb::profiler::Profile& profile) {
  for (const auto& event : profile.events()) {
    std::cout << "profile " << static_cast<int>(event.kind) << ' ' << event.name;
    for (const auto& shape : event.shapes) std::cout << ' ' << torch::IntArrayRef(shape);
    std::cout << '\n';
  }
}

int main(int argc, char** argv) {
  const std::set<std::string> wanted(argv + 1, argv + argc);
  torch::manual_seed(7);
  const torch::Tensor images = torch::randn({16, 1, 8, 8}), labels = torch::arange(16).remainder(10);
  Net net;
  torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  torch::amp::GradScaler scaler("cpu", 8.0);
  if (wanted.count("story")) scaler.trace_overflow(net);
  if (wanted.count("profile")) hb::profiler::start({/*record_shapes=*/true});
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::nn::functional::cross_entropy(net.forward(images), labels);
    // An infinite gradient for a loss that is finite.
    if (step == 1) loss = loss + torch::sqrt(loss.detach().sub(loss)) * 1e-30;
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
    std::cout.precision(9);
    std::cout << "loss " << loss.item<float>() << '\n';
    if (wanted.count("story") && scaler.last_overflow()) std::cout << "story " << *scaler.last_overflow() << '\n';
  }
  if (wanted.count("profile")) print(hb::profiler::stop());
}
