// The time of a training step on some ranks: `halfbridge run -n N distributed_steps MODEL HOW`, HOW being ddp or
// by_hand (an allreduce per parameter after the backward pass, as one writes it without DistributedDataParallel). With
// one rank it is the step alone. Rank 0 prints the median of the slowest rank's times, in milliseconds, the megabytes
// of gradients, and the link that its own sums measured.
#include <torch/nn/parallel/distributed.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "../nets.h"

namespace dist = hb::distributed;
using Clock = std::chrono::steady_clock;

namespace {

double since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

double slowest(double own) {
  const torch::Tensor t = torch::full({1}, own, torch::kDouble);
  dist::all_reduce(*dist::default_group(), t, dist::ReduceOp::MAX);
  return t.item<double>();
}

void average(const std::vector<torch::Tensor>& parameters) {
  for (const auto& p : parameters) {
    std::vector<torch::Tensor> list{p.grad()};
    dist::default_group()->allreduce(list)->wait();
    p.grad().div_(dist::get_group_size());
  }
}

template <class Net, class LossFn>
void measure(Net net, const std::string& how, const LossFn& loss_of) {
  torch::nn::parallel::DistributedDataParallel model(net);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9));
  int64_t bytes = 0;
  for (const auto& p : net->parameters()) bytes += p.numel() * 4;
  std::vector<double> times;
  for (const auto began = Clock::now(); slowest(since(began)) < 4 || times.size() < 8;) {
    const auto step = Clock::now();
    optimizer.zero_grad();
    if (how == "ddp") {
      loss_of([&](const torch::Tensor& x) { return model(x); }).backward();
    } else {
      loss_of([&](const torch::Tensor& x) { return net->forward(x); }).backward();
      average(net->parameters());
    }
    optimizer.step();
    times.push_back(slowest(since(step)));
  }
  std::sort(times.begin(), times.end());
  if (dist::get_rank() == 0)
    std::printf("%.4f ms %.3f MB\n", 1e3 * times[times.size() / 2], 1e-6 * static_cast<double>(bytes));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "mlp", how = argc > 2 ? argv[2] : "ddp";
  torch::set_num_threads(1);
  dist::init();
  torch::manual_seed(1);
  if (name == "mlp") {
    const auto x = torch::randn({64, 784});
    const auto y = torch::randint(10, {64}, torch::kLong);
    measure(bench::Mlp(), how, [&](auto&& f) { return torch::nn::functional::cross_entropy(f(x), y); });
  } else if (name == "gpt") {
    bench::GptShape shape;
    shape.batch = 4;
    const auto tokens = torch::randint(shape.vocabulary, {shape.batch, shape.length}, torch::kLong);
    measure(bench::Gpt(shape), how, [&](auto&& f) {
      return torch::nn::functional::cross_entropy(f(tokens).view({-1, shape.vocabulary}), tokens.view({-1}));
    });
  } else {
    const auto x = torch::randn({16, 3, 32, 32});
    const auto y = torch::randint(10, {16}, torch::kLong);
    measure(bench::ResNet18(), how, [&](auto&& f) { return torch::nn::functional::cross_entropy(f(x), y); });
  }
  dist::destroy();
}
