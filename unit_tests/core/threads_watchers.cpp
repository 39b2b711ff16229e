// What watches (traces, profiles, overflow stories), devices and operators of programs, with several threads at once.
// Run with ThreadSanitizer, too.

#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>
#include <halfbridge/profiler.h>
#include <halfbridge/trace/session.h>
#include <torch/library.h>
#include <torch/torch.h>

#include <limits>
#include <string>

#include "core/threads_together.h"
#include "fake_device/fake_device.h"
#include "trace/trace_files.h"

namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr int kThreads = 4, kSteps = 12, kOverflows = 5;

/// A net of which one step overflows. The first has an overflow story, of which there is one at a time.
struct Watched {
  explicit Watched(int seed) : seed(seed) {
    if (seed == 0) scaler.trace_overflow(*net);
  }
  void train(bool with_profile) {
    for (int i = 0; i < kSteps; ++i) {
      if (with_profile) hb::profiler::start({true});
      optimizer.zero_grad();
      const double factor = i == kOverflows ? std::numeric_limits<double>::infinity() : 1.0;
      scaler.scale((net->forward(x) * factor).square().mean()).backward();
      scaler.step(optimizer);
      scaler.update();
      if (i == kOverflows) {
        EXPECT_EQ(scaler.last_overflow().has_value(), seed == 0);
      }
      if (with_profile) {
        EXPECT_GE(hb::profiler::stop().events().size(), 8u);
      }
    }
  }
  Tensor weights() const { return nn::utils::parameters_to_vector(net->parameters()).detach(); }

  int seed;
  nn::Sequential net{(torch::manual_seed(static_cast<uint64_t>(seed)),
                      nn::Sequential(nn::Linear(6, 8), nn::ReLU(), nn::Linear(8, 3)))};
  Tensor x = torch::randn({5, 6});
  torch::optim::SGD optimizer{net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9)};
  torch::amp::GradScaler scaler{"cpu", 64.0};
};

std::vector<std::unique_ptr<Watched>> make_all() {
  std::vector<std::unique_ptr<Watched>> all;
  for (int k = 0; k < kThreads; ++k) all.push_back(std::make_unique<Watched>(k));
  return all;
}

std::vector<Tensor> weights_of_each_alone() {
  std::vector<Tensor> weights;
  for (const auto& one : make_all()) one->train(false), weights.push_back(one->weights());
  return weights;
}

TEST(ThreadsWatchers, StoriesAndProfilesOfEachThread) {
  const auto expected = weights_of_each_alone();
  const auto all = make_all();
  together(kThreads, [&](int k) { all[static_cast<size_t>(k)]->train(k % 2 == 0); });
  for (size_t k = 0; k < all.size(); ++k) EXPECT_TRUE(torch::equal(all[k]->weights(), expected[k])) << k;
}

TEST(ThreadsWatchers, ATraceBesideThem) {
  const auto expected = weights_of_each_alone();
  const auto all = make_all();
  const std::string folder = trace_files::fresh_folder();
  {
    hb::trace::SessionOptions options;
    options.steps = "all";
    hb::trace::Session session(folder, {all[0]->net.ptr(), all[1]->net.ptr(), all[2]->net.ptr()}, options);
    together(kThreads, [&](int k) {
      Watched& one = *all[static_cast<size_t>(k)];
      if (k == 0) return one.train(true);  // optimizers step in one thread
      for (int i = 0; i < kSteps; ++i) {
        if (k == 1) hb::profiler::start({true});
        one.net->forward(one.x).square().mean().backward();
        if (k == 1) {
          EXPECT_GE(hb::profiler::stop().events().size(), 8u);
        }
      }
    });
    EXPECT_FALSE(session.stopped());
  }
  EXPECT_TRUE(torch::equal(all[0]->weights(), expected[0]));
  EXPECT_GE(trace_files::read(folder).of("output", "0").size(), 3u * kSteps);
}

// Scalers are made, watch and go while others compute.
TEST(ThreadsWatchers, StoriesComeAndGo) {
  together(kThreads, [&](int k) {
    for (int i = 0; i < 20; ++i) {
      if (k == 0) {
        nn::Sequential net(nn::Linear(3, 3), nn::ReLU());
        torch::amp::GradScaler scaler("cpu", 8.0);
        scaler.trace_overflow(*net);
        scaler.scale(net->forward(torch::ones({2, 3})).sum()).backward();
      } else {
        const Tensor x = torch::full({4}, 2.0).requires_grad_();
        (x * x).relu().sum().backward();
        EXPECT_EQ(x.grad()[0].item<float>(), 4.0f);
      }
    }
  });
}

TEST(ThreadsWatchers, TensorsOfADevice) {
  fake_device::install();
  const torch::Device device(torch::kPrivateUse1, 0);
  const auto losses = [&](int k) {
    const Tensor x = torch::arange(12, torch::kFloat).view({3, 4}).add(k).div(10).to(device);
    Tensor w = torch::full({4, 2}, 0.1).to(device).requires_grad_();
    std::vector<double> all;
    for (int i = 0; i < 15; ++i) {
      const Tensor loss = torch::mm(x, w).tanh().sub(0.3).square().mean();
      loss.backward();
      const torch::NoGradGuard none;
      w.sub_(w.grad(), 0.5);
      w.mutable_grad() = Tensor();
      all.push_back(loss.item<double>());
    }
    return all;
  };
  std::vector<std::vector<double>> expected, got(kThreads);
  for (int k = 0; k < kThreads; ++k) expected.push_back(losses(k));
  together(kThreads, [&](int k) { got[static_cast<size_t>(k)] = losses(k); });
  EXPECT_EQ(got, expected);
}

// Functions of the CPU's and of autograd's keys are called, boxed and not, while another thread registers and takes
// back.
TEST(ThreadsWatchers, OperatorsOfPrograms) {
  torch::Library library(torch::Library::FRAGMENT, "hb_watchers", std::nullopt, __FILE__, __LINE__);
  library.def("triple(Tensor x) -> Tensor");
  library.impl("triple", c10::DispatchKey::CompositeImplicitAutograd, [](const Tensor& x) { return x * 3; });
  const auto handle = c10::Dispatcher::singleton().findSchemaOrThrow("hb_watchers::triple", "");
  const auto op = handle.typed<Tensor(const Tensor&)>();
  together(kThreads, [&](int k) {
    for (int i = 0; i < 40; ++i) {
      if (k == 0) {
        torch::Library other(torch::Library::FRAGMENT, "hb_watchers", std::nullopt, __FILE__, __LINE__);
        other.def("other" + std::to_string(i % 3) + "(Tensor x) -> Tensor");
        other.impl("triple", c10::DispatchKey::Autograd, [](const Tensor& x) { return x * 3; });
        continue;
      }
      const Tensor x = torch::ones({3}).requires_grad_();
      torch::jit::Stack stack{c10::IValue(x)};
      if (k == 1) handle.callBoxed(&stack);
      const Tensor y = k == 1 ? stack[0].toTensor() : op.call(x);
      EXPECT_EQ(y[0].item<float>(), 3.0f);
      y.sum().backward();
      EXPECT_EQ(x.grad()[0].item<float>(), 3.0f);
      const torch::NoGradGuard none;
      EXPECT_FALSE(op.call(x).requires_grad());
    }
  });
}

}  // namespace
