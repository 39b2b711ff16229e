// Weights that are updated by rows of their gradients, as these are computed: no bit changes.
#include <cstdlib>
#include <string>

#include "graph/steps.h"

using namespace steps;

namespace {

using Optimizer = std::shared_ptr<torch::optim::Optimizer>;
using MakeOptimizer = std::function<Optimizer(const std::vector<Tensor>&)>;
template <class O, class Options>
MakeOptimizer of(Options options) {
  return [=](const std::vector<Tensor>& weights) { return std::make_shared<O>(weights, options); };
}
const std::vector<MakeOptimizer> kOptimizers = {
    of<torch::optim::SGD>(torch::optim::SGDOptions(0.02)),
    of<torch::optim::SGD>(torch::optim::SGDOptions(0.02).momentum(0.9).weight_decay(0.01)),
    of<torch::optim::Adam>(torch::optim::AdamOptions(1e-2).amsgrad(true)),
    of<torch::optim::AdamW>(torch::optim::AdamWOptions(1e-2)),
    of<torch::optim::RMSprop>(torch::optim::RMSpropOptions(1e-2).momentum(0.9).centered(true)),
    of<torch::optim::ASGD>(torch::optim::ASGDOptions(1e-2).t0(3)),  // carries a number: stays as it is
};

struct Shape {
  int64_t batch, in, out;
};
struct Training {
  MakeOptimizer make;
  Shape shape;
  bool drops_at_end = false, clips = false, overflows = false;
};

/// What a captured or eager training leaves, and the graph's calls.
std::pair<std::vector<Tensor>, std::string> train(const Training& run, bool captured,
                                                  const hb::graph::CompileOptions& options = {}) {
  torch::manual_seed(5);
  nn::Sequential net(nn::Linear(run.shape.in, run.shape.out), nn::Tanh(), nn::Linear(run.shape.out, 4));
  const Optimizer optimizer = run.make(net->parameters());
  torch::amp::GradScaler scaler(torch::kCPU, 16.0, 2.0, 0.5, 4, run.overflows);
  const auto step = [&](Tensor x, Tensor y) {
    if (!run.drops_at_end) optimizer->zero_grad();
    const Tensor loss = torch::mse_loss(net->forward(x), y);
    scaler.scale(loss).backward();
    if (run.clips) nn::utils::clip_grad_norm_(net->parameters(), 0.01);
    scaler.step(*optimizer);
    scaler.update();
    if (run.drops_at_end) optimizer->zero_grad();
    return loss;
  };
  auto compiled = hb::graph::compile(step, options);
  std::vector<Tensor> left;
  for (int i = 0; i < 10; ++i) {
    const Tensor x = torch::randn({run.shape.batch, run.shape.in});
    Tensor y = torch::randn({run.shape.batch, 4});
    if (run.overflows && i % 3 == 2) y.fill_(1e38);
    left.push_back((captured ? compiled(x, y) : step(x, y)).detach());
  }
  if (captured) {
    EXPECT_GE(compiled.counts().replayed, 6) << compiled.counts().reason;
  }
  for (const Tensor& t : state_of(*net)) left.push_back(t);
  return {left, compiled.print()};
}

/// With AVX2 the products' bits depend on the rows, and the calls stay apart.
bool joins() {
  const char* const isa = std::getenv("HALFBRIDGE_ISA");
  return __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && !(isa && std::string(isa) == "v3");
}
bool joined(const std::string& calls) { return calls.find("matmul and update") != std::string::npos; }

TEST(GraphProductUpdates, ChangeNoBitByAnyRule) {
  for (const MakeOptimizer& make : kOptimizers) {
    const Training run{make, {64, 784, 512}};
    const auto [state, calls] = train(run, true);
    EXPECT_TRUE(same_state(train(run, false).first, state)) << &make - kOptimizers.data();
    EXPECT_EQ(joined(calls), joins() && &make != &kOptimizers.back()) << calls;
  }
}

TEST(GraphProductUpdates, ChangeNoBitOfAnyShape) {
  for (const int threads : {1, 2, 3}) {
    const int before = torch::get_num_threads();
    torch::set_num_threads(threads);
    for (const Shape& shape : {Shape{2, 256, 300}, Shape{17, 1000, 129}, Shape{33, 391, 191}, Shape{64, 129, 1025},
                               Shape{96, 2048, 128}, Shape{128, 512, 512}, Shape{128, 1030, 255}}) {
      const Training run{kOptimizers[1], shape};
      const auto [state, calls] = train(run, true);
      EXPECT_TRUE(same_state(train(run, false).first, state)) << shape.batch << ' ' << shape.in << ' ' << shape.out;
      EXPECT_EQ(joined(calls), joins()) << calls;
    }
    torch::set_num_threads(before);
  }
}

TEST(GraphProductUpdates, ChangeNoBitWhateverElseTheStepDoes) {
  const Shape shape{64, 512, 512};
  EXPECT_EQ(joined(train({kOptimizers[2], shape, true}, true).second), joins());
  for (const Training& run : {Training{kOptimizers[2], shape, true}, Training{kOptimizers[2], shape, false, true},
                              Training{kOptimizers[2], shape, false, false, true}})
    EXPECT_TRUE(same_state(train(run, false).first, train(run, true).first)) << run.drops_at_end << run.clips;
}

TEST(GraphProductUpdates, CanBeTurnedOff) {
  hb::graph::CompileOptions options;
  options.update_early = false;
  EXPECT_FALSE(joined(train({kOptimizers[0], {64, 784, 512}}, true, options).second));
}

}  // namespace
