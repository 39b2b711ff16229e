// gpu_speed FILE [small]: rates on the CUDA device, as JSON. gpu_speed.py measures the same in Python's PyTorch.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace {

namespace nn = torch::nn;
const torch::Device kGpu(torch::kCUDA, 0);

/// Seconds of a call, the median of five rounds.
double seconds(int calls, const std::function<void()>& call) {
  std::vector<double> rounds;
  for (int round = 0; round < 6; ++round) {
    torch::cuda::synchronize();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    torch::cuda::synchronize();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (round > 0) rounds.push_back(took.count() / calls);  // the first one warms up
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[2];
}

double mlp_steps(int calls) {
  nn::Sequential net(nn::Linear(784, 512), nn::ReLU(), nn::Linear(512, 512), nn::ReLU(), nn::Linear(512, 10));
  net->to(kGpu);
  torch::optim::SGD sgd(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  const auto x = torch::randn({64, 784}, kGpu),
             y = torch::arange(64, torch::device(kGpu).dtype(torch::kLong)).remainder(10);
  return 1 / seconds(calls, [&] {
           sgd.zero_grad();
           nn::functional::cross_entropy(net->forward(x), y).backward();
           sgd.step();
         });
}

double adam_bytes(int64_t n, int calls) {
  auto p = torch::zeros({n}, kGpu).requires_grad_();
  p.mutable_grad() = torch::ones({n}, kGpu);
  torch::optim::Adam adam({p}, torch::optim::AdamOptions(1e-3));
  // Parameter and two moments are read and written, the gradient is read.
  return 7 * 4.0 * static_cast<double>(n) / seconds(calls, [&] { adam.step(); });
}

/// Says in a sentence why there is no GPU, where there is none.
int check() {
  try {
    torch::empty({1}, kGpu);
    return 0;
  } catch (const c10::Error& e) {
    std::cerr << "error: no device: " << e.msg() << "\n";
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--check") return check();
  if (argc < 2 || !torch::cuda::is_available()) {
    std::cerr << "usage: gpu_speed FILE [small], where there is a GPU\n";
    return 2;
  }
  const bool small = argc > 2 && std::string(argv[2]) == "small";
  const int64_t n = small ? 1 << 12 : 1 << 26, side = small ? 32 : 8192;
  const int calls = small ? 1 : 20, steps = small ? 1 : 500;
  const auto x = torch::randn({n}, kGpu), y = torch::randn({n}, kGpu);
  auto z = torch::empty({n}, kGpu);
  const auto a = torch::randn({side, side}, kGpu).to(torch::kBFloat16), b = a.t().contiguous();
  auto c = torch::empty_like(a);  // a product that nobody reads is not computed
  const double bytes = 4.0 * static_cast<double>(n), flops = 2.0 * std::pow(static_cast<double>(side), 3);
  torch::NoGradGuard no_grad;
  std::vector<std::pair<std::string, double>> rows{
      {"copy GB/s", 2e-9 * bytes / seconds(calls, [&] { z.copy_(x); })},
      {"add GB/s", 3e-9 * bytes / seconds(calls, [&] { torch::add_out(z, x, y); })},
      {"sum GB/s", 1e-9 * bytes / seconds(calls, [&] { x.sum(); })},
      {"product bf16 TFLOP/s", 1e-12 * flops / seconds(calls, [&] { torch::mm_out(c, a, b); })},
      {"Adam GB/s", 1e-9 * adam_bytes(n, calls)}};
  {
    torch::AutoGradMode grad(true);
    rows.emplace_back("MLP steps/s", mlp_steps(steps));
  }
  std::ofstream out(argv[1]);
  out << "{";
  for (size_t i = 0; i < rows.size(); ++i) out << (i ? ",\n " : "") << '"' << rows[i].first << "\": " << rows[i].second;
  out << "}\n";
  return out.flush() ? 0 : 1;
}
