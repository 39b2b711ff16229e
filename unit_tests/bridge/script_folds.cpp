// torch::jit::freeze: convolutions before batch norms in one. The archives hold six such pairs and three that look
// alike.
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <halfbridge/graph.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <sstream>
#include <thread>

namespace {

torch::jit::Module load(const std::string& name) {
  auto module = torch::jit::load(std::string(HALFBRIDGE_RECORDED_FILES) + "/script_" + name + ".pt");
  module.eval();
  return module;
}

torch::Tensor compute(torch::jit::Module& module, const torch::Tensor& x) { return module.forward({x}).toTensor(); }
torch::Tensor compute(torch::jit::Module& module) { return compute(module, load("norms").attr("example").toTensor()); }

torch::jit::Module child(const torch::jit::Module& module, const std::string& name) {
  return module.attr(name).toModule();
}

bool is_close(const torch::Tensor& a, const torch::Tensor& b) { return torch::allclose(a, b, 1e-4, 1e-4); }

thread_local int norms_run = 0;

// How many batch norms one call computes.
int count_norms(torch::jit::Module& module) {
  norms_run = 0;
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
        norms_run += std::string(function.name()) == "aten::batch_norm";
        return nullptr;
      }).scopes({at::RecordScope::FUNCTION}));
  compute(module);
  at::removeCallback(handle);
  return norms_run;
}

TEST(ScriptFolds, BatchNormsBehindConvolutions) {
  for (const char* name : {"norms", "norms_traced"}) {
    auto module = load(name);
    const auto expected = load("norms").attr("expected").toTensor();
    EXPECT_TRUE(is_close(compute(module), expected)) << name;
    EXPECT_EQ(count_norms(module), 9) << name;
    auto frozen = torch::jit::freeze(module);
    EXPECT_TRUE(is_close(compute(frozen), expected)) << name;
    EXPECT_EQ(count_norms(frozen), 3) << name;
    EXPECT_EQ(count_norms(module), 9) << name;  // the module itself is as it was
    auto optimized = torch::jit::optimize_for_inference(module);
    EXPECT_EQ(count_norms(optimized), 3) << name;
    auto exact = torch::jit::freeze(module, std::nullopt, false);
    EXPECT_TRUE(compute(exact).equal(compute(module))) << name;
    EXPECT_EQ(count_norms(exact), 9) << name;
  }
}

// The three kinds of changes that a program can make to a frozen module.
TEST(ScriptFolds, FollowTheirTensors) {
  for (const char* name : {"norms", "norms_traced"}) {
    auto module = load(name), frozen = torch::jit::freeze(module);
    compute(frozen);
    const auto change = [](torch::jit::Module& of) {
      const torch::NoGradGuard no_grad;
      child(of, "first").attr("weight").toTensor().mul_(0.5);
      child(of, "line_norm").attr("running_mean").toTensor().add_(1);
      child(of, "written_norm").setattr("weight", torch::full({4}, 2.0));
    };
    change(module);
    EXPECT_FALSE(is_close(compute(module), compute(frozen))) << name;
    change(frozen);
    EXPECT_TRUE(is_close(compute(module), compute(frozen))) << name;
    const auto x = load("norms").attr("example").toTensor().to(torch::kDouble);
    module.to(torch::kDouble), frozen.to(torch::kDouble);
    EXPECT_TRUE(torch::allclose(compute(module, x), compute(frozen, x), 1e-9, 1e-10)) << name;
    EXPECT_EQ(compute(frozen, x).scalar_type(), torch::kDouble) << name;
  }
}

TEST(ScriptFolds, CopiesAreApart) {
  auto frozen = torch::jit::freeze(load("norms"));
  const auto before = compute(frozen);
  auto copy = frozen.deepcopy();
  EXPECT_TRUE(compute(copy).equal(before));
  {
    const torch::NoGradGuard no_grad;
    child(copy, "first").attr("weight").toTensor().zero_();
  }
  EXPECT_FALSE(is_close(compute(copy), before));
  EXPECT_TRUE(compute(frozen).equal(before));
  EXPECT_EQ(count_norms(copy), 3);
}

TEST(ScriptFolds, TrainingComputesStatistics) {
  auto frozen = torch::jit::freeze(load("norms"));
  auto norm = child(frozen, "first_norm");
  const auto mean = norm.attr("running_mean").toTensor().clone();
  norm.train();
  EXPECT_EQ(count_norms(frozen), 4);
  EXPECT_FALSE(norm.attr("running_mean").toTensor().equal(mean));
  norm.eval();
  EXPECT_EQ(count_norms(frozen), 3);
  auto module = load("norms");
  child(module, "first_norm").setattr("running_mean", norm.attr("running_mean"));
  child(module, "first_norm").setattr("running_var", norm.attr("running_var"));
  EXPECT_TRUE(is_close(compute(frozen), compute(module)));
}

// What is saved is what was read.
TEST(ScriptFolds, AreNotSaved) {
  std::stringstream file;
  auto frozen = torch::jit::freeze(load("norms_traced"));
  frozen.save(file);
  auto read = torch::jit::load(file);
  EXPECT_EQ(count_norms(read), 9);
  EXPECT_TRUE(is_close(compute(read), compute(frozen)));
}

TEST(ScriptFolds, HalfPrecisionAndGradients) {
  auto frozen = torch::jit::freeze(load("norms")), exact = torch::jit::freeze(load("norms"), std::nullopt, false);
  const auto gradient = [](const torch::jit::Module& of) {
    auto pairs = child(of, "pairs");
    const auto x = torch::linspace(-1, 1, 2 * 4 * 8 * 8).reshape({2, 4, 8, 8}).requires_grad_();
    compute(pairs, x).sum().backward();
    return x.grad();
  };
  EXPECT_TRUE(is_close(gradient(frozen), gradient(exact)));
  const auto expected = load("norms").attr("expected").toTensor();
  const auto error = [&](torch::jit::Module& of) {
    of.to(torch::kBFloat16);
    const auto y = compute(of, load("norms").attr("example").toTensor().to(torch::kBFloat16));
    EXPECT_EQ(y.scalar_type(), torch::kBFloat16);
    return (y.to(torch::kFloat) - expected).norm().item<float>();
  };
  EXPECT_LT(error(frozen), 1.5f * error(exact));
}

// Weights that were folded in inference mode are used outside of it, too.
TEST(ScriptFolds, InferenceModeLeavesNothingBehind) {
  auto frozen = torch::jit::freeze(load("norms"));
  auto pairs = child(frozen, "pairs");
  const auto x = torch::linspace(-1, 1, 2 * 4 * 8 * 8).reshape({2, 4, 8, 8}).requires_grad_();
  {
    const c10::InferenceMode guard;
    compute(pairs, x);
  }
  compute(pairs, x).sum().backward();
  EXPECT_TRUE(x.grad().defined());
}

TEST(ScriptFolds, TensorsThatWantGradientsGetThem) {
  auto frozen = torch::jit::freeze(load("norms")), exact = torch::jit::freeze(load("norms"), std::nullopt, false);
  const auto gradient = [](const torch::jit::Module& of) {
    auto pairs = child(of, "pairs");
    const auto weight = child(pairs, "0").attr("weight").toTensor().requires_grad_();
    compute(pairs, torch::linspace(-1, 1, 2 * 4 * 8 * 8).reshape({2, 4, 8, 8})).sum().backward();
    return weight.grad();
  };
  EXPECT_TRUE(is_close(gradient(frozen), gradient(exact)));
}

// A recorded call folds the weights anew in each replay.
TEST(ScriptFolds, ReplaysFollowTheTensors) {
  auto frozen = torch::jit::freeze(load("norms"));
  auto pairs = child(frozen, "pairs");
  const torch::NoGradGuard no_grad;
  auto captured = hb::graph::compile([&](torch::Tensor x) { return compute(pairs, x); });
  const auto x = torch::linspace(-1, 1, 2 * 4 * 8 * 8).reshape({2, 4, 8, 8});
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(captured(x).equal(compute(pairs, x))) << "call " << i;
    child(pairs, "0").attr("weight").toTensor().mul_(0.9);
  }
  EXPECT_GT(captured.counts().replayed, 0) << captured.counts().reason;
}

TEST(ScriptFolds, ThreadsShareThem) {
  auto frozen = torch::jit::freeze(load("norms"));
  const auto module = load("norms");
  const auto x = module.attr("example").toTensor(), expected = module.attr("expected").toTensor();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const torch::NoGradGuard no_grad;
      for (int k = 0; k < 10; ++k) right += is_close(compute(frozen, x), expected);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

}  // namespace
