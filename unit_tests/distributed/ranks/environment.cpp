// HALFBRIDGE_AMP on several ranks; with the variable set, else skipped.
#include "ranks.h"

#include <cstdlib>
#include <limits>

namespace {

using namespace ranks;

TEST(AmpOfTheEnvironment, AnOverflowOnOneRankSkipsAll) {
  if (!std::getenv("HALFBRIDGE_AMP")) GTEST_SKIP() << "HALFBRIDGE_AMP is not set";
  for (const bool parallel : {true, false}) {
    torch::manual_seed(5);
    auto net = mlp();
    DistributedDataParallel model(net);
    dist::DistributedGradReducer reducer(net->parameters());
    torch::optim::SGD optimizer(net->parameters(), 0.05);
    for (int64_t step = 0; step < 6; ++step) {
      const auto before = net->parameters()[0].detach().clone();
      optimizer.zero_grad();
      Tensor x = drawn({8, 20}, 10 * step + rank());
      const bool planted = step == 2 || step == 4;
      if (planted && rank() == size() - 1) x[0][0] = std::numeric_limits<float>::infinity();
      const Tensor loss = cross_entropy(parallel ? model(x) : net->forward(x), classes(8, 5, step));
      if (parallel) {
        loss.backward();
        optimizer.step();
      } else {
        optimizer.step(reducer(torch::autograd::grad({loss}, net->parameters())));
      }
      EXPECT_EQ(torch::equal(before, net->parameters()[0]), planted) << step;
      equal_on_all(net->parameters());
    }
  }
}

}  // namespace
