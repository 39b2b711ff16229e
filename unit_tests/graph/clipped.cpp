// clip_grad_norm_ in captured steps: the norm that it returns, and the error where that is not finite.
#include <cmath>

#include "graph/steps.h"

using namespace steps;

namespace {

struct Clipped {
  World w = mlp();
  torch::optim::SGD optimizer{w.net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9)};
  double norm = 0;
  bool check = false;

  Tensor operator()(Tensor x, Tensor y) {
    optimizer.zero_grad();
    Tensor loss = w.loss(w.forward(x), y);
    loss.backward();
    norm = nn::utils::clip_grad_norm_(w.net->parameters(), 0.05, 2.0, check);
    optimizer.step();
    return loss;
  }
};

}  // namespace

TEST(GraphClipped, ReplaysWriteTheNormToAVariable) {
  std::vector<double> norms[2];
  std::vector<Tensor> left[2];
  for (const bool captured : {false, true}) {
    torch::manual_seed(7);
    Clipped step;
    auto compiled = hb::graph::compile([&](Tensor x, Tensor y) { return step(x, y); },
                                       hb::graph::CompileOptions().writes(step.norm));
    for (int i = 0; i < 40; ++i) {
      const auto [x, y] = step.w.batch();
      captured ? compiled(x, y) : step(x, y);
      norms[captured].push_back(step.norm);
    }
    left[captured] = state_of(*step.w.net);
    if (captured) {
      EXPECT_GE(compiled.counts().replayed, 30) << compiled.counts().reason;
    }
  }
  EXPECT_EQ(norms[0], norms[1]);
  EXPECT_TRUE(same_state(left[0], left[1]));
}

TEST(GraphClipped, AVariableThatHoldsNoNormIsAnError) {
  torch::manual_seed(7);
  Clipped step;
  double other = 3;
  auto compiled =
      hb::graph::compile([&](Tensor x, Tensor y) { return step(x, y); }, hb::graph::CompileOptions().writes(other));
  std::string text;
  for (int i = 0; i < 8 && text.empty(); ++i) {
    const auto [x, y] = step.w.batch();
    try {
      compiled(x, y);
    } catch (const c10::Error& e) {
      text = e.what();
    }
  }
  EXPECT_NE(text.find("[writes] expected a variable that holds"), std::string::npos) << text;
}

TEST(GraphClipped, ANormThatIsNotFiniteIsTheSameErrorAsInEagerMode) {
  std::vector<Tensor> left[2];
  for (const bool captured : {false, true}) {
    torch::manual_seed(7);
    Clipped step;
    step.check = true;
    auto compiled = hb::graph::compile([&](Tensor x, Tensor y) { return step(x, y); });
    for (int i = 0; i < 12; ++i) {
      auto [x, y] = step.w.batch();
      const bool bad = i == 8;
      if (bad) y.fill_(INFINITY);
      std::string text;
      try {
        captured ? compiled(x, y) : step(x, y);
      } catch (const c10::Error& e) {
        text = e.what();
      }
      EXPECT_EQ(text.find("for gradients from `parameters` is non-finite") != std::string::npos, bad) << text;
      if (bad) {  // the gradients are there, the parameters are as they were
        const auto state = state_of(*step.w.net);
        left[captured].insert(left[captured].end(), state.begin(), state.end());
      }
    }
    const auto state = state_of(*step.w.net);
    left[captured].insert(left[captured].end(), state.begin(), state.end());
    if (captured) {
      EXPECT_GE(compiled.counts().replayed, 8) << compiled.counts().reason;
    }
  }
  EXPECT_TRUE(same_state(left[0], left[1]));
}
