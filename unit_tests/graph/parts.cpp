// Gradients of parts of a value are put in one place: no bit changes, the sign of zeros included.
#include "graph/steps.h"

using namespace steps;

namespace {

using Parts = std::vector<Tensor> (*)(const Tensor&);

/// The gradient of a value of which parts are used, times numbers of which some are -0.
std::vector<Tensor> train(Parts parts, bool captured, bool join, std::string* graph = nullptr) {
  torch::manual_seed(3);
  Tensor w = torch::randn({6, 4, 6}).requires_grad_();
  torch::optim::SGD optimizer({w}, 0.1);
  hb::graph::CompileOptions options;
  options.join_parts = join;
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
  auto compiled = hb::graph::compile(step, options);
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

int count(const std::string& text, const std::string& word) {
  int n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

/// Trains with the pass and without; how many fills are left with it, and how many there are without.
std::pair<int, int> fills(Parts parts) {
  std::string joined, apart;
  const auto eager = train(parts, false, false);
  EXPECT_TRUE(same_state(eager, train(parts, true, true, &joined)));
  EXPECT_TRUE(same_state(eager, train(parts, true, false, &apart)));
  return {count(joined, "fill_"), count(apart, "fill_")};
}

}  // namespace

TEST(GraphParts, ThatAreAllOfAValueNeedNoZeros) {
  const auto [joined, apart] = fills([](const Tensor& t) {
    const Tensor whole = t.permute({1, 0, 2});
    return std::vector<Tensor>{whole[2], whole[0], whole[3], whole[1]};
  });
  EXPECT_EQ(joined + 4, apart);
}

TEST(GraphParts, OfAValueLieAmongTheSameZeros) {
  const auto [joined, apart] = fills([](const Tensor& t) {
    return std::vector<Tensor>{t.slice(1, 0, 1), t.slice(1, 2, 4), t.select(1, 1)};
  });
  EXPECT_LE(joined, apart);
}

TEST(GraphParts, ThatOverlapAreAdded) {
  const auto [joined, apart] = fills([](const Tensor& t) {
    return std::vector<Tensor>{t.slice(2, 0, 4), t.slice(2, 2, 6), t.slice(2, 1, 5)};
  });
  EXPECT_EQ(joined, apart);
}

TEST(GraphParts, ThatInterleaveDoNotOverlap) {
  const auto [joined, apart] = fills([](const Tensor& t) {
    return std::vector<Tensor>{t.slice(2, 0, 6, 3), t.slice(2, 1, 6, 3), t.slice(2, 2, 6, 3)};
  });
  EXPECT_EQ(joined + 3, apart);
}
