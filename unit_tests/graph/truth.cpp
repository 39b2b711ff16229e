// What no guard can see between two calls: numbers, branches and variables of the program. A graph is compared with
// the step now and then, and what a step may depend on can be named.
#include "graph/steps.h"

using namespace steps;

namespace {

/// Warnings, instead of printing them.
class Warnings final : public c10::WarningHandler {
 public:
  Warnings() : before_(c10::WarningUtils::get_warning_handler()) { c10::WarningUtils::set_warning_handler(this); }
  ~Warnings() override { c10::WarningUtils::set_warning_handler(before_); }
  void process(const c10::Warning& w) override { text += w.msg() + "\n"; }
  std::string text;

 private:
  c10::WarningHandler* before_;
};

hb::graph::CompileOptions comparing(int64_t every) {
  hb::graph::CompileOptions options;
  options.compare_every = every;
  return options;
}

/// Calls a step until it throws; how many calls that took, and the error.
template <class Step>
std::pair<int, std::string> until_it_throws(Step& step) {
  for (int i = 1; i < 12; ++i) {
    try {
      step(torch::ones({4}));
    } catch (const c10::Error& e) {
      return {i, e.what()};
    }
  }
  return {0, ""};
}

}  // namespace

TEST(GraphTruth, ANumberThatChangesAtEachCallIsAnError) {
  torch::NoGradGuard no_grad;
  int n = 0;
  auto step = hb::graph::compile([&](Tensor x) { return x * ++n; });
  const auto [calls, text] = until_it_throws(step);
  EXPECT_EQ(calls, 5);
  EXPECT_NE(text.find("[mul] gets other numbers"), std::string::npos) << text;
  EXPECT_EQ(step.counts().replayed, 0);
}

TEST(GraphTruth, AReadingOfAValueIsAnErrorAtTheThirdCall) {
  torch::NoGradGuard no_grad;
  auto step = hb::graph::compile([](Tensor x) { return x * x.sum().item<float>(); });
  EXPECT_EQ(until_it_throws(step).first, 3);
}

TEST(GraphTruth, ANumberThatChangesLaterIsFound) {
  torch::NoGradGuard no_grad;
  double k = 2;
  auto step = hb::graph::compile([&](Tensor x) { return x * k; }, comparing(64));
  const Tensor x = torch::ones({4});
  for (int i = 0; i < 200; ++i) step(x);
  EXPECT_GE(step.counts().compared, 3);
  k = 3;
  const Warnings warnings;
  int stale = 0;
  while (step(x)[0].item<float>() != 3) ASSERT_LE(++stale, 64);
  EXPECT_NE(warnings.text.find("[mul] gets other numbers"), std::string::npos) << warnings.text;
  EXPECT_EQ(step(x)[0].item<float>(), 3);
}

TEST(GraphTruth, ABranchIsFound) {
  torch::NoGradGuard no_grad;
  bool twice = false;
  auto step = hb::graph::compile([&](Tensor x) { return twice ? x.exp() : x.sin(); }, comparing(8));
  const Tensor x = torch::ones({4});
  for (int i = 0; i < 30; ++i) step(x);
  twice = true;
  const Warnings warnings;
  for (int i = 0; i < 9; ++i) step(x);
  EXPECT_NE(warnings.text.find("[exp] is what it computes where it computed [sin]"), std::string::npos);
  EXPECT_TRUE(same_bits(step(x), x.exp()));
}

TEST(GraphTruth, AVariableThatNamesAnotherTensorIsFound) {
  torch::NoGradGuard no_grad;
  Tensor k = torch::ones({4});
  auto step = hb::graph::compile([&](Tensor x) { return x * k; }, comparing(8));
  const Tensor x = torch::ones({4});
  for (int i = 0; i < 30; ++i) step(x);
  const Tensor old = k;
  k = torch::full({4}, 5.0);
  const Warnings warnings;
  for (int i = 0; i < 9; ++i) step(x);
  EXPECT_NE(warnings.text.find("[mul] gets other tensors"), std::string::npos) << warnings.text;
  EXPECT_TRUE(same_bits(step(x), k));
}

TEST(GraphTruth, AnotherViewAmongTheResultsIsFound) {
  torch::NoGradGuard no_grad;
  int row = 0;
  auto step = hb::graph::compile([&](Tensor x) { return (x * 2)[row]; }, comparing(8));
  const Tensor x = torch::arange(8.0).view({2, 4});
  for (int i = 0; i < 30; ++i) step(x);
  row = 1;
  const Warnings warnings;
  for (int i = 0; i < 9; ++i) step(x);
  EXPECT_NE(warnings.text.find("it returns other tensors"), std::string::npos) << warnings.text;
  EXPECT_TRUE(same_bits(step(x), x[1] * 2));
}

TEST(GraphTruth, WhatAStepReadsIsLookedAtEachTime) {
  torch::NoGradGuard no_grad;
  struct Net : nn::Module {
    double temperature = 1;
    Tensor k = torch::ones({4});
  } net;
  auto step =
      hb::graph::compile([&](Tensor x) { return x * net.temperature + net.k; }, hb::graph::CompileOptions().reads(net));
  const Tensor x = torch::ones({4});
  for (int i = 0; i < 6; ++i) step(x);
  EXPECT_GT(step.counts().replayed, 0);
  net.temperature = 7;
  EXPECT_EQ(step(x)[0].item<float>(), 8);
  EXPECT_EQ(step.counts().recorded, 2);
  const Tensor old = net.k;
  net.k = torch::zeros({4});
  EXPECT_EQ(step(x)[0].item<float>(), 7);
  EXPECT_EQ(step.counts().recorded, 3);
}

// What hooks compute is part of the step.
TEST(GraphTruth, HooksThatComputeAreCaptured) {
  std::vector<Tensor> seen[2];
  for (const bool captured : {false, true}) {
    torch::manual_seed(5);
    const World w = mlp();
    const Tensor first = w.net->parameters()[0];
    first.register_hook([](Tensor g) { return g * 0.5; });
    w.net->children()[0]->register_forward_hook(
        [](nn::Module&, const std::vector<Tensor>&, const std::vector<Tensor>& out) {
          return std::vector<Tensor>{out[0] + 1};
        });
    torch::optim::SGD optimizer(w.net->parameters(), 0.1);
    const auto step = [&](Tensor x, Tensor y) {
      optimizer.zero_grad();
      Tensor out = w.forward(x);
      out.register_hook([](Tensor g) { return g.clamp(-0.01, 0.01); });
      Tensor loss = w.loss(out, y);
      loss.backward();
      nn::utils::clip_grad_norm_(w.net->parameters(), 0.25);
      optimizer.step();
      return loss;
    };
    auto compiled = hb::graph::compile(step);
    for (int i = 0; i < 8; ++i) {
      const auto [x, y] = w.batch();
      seen[captured].push_back((captured ? compiled(x, y) : step(x, y)).detach());
    }
    for (const Tensor& t : state_of(*w.net)) seen[captured].push_back(t);
    if (captured) {
      EXPECT_EQ(compiled.counts().replayed, 5) << compiled.counts().reason;
    }
  }
  EXPECT_TRUE(same_state(seen[0], seen[1]));
}

TEST(GraphTruth, ALoadedStateIsRecordedAtOnce) {
  const World w = mlp();
  torch::optim::Adam optimizer(w.net->parameters(), torch::optim::AdamOptions(0.01));
  auto step = hb::graph::compile([&](Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = w.loss(w.forward(x), y);
    loss.backward();
    optimizer.step();
    return loss;
  });
  const auto [x, y] = w.batch();
  for (int i = 0; i < 6; ++i) step(x, y);
  optimizer.load_state_dict(optimizer.state_dict());
  step(x, y);
  EXPECT_EQ(step.counts().recorded, 2) << step.counts().reason;
  step(x, y);
  w.net->load_state_dict(w.net->state_dict());
  step(x, y);
  EXPECT_EQ(step.counts().recorded, 2) << step.counts().reason;
}
