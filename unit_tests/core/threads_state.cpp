// State of the process and of threads: autocast, levels, the generator, the profiler, registration, settings.

#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <halfbridge/profiler.h>
#include <torch/library.h>
#include <torch/torch.h>

#include <set>
#include <string>

#include "core/threads_together.h"

namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr int kThreads = 4;

struct NetImpl : nn::Module {
  NetImpl()
      : fc(register_module("fc", nn::Linear(4, 3))),
        norm(register_module("norm", nn::LayerNorm(std::vector<int64_t>{3}))) {}
  Tensor forward(const Tensor& x) { return norm(fc(x)); }
  nn::Linear fc;
  nn::LayerNorm norm;
};
TORCH_MODULE(Net);

}  // namespace

TEST(ThreadsState, AutocastSharesNoCopies) {
  nn::Linear fc(4, 3);
  together(kThreads, [&](int k) {
    for (int i = 0; i < 20; ++i) {
      const hb::AutocastGuard on(torch::kCPU, k % 2 ? torch::kBFloat16 : torch::kHalf, k != 3);
      const Tensor y = fc(torch::ones({2, 4}));
      EXPECT_EQ(y.scalar_type(), k == 3 ? torch::kFloat : k % 2 ? torch::kBFloat16 : torch::kHalf);
      y.sum().backward();
    }
  });
  EXPECT_TRUE(fc->bias.grad().equal(torch::full({3}, 2.0f * 20 * kThreads)));
}

// The half copies of a level's parameters are made at the first use after an update, by whichever thread comes first.
TEST(ThreadsState, LevelsKeepOneCopyForAll) {
  auto net = hb::amp::auto_mixed_precision(Net(), "O2", torch::kBFloat16);
  for (int step = 0; step < 6; ++step) {
    together(kThreads, [&](int) {
      for (int i = 0; i < 4; ++i) net->forward(torch::ones({2, 4})).sum().backward();
    });
    const torch::NoGradGuard none;
    for (Tensor& p : net->parameters()) {
      EXPECT_EQ(p.grad().scalar_type(), torch::kFloat);
      p.sub_(0.01 * p.grad());
      p.mutable_grad() = Tensor();
    }
  }
}

TEST(ThreadsState, LevelsAreMadeSideBySide) {
  together(kThreads, [](int k) {
    for (int i = 0; i < 5; ++i) {
      auto net = hb::amp::auto_mixed_precision(Net(), k % 2 ? "O1" : "O3", torch::kBFloat16);
      net->forward(torch::ones({2, 4})).sum().backward();
      EXPECT_EQ(net->fc->weight.grad().scalar_type(), torch::kFloat);
    }
  });
}

TEST(ThreadsState, TheGeneratorGivesEachNumberOnce) {
  torch::manual_seed(5);
  constexpr int kEach = 200;
  std::vector<std::vector<int64_t>> drawn(kThreads);
  together(kThreads, [&](int k) {
    for (int i = 0; i < kEach; ++i) drawn[k].push_back(torch::randint(INT64_MAX, {1}, torch::kLong).item<int64_t>());
  });
  std::set<int64_t> got;
  for (const auto& list : drawn) got.insert(list.begin(), list.end());
  torch::manual_seed(5);
  std::set<int64_t> expected;
  for (int i = 0; i < kThreads * kEach; ++i)
    expected.insert(torch::randint(INT64_MAX, {1}, torch::kLong).item<int64_t>());
  EXPECT_EQ(got, expected);
}

TEST(ThreadsState, SeedsStatesAndDistributions) {
  together(kThreads, [](int k) {
    for (int i = 0; i < 20; ++i) {
      if (k == 0) torch::manual_seed(i);
      if (k == 1) torch::rand({100}).bernoulli_().sum();
      if (k == 2) torch::randn({100}).add_(torch::randperm(100));
      if (k == 3) {
        auto own = at::make_generator<at::CPUGeneratorImpl>(7);
        EXPECT_TRUE(torch::rand({3}, own).equal(torch::rand({3}, at::make_generator<at::CPUGeneratorImpl>(7))));
        nn::Dropout drop(0.5);
        drop(torch::ones({50}));
      }
    }
  });
}

TEST(ThreadsState, EachThreadHasAProfile) {
  together(kThreads, [](int k) {
    for (int i = 0; i < 10; ++i) {
      if (k == 3) {
        torch::relu(torch::ones({3})).sum();  // without one
        EXPECT_FALSE(hb::profiler::active());
        continue;
      }
      hb::profiler::start({true});
      (torch::ones({3}).requires_grad_() * 2).relu().sum().backward();
      EXPECT_GE(hb::profiler::stop().events().size(), 6u);
    }
  });
}

TEST(ThreadsState, OperatorsAreRegisteredFoundAndCalled) {
  together(kThreads, [](int k) {
    for (int i = 0; i < 30; ++i) {
      const std::string name = "f" + std::to_string(k), full = "hb_state::" + name;
      torch::Library library(torch::Library::FRAGMENT, "hb_state", std::nullopt, __FILE__, __LINE__);
      library.def((name + "(Tensor x) -> Tensor").c_str());
      library.impl(name.c_str(), c10::DispatchKey::CPU, [](const Tensor& x) { return x + 1; });
      auto op = c10::Dispatcher::singleton().findSchemaOrThrow(full.c_str(), "").typed<Tensor(const Tensor&)>();
      EXPECT_EQ(op.call(torch::ones({1})).item<float>(), 2);
      c10::Dispatcher::singleton().findSchema({"hb_state::f" + std::to_string((k + 1) % kThreads), ""});
    }
  });
}

TEST(ThreadsState, SettingsAreReadWhileTheyChange) {
  const int threads = torch::get_num_threads();
  together(kThreads, [&](int k) {
    for (int i = 0; i < 30; ++i) {
      if (k == 0) torch::set_num_threads(1 + i % 2);
      if (k == 1) torch::set_default_dtype(torch::scalarTypeToTypeMeta(i % 2 ? torch::kDouble : torch::kFloat));
      if (k >= 2) {
        EXPECT_TRUE(torch::ones({3}).is_floating_point());
      }
      torch::mm(torch::ones({4, 4}, torch::kFloat), torch::ones({4, 4}, torch::kFloat));
    }
  });
  torch::set_num_threads(threads);
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat));
}
