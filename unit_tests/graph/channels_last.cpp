// Values of convolutions lie channels-last, however the program sees them: what is done to them element by element is
// fused and shares memory as it does elsewhere.
#include "graph/steps.h"

using namespace steps;

namespace {

struct Block : nn::Module {
  nn::Conv2d conv1{register_module("conv1", nn::Conv2d(nn::Conv2dOptions(16, 16, 3).padding(1).bias(false)))};
  nn::BatchNorm2d norm{register_module("norm", nn::BatchNorm2d(16))};
  nn::Conv2d conv2{register_module("conv2", nn::Conv2d(nn::Conv2dOptions(16, 16, 3).padding(1)))};
  Tensor forward(Tensor x) {
    Tensor y = norm(conv1(x));
    y += x;
    return conv2(torch::relu(y));
  }
};

struct Outcome {
  std::vector<Tensor> state;
  std::string calls;
  size_t arena = 0;
};

/// Five steps; `options`: null for eager ones.
Outcome train(const hb::graph::CompileOptions* options) {
  torch::manual_seed(6);
  auto net = std::make_shared<Block>();
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  const auto step = [&](Tensor x) {
    optimizer.zero_grad();
    Tensor loss = net->forward(net->forward(x)).square().mean();
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  auto compiled = hb::graph::compile(step, options ? *options : hb::graph::CompileOptions());
  Outcome o;
  for (int i = 0; i < 5; ++i) {
    const Tensor x = torch::randn({16, 16, 32, 32});
    o.state.push_back(options ? compiled(x) : step(x));
  }
  for (const Tensor& t : state_of(*net)) o.state.push_back(t);
  o.calls = compiled.print(), o.arena = compiled.arena_bytes();
  return o;
}

}  // namespace

TEST(GraphChannelsLast, ElementwiseCallsAreFused) {
  hb::graph::CompileOptions options, apart;
  apart.fuse = false;
  const Outcome eager = train(nullptr), fused = train(&options), each = train(&apart);
  EXPECT_TRUE(same_state(eager.state, fused.state));
  EXPECT_TRUE(same_state(eager.state, each.state));
  EXPECT_NE(fused.calls.find(" chain "), std::string::npos) << fused.calls;
  EXPECT_EQ(each.calls.find(" chain "), std::string::npos) << each.calls;
}

TEST(GraphChannelsLast, GradientsOfNormsLieWhereGradientsLay) {
  hb::graph::CompileOptions options;
  const Outcome o = train(&options);
  // Kept: of each of two blocks the convolution's result, the norm's input, and what the second one reads. At the most
  // one gradient comes in, one goes out.
  const size_t value = 16 * 16 * 32 * 32 * sizeof(float);
  EXPECT_LT(o.arena, 8 * value) << o.calls;
}
