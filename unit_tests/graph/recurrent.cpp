// Recurrent layers, which run as one function while nobody watches what they are made of.
#include "graph/steps.h"

namespace {

using namespace steps;

/// The parameters after six steps of a net of these layers, as the program wrote them or captured.
std::vector<Tensor> trained(const std::shared_ptr<nn::Module>& net, const std::function<Tensor(Tensor)>& forward,
                            bool captured) {
  torch::manual_seed(5);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.5).momentum(0.9));
  const auto eager = [&](Tensor x) {
    optimizer.zero_grad();
    forward(x).square().mean().backward();
    optimizer.step();
  };
  auto step = hb::graph::compile(eager);
  for (int i = 0; i < 6; ++i) {
    const Tensor x = torch::randn({9, 4, 32});
    captured ? step(x) : eager(x);
  }
  if (captured) {
    EXPECT_EQ(step.counts().replayed, 3) << step.counts().reason;
  }
  return state_of(*net);
}

template <class Layer, class Options>
void expect_equal(const Options& options) {
  const auto run = [&](bool captured) {
    torch::manual_seed(4);
    Layer layer(options);
    return trained(
        layer.ptr(), [&](Tensor x) { return std::get<0>(layer(x)); }, captured);
  };
  EXPECT_TRUE(same_state(run(false), run(true)));
}

TEST(CapturedRecurrentLayers, AreTheEagerOnesBitForBit) {
  expect_equal<nn::LSTM>(nn::LSTMOptions(32, 32));
  expect_equal<nn::LSTM>(nn::LSTMOptions(32, 16).num_layers(2).bidirectional(true).bias(false));
  expect_equal<nn::GRU>(nn::GRUOptions(32, 32));
  expect_equal<nn::RNN>(nn::RNNOptions(32, 32));
}

}  // namespace
