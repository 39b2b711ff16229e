#pragma once
// Tests that run as several processes: each test runs on every rank, in the same order.

#include <gtest/gtest.h>
#include <torch/nn/parallel/distributed.h>
#include <torch/torch.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ranks {

namespace dist = hb::distributed;
using torch::Tensor;
using torch::nn::parallel::DistributedDataParallel;
using Options = torch::nn::parallel::DataParallelOptions;

inline int rank() { return dist::get_rank(); }
inline int size() { return dist::get_group_size(); }
inline dist::ProcessGroup& group() { return *dist::default_group(); }

/// The mean of all ranks' numbers.
inline double mean_of(double own) {
  const Tensor t = torch::full({1}, own, torch::kDouble);
  dist::all_reduce(group(), t);
  return t.item<double>() / size();
}
/// This rank's share of a batch.
inline Tensor share(const Tensor& batch) {
  const int64_t n = batch.size(0) / size();
  return batch.narrow(0, rank() * n, n);
}
/// Throws, which fails the test, unless the tensors have the same bits on all ranks.
inline void equal_on_all(const std::vector<Tensor>& tensors) { dist::check_equal_on_all_ranks(group(), tensors); }

/// A batch for all ranks by the number of the step, and its targets.
using Batch = std::function<std::pair<Tensor, Tensor>(int64_t)>;
using LossFn = std::function<Tensor(const Tensor&, const Tensor&)>;

struct Run {
  int64_t steps = 50;
  double lr = 0.05, tolerance = 1e-6;
};

/// The mean of the ranks' losses is the loss of one process that has all of the batch, at each step; the ranks' weights
/// stay equal bit for bit. `whole` and `part` begin with other weights on each rank: those of rank 0 count.
template <class Whole, class Part, class Model>
void equals_one_process(Whole whole, Part part, Model& model, const Batch& batch, const LossFn& loss_of,
                        const Run& run = {}) {
  {
    torch::NoGradGuard no_grad;
    const auto from = part->parameters(), to = whole->parameters();
    for (size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
  }
  torch::optim::SGD one(whole->parameters(), torch::optim::SGDOptions(run.lr).momentum(0.9));
  torch::optim::SGD own(part->parameters(), torch::optim::SGDOptions(run.lr).momentum(0.9));
  for (int64_t step = 0; step < run.steps; ++step) {
    const auto [x, y] = batch(step);
    one.zero_grad();
    const Tensor expected = loss_of(whole->forward(x), y);
    expected.backward();
    one.step();
    own.zero_grad();
    const Tensor loss = loss_of(model(share(x)), share(y));
    loss.backward();
    own.step();
    const double want = expected.template item<double>();
    ASSERT_NEAR(mean_of(loss.item<double>()), want, run.tolerance * std::abs(want)) << "step " << step;
  }
  equal_on_all(part->parameters());
}

/// Reproducible whatever came before: the same on all ranks.
inline Tensor drawn(std::vector<int64_t> shape, int64_t seed) {
  torch::manual_seed(static_cast<uint64_t>(1000 + seed));
  return torch::randn(shape);
}
inline Tensor classes(int64_t n, int64_t count, int64_t seed) {
  torch::manual_seed(static_cast<uint64_t>(5000 + seed));
  return torch::randint(count, {n}, torch::kLong);
}

inline torch::nn::Sequential mlp(int64_t in = 20, int64_t hidden = 32, int64_t out = 5) {
  return torch::nn::Sequential(torch::nn::Linear(in, hidden), torch::nn::Tanh(), torch::nn::Linear(hidden, hidden),
                               torch::nn::Tanh(), torch::nn::Linear(hidden, out));
}
inline Tensor cross_entropy(const Tensor& x, const Tensor& y) { return torch::nn::functional::cross_entropy(x, y); }

}  // namespace ranks
