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

/// Large weights, whose gradients the optimizer's rule clips itself.
struct LargeRun {
  std::vector<Tensor> seen;
  std::string calls;
  int64_t replayed = 0;
};
using Look = std::function<void(const nn::Sequential& net, std::vector<Tensor>& seen, int i)>;

LargeRun train_large(bool captured, const MakeOptimizer& make_optimizer, Drop drop, bool half, const Look& look = {}) {
  torch::manual_seed(7);
  nn::Sequential net(nn::Linear(96, 256), nn::ReLU(), nn::Linear(256, 80), nn::ReLU(), nn::Linear(80, 4));
  const Optimizer optimizer = make_optimizer(*net);
  double norm = 0;
  const auto step = [&](Tensor x, Tensor y) {
    if (drop == Drop::first) optimizer->zero_grad();
    Tensor loss;
    {
      const torch::autocast guard(torch::kCPU, torch::kBFloat16, half);
      loss = torch::mse_loss(net->forward(x), y);
    }
    loss.backward();
    norm = nn::utils::clip_grad_norm_(net->parameters(), 0.4, 2.0, /*error_if_nonfinite=*/true);
    optimizer->step();
    if (drop == Drop::last) optimizer->zero_grad();
    return loss;
  };
  auto compiled = hb::graph::compile(step, hb::graph::CompileOptions().writes(norm));
  LargeRun run;
  for (int i = 0; i < 24; ++i) {
    const Tensor x = torch::randn({6, 96}), y = torch::randn({6, 4}) * (i % 3);
    if (i == 12) y.fill_(INFINITY);
    if (drop == Drop::outside) optimizer->zero_grad();
    try {
      run.seen.push_back((captured ? compiled(x, y) : step(x, y)).detach().clone());
    } catch (const c10::Error&) {
      EXPECT_EQ(i, 12);
      for (const Tensor& t : state_of(*net)) run.seen.push_back(drop == Drop::last ? Tensor() : t);
      optimizer->zero_grad();
    }
    run.seen.push_back(torch::tensor(norm));
    if (look) look(net, run.seen, i);
  }
  for (const Tensor& t : state_of(*net)) run.seen.push_back(t);
  run.calls = compiled.print(), run.replayed = compiled.counts().replayed;
  return run;
}

}  // namespace

TEST(GraphClipped, RulesClipLargeGradientsThemselves) {
  const MakeOptimizer optimizers[] = {
      [](const nn::Module& net) {
        return make<torch::optim::SGD>(net, torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(0.01));
      },
      [](const nn::Module& net) { return make<torch::optim::AdamW>(net, torch::optim::AdamWOptions(1e-2)); },
      [](const nn::Module& net) { return make<torch::optim::RMSprop>(net, torch::optim::RMSpropOptions(1e-3)); }};
  for (const MakeOptimizer& optimizer : optimizers)
    for (const Drop drop : {Drop::first, Drop::last, Drop::outside})
      for (const bool half : {false, true}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(drop) << " half " << half);
        const LargeRun graph = train_large(true, optimizer, drop, half);
        EXPECT_TRUE(same_state(train_large(false, optimizer, drop, half).seen, graph.seen));
        EXPECT_GE(graph.replayed, 12);
        // Two of six are large; small ones are clipped as before.
        size_t products = 0;
        for (size_t at = 0; (at = graph.calls.find(" = mul ", at)) != std::string::npos; ++at) ++products;
        EXPECT_EQ(products, 4) << graph.calls;
      }
}

TEST(GraphClipped, GradientsThatAreLookedAtAreClipped) {
  const MakeOptimizer adam = [](const nn::Module& net) {
    return make<torch::optim::Adam>(net, torch::optim::AdamOptions(1e-2));
  };
  std::vector<Tensor> held;
  const Look looks[] = {
      [](const nn::Sequential& net, std::vector<Tensor>& seen, int i) {
        const Tensor grad = net->parameters()[0].grad();
        if (i % 2 && grad.defined()) seen.push_back(grad.clone());
      },
      [&](const nn::Sequential& net, std::vector<Tensor>& seen, int i) {
        if (i == 8) held.push_back(net->parameters()[0].grad());
        if (i > 8) seen.push_back(held.back().clone());
      },
      [](const nn::Sequential& net, std::vector<Tensor>&, int i) {
        if (i != 12) net->parameters()[2].mutable_grad().mul_(i);
      },
  };
  for (const Look& look : looks)
    for (const Drop drop : {Drop::first, Drop::outside})
      EXPECT_TRUE(
          same_state(train_large(false, adam, drop, true, look).seen, train_large(true, adam, drop, true, look).seen));
}

// A factor that the program may change before it looks at the gradient.
TEST(GraphClipped, FactorsOfTheProgramsAreUsedAtOnce) {
  std::vector<Tensor> seen[2];
  for (const bool captured : {false, true}) {
    torch::manual_seed(7);
    nn::Linear net(96, 256);
    torch::optim::SGD optimizer(net->parameters(), 0.1);
    const Tensor factor = torch::ones({});
    const auto step = [&](Tensor x, Tensor by) {
      optimizer.zero_grad();
      const Tensor loss = net(x).pow(2).mean();
      loss.backward();
      const torch::NoGradGuard no_grad;
      net->weight.mutable_grad().mul_(factor);
      net->bias.mutable_grad().mul_(by);
      optimizer.step();
      return loss;
    };
    auto compiled = hb::graph::compile(step);
    for (int i = 0; i < 10; ++i) {
      const Tensor x = torch::randn({6, 96}), by = torch::rand({});
      factor.fill_(i);
      seen[captured].push_back((captured ? compiled(x, by) : step(x, by)).detach());
      factor.fill_(100), by.fill_(100);
      for (const Tensor& t : state_of(*net)) seen[captured].push_back(t);
    }
    if (captured) {
      EXPECT_EQ(compiled.counts().replayed, 7);
    }
  }
  EXPECT_TRUE(same_state(seen[0], seen[1]));
}

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
