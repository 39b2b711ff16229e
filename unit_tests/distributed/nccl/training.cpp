// DistributedDataParallel, the reducer and GradScaler over NCCL.
#include <torch/torch.h>

#include "distributed/checks.h"
#include "distributed/ranks/ranks.h"

namespace {

using ranks::DistributedDataParallel;
using ranks::Tensor;

const torch::Device kGpu(torch::kCUDA, 0);

TEST(NcclTraining, DataParallelEqualsOneProcess) {
  auto whole = ranks::mlp(), part = ranks::mlp();
  whole->to(kGpu), part->to(kGpu);
  DistributedDataParallel model(part);
  ranks::Run run;
  run.steps = 10, run.tolerance = 1e-5;
  ranks::equals_one_process(
      whole, part, model,
      [](int64_t step) {
        return std::make_pair(ranks::drawn({16, 20}, step).to(kGpu), ranks::classes(16, 5, step).to(kGpu));
      },
      ranks::cross_entropy, run);
}

TEST(NcclTraining, UnusedParametersAndSmallBuckets) {
  auto net = ranks::mlp();
  auto unused = torch::nn::Linear(3, 3);
  net->push_back(unused);
  net->to(kGpu);
  struct Front : torch::nn::Module {
    explicit Front(torch::nn::Sequential n) : net(register_module("net", n)) {}
    Tensor forward(Tensor x) {
      for (size_t i = 0; i + 1 < net->size(); ++i)
        x = net[i]->as<torch::nn::Linear>() ? net[i]->as<torch::nn::Linear>()->forward(x) : x.tanh();
      return x;
    }
    torch::nn::Sequential net;
  };
  auto front = std::make_shared<Front>(net);
  DistributedDataParallel model(front, ranks::Options().find_unused_parameters(true).bucket_cap_mb(0.001));
  torch::optim::SGD sgd(front->parameters(), 0.1);
  for (int step = 0; step < 3; ++step) {
    sgd.zero_grad();
    model(ranks::drawn({4, 20}, ranks::rank() + 10 * step).to(kGpu)).pow(2).mean().backward();
    sgd.step();
  }
  ranks::equal_on_all(front->parameters());
}

/// An overflow on one rank: all skip, and scales stay equal.
TEST(NcclTraining, AllSkipTogether) {
  auto net = torch::nn::Linear(4, 2);
  net->to(kGpu);
  DistributedDataParallel model(net);
  torch::optim::SGD sgd(net->parameters(), 0.1);
  torch::amp::GradScaler scaler("cuda", torch::amp::GradScalerOptions().init_scale(1024));
  const Tensor before = net->weight.detach().clone();
  const Tensor x = torch::full({2, 4}, ranks::rank() == 1 ? 1e38 : 1.0).to(kGpu);
  scaler.scale(model(x).sum() * 1e10).backward();
  scaler.step(sgd);
  scaler.update();
  EXPECT_TRUE(torch::equal(net->weight.cpu(), before.cpu()));
  EXPECT_EQ(scaler.get_scale(), 512);
}

TEST(NcclTraining, ReducersAndHooks) {
  const Tensor grad = torch::full({2000}, ranks::rank() + 1.0).to(kGpu);
  Tensor p = torch::zeros({2000}).to(kGpu).requires_grad_();
  hb::distributed::DistributedGradReducer reducer(std::vector<Tensor>{p});
  const auto mean = reducer(std::vector<Tensor>{grad});
  EXPECT_TRUE(torch::equal(mean[0].cpu(), torch::full({2000}, (ranks::size() + 1) / 2.0)));
  auto net = torch::nn::Linear(4, 2);
  net->to(kGpu);
  DistributedDataParallel model(net);
  model->register_comm_hook(hb::distributed::bf16_compress_hook);
  model(torch::ones({2, 4}).to(kGpu)).sum().backward();
  EXPECT_TRUE(torch::equal(net->weight.grad().cpu(), torch::full({2, 4}, 2.0)));
}

}  // namespace
