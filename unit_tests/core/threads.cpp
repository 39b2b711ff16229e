// Several threads of the program: what they compute is what each computes alone.

#include <gtest/gtest.h>
#include <halfbridge/trace/session.h>
#include <torch/torch.h>

#include <functional>
#include <thread>

#include "trace/trace_files.h"

namespace {

using torch::Tensor;
namespace nn = torch::nn;

struct NetImpl : nn::Module {
  NetImpl()
      : conv(register_module("conv", nn::Conv2d(nn::Conv2dOptions(2, 4, 3).padding(1)))),
        norm(register_module("norm", nn::BatchNorm2d(4))),
        fc(register_module("fc", nn::Linear(4 * 4 * 4, 3))) {}
  Tensor forward(const Tensor& x) { return fc(torch::max_pool2d(torch::relu(norm(conv(x))), 2).flatten(1)); }
  nn::Conv2d conv;
  nn::BatchNorm2d norm;
  nn::Linear fc;
};
TORCH_MODULE(Net);

/// A net, its data and what trains it: no thread shares any of these with another.
struct Job {
  explicit Job(uint64_t seed) {
    torch::manual_seed(seed);
    net = Net();
    x = torch::randn({8, 2, 8, 8});
    y = torch::randint(0, 3, {8}, torch::kLong);
  }
  Tensor loss() { return torch::cross_entropy_loss(net(x), y); }

  void train_f32() {
    torch::optim::Adam adam(net->parameters(), 1e-2);
    for (int i = 0; i < kSteps; ++i) {
      adam.zero_grad();
      loss().backward();
      adam.step();
    }
  }
  void train_bf16() {
    torch::optim::SGD sgd(net->parameters(), torch::optim::SGDOptions(1e-2).momentum(0.9));
    for (int i = 0; i < kSteps; ++i) {
      sgd.zero_grad();
      Tensor l;
      {
        const hb::AutocastGuard on(torch::kCPU, torch::kBFloat16);
        l = loss();
      }
      l.backward();
      sgd.step();
    }
  }
  void train_scaled() {
    torch::optim::SGD sgd(net->parameters(), 1e-2);
    torch::amp::GradScaler scaler("cpu");
    for (int i = 0; i < kSteps; ++i) {
      sgd.zero_grad();
      Tensor l;
      {
        const hb::AutocastGuard on(torch::kCPU, torch::kHalf);
        l = loss();
      }
      scaler.scale(l).backward();
      scaler.unscale_(sgd);
      nn::utils::clip_grad_norm_(net->parameters(), 1.0);
      scaler.step(sgd);
      scaler.update();
    }
  }

  static constexpr int kSteps = 6;
  Net net{nullptr};
  Tensor x, y;
};

void expect_as_alone(const std::function<void(Job&)>& train) {
  constexpr int kJobs = 3;
  std::vector<Job> alone, together;
  for (int i = 0; i < kJobs; ++i) alone.emplace_back(i), together.emplace_back(i);
  for (Job& job : alone) train(job);
  std::vector<std::thread> threads;
  for (Job& job : together) threads.emplace_back([&] { train(job); });
  for (auto& t : threads) t.join();
  for (int i = 0; i < kJobs; ++i) {
    const auto expected = alone[i].net->named_parameters(), got = together[i].net->named_parameters();
    for (const auto& p : expected) EXPECT_TRUE(got[p.key()].equal(p.value())) << "job " << i << ": " << p.key();
    EXPECT_TRUE(together[i].net->norm->running_var.equal(alone[i].net->norm->running_var));
  }
}

}  // namespace

TEST(Threads, TrainIndependentNets) {
  expect_as_alone([](Job& job) { job.train_f32(); });
}
TEST(Threads, TrainIndependentNetsWithAutocast) {
  expect_as_alone([](Job& job) { job.train_bf16(); });
}
TEST(Threads, TrainIndependentNetsWithScalers) {
  expect_as_alone([](Job& job) { job.train_scaled(); });
}

TEST(Threads, CallOneNet) {
  Job job(1);
  job.net->eval();
  const torch::NoGradGuard no_grad;
  const Tensor expected = job.net(job.x);
  std::vector<Tensor> got(4);
  std::vector<std::thread> threads;
  for (Tensor& result : got)
    threads.emplace_back([&] {
      const torch::NoGradGuard none;
      for (int i = 0; i < 20; ++i)
        result = job.net(job.x) + 0 * torch::mm(job.net->fc->weight.t(), job.net->fc->weight).sum();
    });
  for (auto& t : threads) t.join();
  for (const Tensor& result : got) EXPECT_TRUE(result.equal(expected));
}

// Modules may be called from several threads under a trace; one of them steps.
TEST(Threads, ATraceSeesTheCallsOfAll) {
  Job first(1), second(2), untraced(2);
  constexpr int kCalls = 5;
  const auto backward = [](Job& job) {
    for (int i = 0; i < kCalls; ++i) job.loss().backward();
  };
  backward(untraced);
  const std::string folder = trace_files::fresh_folder();
  {
    hb::trace::Session session(folder, {first.net.ptr(), second.net.ptr()}, hb::trace::SessionOptions());
    std::thread other([&] { backward(second); });
    torch::optim::SGD sgd(first.net->parameters(), 1e-2);
    backward(first);
    other.join();
    sgd.step();
  }
  EXPECT_TRUE(second.net->conv->weight.grad().equal(untraced.net->conv->weight.grad()));
  EXPECT_EQ(trace_files::read(folder).of("output", "conv").size(), 2u * kCalls);
}
