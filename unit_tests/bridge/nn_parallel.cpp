// data_parallel upon devices that are all the CPU; and what <torch/csrc/cuda/comm.h> says where there is no CUDA.
#include <gtest/gtest.h>
#include <torch/csrc/cuda/comm.h>
#include <torch/nn/parallel/data_parallel.h>
#include <torch/torch.h>

namespace {

using torch::Device;
using torch::Tensor;
using torch::nn::parallel::data_parallel;
using Devices = std::vector<Device>;

const Device kHost(torch::kCPU);

/// The gradients of a layer after the squares of its result were summed.
template <class Call>
std::pair<Tensor, std::vector<Tensor>> trained(const Call& call) {
  torch::manual_seed(2);
  torch::nn::Linear layer(4, 3);
  const Tensor y = call(layer, torch::randn({7, 4}));
  y.pow(2).sum().backward();
  return {y.detach(), {layer->weight.grad(), layer->bias.grad()}};
}

TEST(NnParallel, ABatchOnSeveralDevicesGivesTheModulesResultAndGradients) {
  const auto alone = trained([](auto& layer, const Tensor& x) { return layer(x); });
  for (const size_t count : {1, 2, 3, 9}) {
    const auto shared =
        trained([&](auto& layer, const Tensor& x) { return data_parallel(layer, x, Devices(count, kHost)); });
    EXPECT_TRUE(torch::allclose(shared.first, alone.first)) << count;
    for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(torch::allclose(shared.second[i], alone.second[i], 1e-4, 1e-5)) << count;
  }
}

TEST(NnParallel, TheDimensionAndTheModesAreTheCallers) {
  torch::nn::Linear layer(4, 3);
  const Tensor x = torch::randn({2, 6, 4});
  torch::NoGradGuard no_grad;
  const Tensor y = data_parallel(layer, x, Devices(3, kHost), kHost, 1);
  EXPECT_TRUE(torch::allclose(y, layer(x)));
  EXPECT_FALSE(y.requires_grad());
}

struct SumImpl : torch::nn::Cloneable<SumImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x) { return x.sum(); }
};
TORCH_MODULE(Sum);

TEST(NnParallel, ScalarsBecomeAVector) {
  EXPECT_TRUE(torch::equal(data_parallel(Sum(), torch::arange(6.0), Devices(2, kHost)), torch::tensor({3.0f, 12.0f})));
}

// LibTorch fails there.
TEST(NnParallel, AReplicaThatIsNotUsedCountsForNothing) {
  torch::nn::Linear layer(4, 3);
  const Tensor x = torch::randn({2, 4});
  auto replicas = torch::nn::parallel::replicate(layer, Devices(2, kHost));
  (replicas[1](x) + layer(x)).sum().backward();
  EXPECT_TRUE(torch::allclose(layer->weight.grad(), 2 * x.sum(0).expand({3, 4})));
  EXPECT_TRUE(torch::equal(layer->bias.grad(), torch::full({3}, 4.0f)));
}

TEST(NnParallel, WithoutCudaItsDevicesAreAnError) {
  if (torch::cuda::is_available()) GTEST_SKIP();
  const Tensor x = torch::ones({4, 4});
  EXPECT_THROW(data_parallel(torch::nn::Linear(4, 3), x), c10::Error);
  EXPECT_THROW(data_parallel(torch::nn::Linear(4, 3), x, Devices()), c10::Error);
  EXPECT_THROW(torch::cuda::broadcast(x, {0, 1}), c10::Error);
  EXPECT_THROW(torch::cuda::broadcast_coalesced({x}, {0}, 1024), c10::Error);
  EXPECT_THROW(torch::cuda::scatter(x, {0, 1}), c10::Error);
  EXPECT_THROW(torch::cuda::gather({x, x}, 0, 0), c10::Error);
}

TEST(NnParallel, PartsGoToTheHostAndBack) {
  const Tensor x = torch::arange(12.0).view({6, 2});
  const auto parts = torch::cuda::scatter(x, {-1, -1}, std::vector<int64_t>{2, 4});
  EXPECT_EQ(parts[1].size(0), 4);
  EXPECT_TRUE(torch::equal(torch::cuda::gather(parts, 0, -1), x));
  std::vector<Tensor> out{torch::empty({1, 2}), torch::empty({5, 2})};
  EXPECT_TRUE(torch::equal(torch::cuda::scatter_out(x, out)[1], x.narrow(0, 1, 5)));
  EXPECT_THROW(torch::cuda::scatter(x, {-1}, std::vector<int64_t>{2, 4}), c10::Error);
  EXPECT_THROW(torch::cuda::broadcast_out(x, out), c10::Error);
}

}  // namespace
