// The ResNet-34 of the examples, narrow, in each style of training: captured steps equal eager ones bit for bit.
#include "../../examples/resnet34/resnet34.h"

#include "graph/steps.h"

using namespace steps;

namespace {

constexpr int kSteps = 100, kOverflow = 30;

struct Run {
  std::vector<Tensor> seen;
  hb::graph::CompileCounts counts;
};
/// What a style makes of a net and its optimizer: step(x, y) gives the loss, counts() what became of the calls.
struct Style {
  std::function<Tensor(Tensor, Tensor)> step;
  std::function<hb::graph::CompileCounts()> counts;
};
using Make = std::function<Style(ResNet34, torch::optim::Optimizer&, bool captured)>;

Run train(const Make& make, bool overflow, bool captured) {
  torch::manual_seed(3);
  ResNet34 net(/*cifar=*/true, /*width=*/4);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.02).momentum(0.9));
  const Style style = make(net, optimizer, captured);
  Run run;
  for (int i = 0; i < kSteps; ++i) {
    Tensor x = torch::randn({2, 1, 8, 8});
    const Tensor y = torch::randint(10, {2}, torch::kLong);
    if (overflow && i == kOverflow) x.mul_(INFINITY);
    run.seen.push_back(style.step(x, y).detach());
  }
  for (const Tensor& t : state_of(*net)) run.seen.push_back(t);
  run.counts = style.counts();
  return run;
}

void compare(const Make& make, bool overflow) {
  const Run eager = train(make, overflow, false), graph = train(make, overflow, true);
  EXPECT_TRUE(same_state(eager.seen, graph.seen)) << graph.counts.reason;
  EXPECT_EQ(graph.counts.replayed + graph.counts.compared, kSteps - 3) << graph.counts.reason;
}

Make by_level(const char* level, torch::Dtype dtype) {
  return [=](ResNet34 net, torch::optim::Optimizer& optimizer, bool captured) {
    auto step = std::make_shared<hb::amp::TrainOneStep>(
        net, optimizer, nn::CrossEntropyLoss(), level,
        dtype == torch::kHalf ? std::make_shared<hb::amp::DynamicLossScaleManager>(1024, 2, 20) : nullptr,
        hb::amp::LevelOptions().dtype(dtype));
    step->clip_gradients(5.0);
    if (captured) step->capture();
    return Style{[step](Tensor x, Tensor y) { return step->construct({x}, y).loss; },
                 [step] { return step->graph_counts(); }};
  };
}

/// A step of the program's own.
template <class Step>
Style own(Step step, bool captured) {
  auto compiled = std::make_shared<hb::graph::Compiled<Step>>(hb::graph::compile(step));
  return {[=](Tensor x, Tensor y) mutable { return captured ? (*compiled)(x, y) : step(x, y); },
          [=] { return compiled->counts(); }};
}

}  // namespace

TEST(GraphResNet34, Levels) {
  for (const char* level : {"O0", "O1", "O2", "O3", "auto"}) {
    for (const auto dtype : {torch::kBFloat16, torch::kHalf}) {
      SCOPED_TRACE(std::string(level) + (dtype == torch::kHalf ? " fp16" : " bf16"));
      compare(by_level(level, dtype), dtype == torch::kHalf);
    }
  }
}

TEST(GraphResNet34, AutocastAndAScaler) {
  const Make make = [](ResNet34 net, torch::optim::Optimizer& optimizer, bool captured) {
    auto scaler = std::make_shared<hb::amp::GradScaler>(hb::kCPU, hb::amp::GradScalerOptions().init_scale(1024));
    const auto step = [=, &optimizer](Tensor x, Tensor y) mutable {
      optimizer.zero_grad();
      Tensor loss;
      {
        const torch::autocast guard(torch::kCPU, torch::kHalf);
        loss = nn::functional::cross_entropy(net->forward(x), y);
      }
      scaler->scale(loss).backward();
      scaler->unscale_(optimizer);
      nn::utils::clip_grad_norm_(net->parameters(), 5.0);
      scaler->step(optimizer);
      scaler->update();
      return loss;
    };
    return own(step, captured);
  };
  compare(make, true);
}

TEST(GraphResNet34, ExplicitGradients) {
  const Make make = [](ResNet34 net, torch::optim::Optimizer& optimizer, bool captured) {
    const auto step = [=, &optimizer](Tensor x, Tensor y) mutable {
      auto [loss, grads] =
          torch::value_and_grad([&] { return nn::functional::cross_entropy(net->forward(x), y); }, net->parameters())();
      optimizer.step(grads);
      return loss;
    };
    return own(step, captured);
  };
  compare(make, false);
}
