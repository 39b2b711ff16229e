// sweep [--cuda] --list names what is timed, a line each; without it a request a line is read, `LINE MILLISECONDS`, and
// answered with the shortest time of a call in microseconds. Two such processes, asked in turn, are compared by
// sweep.py.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <stdexcept>

#include "sweep.h"

namespace {

using namespace sweep;

struct Timed {
  const Row* row;
  std::string family;
  torch::Dtype dtype;
  int64_t n;
  bool backward;
};

const char* dtype_name(torch::Dtype dtype) {
  if (dtype == torch::kFloat) return "f32";
  if (dtype == torch::kDouble) return "f64";
  return dtype == torch::kBFloat16 ? "bf16" : "i64";
}

std::vector<Timed> all_timed(const std::vector<std::pair<std::string, std::vector<Row>>>& tables) {
  std::vector<Timed> all;
  for (const auto& [family, rows] : tables)
    for (const auto& row : rows)
      for (auto dtype : row.dtypes)
        for (const int64_t n : device.is_cuda() ? std::vector<int64_t>{256, 4096} : std::vector<int64_t>{32, 256, 1024})
          for (bool backward : {false, true})
            if (n <= row.largest && (!backward || torch::isFloatingType(dtype)))
              all.push_back({&row, family, dtype, n, backward});
  return all;
}

/// What is called again and again; nothing where the function has no gradient.
std::function<void()> prepare(const Timed& what) {
  torch::manual_seed(1);
  In inputs, leaves;
  for (auto input : what.row->inputs) inputs.push_back(input(what.n, what.dtype));
  if (!what.backward) {
    return [=] {
      torch::NoGradGuard no_grad;
      what.row->function(inputs);
    };
  }
  for (auto& input : inputs)
    if (torch::isFloatingType(input.scalar_type())) leaves.push_back(input.requires_grad_());
  if (leaves.empty()) return nullptr;
  const Tensor result = what.row->function(inputs);
  if (!result.requires_grad()) return nullptr;
  const Tensor gradient = torch::randn(result.sizes(), result.options());
  return
      [=] { torch::autograd::grad({result}, leaves, {gradient}, /*retain_graph=*/true, false, /*allow_unused=*/true); };
}

double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

/// The shortest of many runs of calls. A run is long beside the clock's steps and short beside a turn of the scheduler.
double shortest(const std::function<void()>& call, double budget_us) {
  const auto time_of = [&](int calls) {
    const double start = now_us();
    for (int i = 0; i < calls; ++i) call();
    if (device.is_cuda()) torch::cuda::synchronize();
    return now_us() - start;
  };
  time_of(1);
  const double begin = now_us(), run_us = device.is_cuda() ? 1000 : 100;
  const auto calls = static_cast<int>(std::clamp(run_us / std::max(time_of(1), 0.1), 1., 1000.));
  double best = 1e30;
  do {
    best = std::min(best, time_of(calls) / calls);
  } while (now_us() - begin < budget_us);
  return best;
}

int run(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--cuda") {
#if !__has_include(<halfbridge/graph.h>)
    // LibTorch's CUDA functions register themselves.
    if (!dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL)) throw std::runtime_error(dlerror());
#endif
    device = torch::Device(torch::kCUDA, 0);
    --argc, ++argv;
  }
  const auto tables = families();
  const auto all = all_timed(tables);
  if (argc == 2 && std::string(argv[1]) == "--list") {
    for (const auto& t : all)
      std::printf("%s %s %s %d %s\n", t.family.c_str(), t.row->name, dtype_name(t.dtype), static_cast<int>(t.n),
                  t.backward ? "backward" : "forward");
    return 0;
  }
  std::function<void()> prepared;
  size_t line = 0, last = all.size();
  for (double ms = 0; std::cin >> line >> ms; last = line) {
    try {
      if (line != last) prepared = prepare(all.at(line));
      std::printf("%.9g\n", prepared ? shortest(prepared, 1000 * ms) : 0.);
    } catch (const std::exception& error) {
      const std::string text = error.what();
      std::printf("failed: %s\n", text.substr(0, text.find('\n')).c_str());
      prepared = nullptr;
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sweep: %s\n", error.what());
    return 2;
  }
}
