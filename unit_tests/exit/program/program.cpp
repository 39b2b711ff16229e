// Processes that end while they compute: main returns, or a thread calls exit, while other threads are within
// convolutions, products, decompositions and training steps; static destructors compute. Each case is this program
// again, run many times.
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

using torch::Tensor;

std::atomic<int> computing{0};

// Shapes change, so that kernels are made as well as run.
void train(int64_t n) {
  torch::nn::Conv2d conv(torch::nn::Conv2dOptions(n, 8, 5));
  torch::nn::Linear linear(8 * 8 * 8, n);
  torch::optim::SGD sgd(linear->parameters(), 0.1);
  const torch::AutoGradMode with_gradients(true);
  const Tensor x = torch::randn({2, n, 12, 12});
  linear(conv(x).flatten(1)).relu().sum().backward();
  sgd.step();
  const hb::AutocastGuard half(torch::kCPU, torch::kBFloat16);
  linear(conv(x).flatten(1)).sum().backward();
  torch::linalg_svdvals(torch::randn({4, 4 * n, 4 * n}));
}

[[noreturn]] void compute_for_ever(int number) {
  for (int64_t i = number;; ++i) {
    train(8 + i % 40);
    if (i == number) ++computing;
  }
}

struct ComputesWhenDestroyed {
  ~ComputesWhenDestroyed() {
    for (int64_t n = 3; n < 8; ++n) train(n);
  }
};

// `how`: what ends the process; `wait`: how long after all threads began to compute.
int end_while_computing(const std::string& how, int wait) {
  if (how == "destructor") {
    train(4);
    static const ComputesWhenDestroyed object;
  }
  for (int t = 0; t < 3; ++t) std::thread(compute_for_ever, t).detach();
  while (computing < 3) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::microseconds(wait));
  if (how == "thread") std::thread([] { std::exit(0); }).join();
  return 0;
}

int status_of(const char* how, int wait) {
  const std::string text = std::to_string(wait);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    execl("/proc/self/exe", "exit_program", how, text.c_str(), nullptr);
    _exit(127);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) return end_while_computing(argv[1], std::atoi(argv[2]));
  int failed = 0;
  for (const char* how : {"return", "thread", "destructor"}) {
    for (int run = 0; run < 8; ++run) {
      const int status = status_of(how, run * 613 % 5000);
      if (status == 0) continue;
      std::fprintf(stderr, "%s, run %d: expected exit status 0, got wait status %d\n", how, run, status);
      ++failed;
    }
  }
  return failed != 0;
}
