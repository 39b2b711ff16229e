// A workload: something to time, by name. One source, built with LibTorch and with Halfbridge; high_level.cpp with
// Halfbridge alone.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// What a workload does in one iteration, made ready: weights drawn, data there.
struct Prepared {
  std::function<void()> iteration;
  int64_t repeats = 1;  // how many times the thing that is timed happens in one iteration
  double flop = 0;      // floating-point operations of one repeat, 0 where that says little
  double bytes = 0;     // bytes that one repeat must read and write at least, 0 where that says little
  double items = 0;     // images, frames: what one repeat works off, 0 where nobody counts them
  std::string unit;     // of these
};

struct Workload {
  std::string name;
  std::function<Prepared()> prepare;
};

std::vector<Workload> workloads();           // those of a program
std::vector<Workload> training_workloads();  // whole training steps
std::vector<Workload> op_workloads();        // single operations
Prepared ppo();
/// One step of optimization of PPO: states (n, 6), actions (n, 2); log probabilities, advantages and returns (n).
using Batch = std::vector<torch::Tensor>;
using Learner = std::function<void(const Batch&)>;
Learner ppo_learner();

}  // namespace bench
