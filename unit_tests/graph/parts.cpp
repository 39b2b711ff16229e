// Gradients of parts of a value lie in one place, in graphs as in eager steps, the sign of zeros included.
#include "graph/steps.h"

using namespace steps;

namespace {

using Parts = std::vector<Tensor> (*)(const Tensor&);

/// The gradient of a value of which parts are used, times numbers of which some are -0.
std::vector<Tensor> train(Parts parts, bool captured, std::string* graph = nullptr) {
  torch::manual_seed(3);
  Tensor w = torch::randn({6, 4, 6}).requires_grad_();
  torch::optim::SGD optimizer({w}, 0.1);
  const auto step = [&](Tensor x) {
    optimizer.zero_grad();
    Tensor total;
    for (const Tensor& p : parts(w * x)) {
      const Tensor term = (p * torch::where(p > 0, 1.5, -0.0)).sum();
      total = total.defined() ? total + term : term;
    }
    total.backward();
    optimizer.step();
    return total;
  };
  auto compiled = hb::graph::compile(step);
  std::vector<Tensor> seen;
  for (int i = 0; i < 7; ++i) {
    const Tensor x = torch::randn({6, 4, 6});
    seen.push_back((captured ? compiled(x) : step(x)).detach());
    seen.push_back(w.grad().clone());
  }
  if (captured) {
    EXPECT_EQ(compiled.counts().replayed, 4) << compiled.counts().reason;
  }
  if (graph) *graph = compiled.print();
  return seen;
}

/// How many fills a step's graph has, which equals eager steps.
int fills(Parts parts) {
  std::string graph;
  EXPECT_TRUE(same_state(train(parts, false), train(parts, true, &graph)));
  int n = 0;
  for (size_t at = graph.find("fill_"); at != std::string::npos; at = graph.find("fill_", at + 1)) ++n;
  return n;
}

std::vector<Tensor> whole(const Tensor& t) { return {t}; }

}  // namespace

TEST(GraphParts, ThatAreAllOfAValueNeedNoZeros) {
  const int all = fills([](const Tensor& t) {
    const Tensor turned = t.permute({1, 0, 2});
    return std::vector<Tensor>{turned[2], turned[0], turned[3], turned[1]};
  });
  EXPECT_EQ(all, fills(whole));
}

TEST(GraphParts, ZerosAreWhatNoPartHas) {
  const int some = fills([](const Tensor& t) { return std::vector<Tensor>{t.slice(1, 0, 1), t.slice(1, 2, 3)}; });
  EXPECT_EQ(some, fills(whole) + 2);
}

TEST(GraphParts, ThatOverlapAreAdded) {
  fills([](const Tensor& t) { return std::vector<Tensor>{t.slice(2, 0, 4), t.slice(2, 2, 6), t.slice(2, 1, 5)}; });
}

TEST(GraphParts, ThatInterleaveDoNotOverlap) {
  const int all = fills([](const Tensor& t) {
    return std::vector<Tensor>{t.slice(2, 0, 6, 3), t.slice(2, 1, 6, 3), t.slice(2, 2, 6, 3)};
  });
  EXPECT_EQ(all, fills(whole) + 1);  // gaps between elements are filled together, before
}
