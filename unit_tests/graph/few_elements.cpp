// Element-wise functions and reductions of few elements, which replays make without looking at their operands again,
// compute what eager ones compute, bit for bit: programs drawn by chance.
#include "graph/steps.h"

#include <random>

using namespace steps;

namespace {

/// A function of values of these shapes, one of which may be a row, a column or a number of the other's.
using Function = Tensor (*)(const Tensor& a, const Tensor& b);

const Function kFunctions[] = {
    [](const Tensor& a, const Tensor& b) { return a * b; },
    [](const Tensor& a, const Tensor& b) { return b - a; },
    [](const Tensor& a, const Tensor& b) { return a / b; },
    [](const Tensor& a, const Tensor&) { return a * 1.5 - 0.25; },
    [](const Tensor& a, const Tensor&) { return 2 / a; },
    [](const Tensor& a, const Tensor&) { return a.pow(2); },
    [](const Tensor& a, const Tensor& b) { return torch::add(a, b, 0.3); },
    [](const Tensor& a, const Tensor&) { return a.abs().sqrt().neg(); },
    [](const Tensor& a, const Tensor&) { return a.exp(); },
    [](const Tensor& a, const Tensor&) { return a.tanh(); },
    [](const Tensor& a, const Tensor&) { return torch::gelu(a); },
    [](const Tensor& a, const Tensor&) { return a.clamp(-0.8, 1.2); },
    [](const Tensor& a, const Tensor& b) { return torch::where(a > b, a, b * 0.5); },
    [](const Tensor& a, const Tensor& b) { return a.masked_fill(b < 0, 3); },
    [](const Tensor& a, const Tensor& b) { return (a >= b).logical_not() * a; },
    [](const Tensor& a, const Tensor& b) { return torch::addcmul(a, a, b, 0.5); },
    [](const Tensor& a, const Tensor& b) { return torch::lerp(a, b, 0.25); },
    [](const Tensor& a, const Tensor& b) { return torch::atan2(a, b); },
    [](const Tensor& a, const Tensor& b) { return a - b.mean(); },
    [](const Tensor& a, const Tensor& b) { return a / (b.norm() + 1); },
    [](const Tensor& a, const Tensor& b) { return a.t().contiguous().t() + b; },
    [](const Tensor& a, const Tensor&) { return a.clone().mul_(a.flatten()[0]); },
    [](const Tensor& a, const Tensor& b) { return (a.to(torch::kLong) + 1) * b; },
    [](const Tensor& a, const Tensor& b) { return a.to(torch::kBFloat16) * b; },
};

/// Ten functions, each of the latest value and one of the latest; the same for equal seeds.
Tensor draw_program(unsigned seed, std::vector<Tensor> values) {
  std::mt19937 random(seed);
  const auto sizes = values.back().sizes().vec();
  for (int i = 0; i < 10; ++i) {
    const Tensor a = values.back(), b = values[values.size() - 1 - random() % std::min<size_t>(values.size(), 5)];
    values.push_back(kFunctions[random() % std::size(kFunctions)](a, b).nan_to_num(0.5).expand(sizes));
  }
  return values.back();
}

Tensor input(at::IntArrayRef sizes) {
  Tensor x = torch::randn(sizes) * 2;
  for (const float odd : {INFINITY, -0.0f, 1e-40f, 6e4f})
    if (x.numel() > 8) x.view(-1)[torch::randint(x.numel(), {}).item<int64_t>()] = odd;
  return x;
}

}  // namespace

TEST(GraphFewElements, OfChanceAreWhatEagerCallsCompute) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(5);
  int replayed = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const int64_t rows = 1 + seed * 7 % 70, columns = 1 + seed % 9;
    const auto program = [&](Tensor row, Tensor column, Tensor one, Tensor x, Tensor y) {
      return draw_program(seed, {row, column, one, x, y});
    };
    auto compiled = hb::graph::compile(program);
    for (int i = 0; i < 5; ++i) {
      const Tensor row = input({columns}), column = input({rows, 1}), one = input({}), x = input({rows, columns}),
                   y = input({rows, columns});
      const Tensor eager = program(row, column, one, x, y), replay = compiled(row, column, one, x, y);
      ASSERT_TRUE(same_bits(eager, replay)) << "seed " << seed << ", call " << i << "\n" << compiled.print();
    }
    replayed += static_cast<int>(compiled.counts().replayed);
  }
  EXPECT_GT(replayed, 780);
}

// A sum and a norm of one run of floats have a way of their own, up to 4096 elements.
TEST(GraphFewElements, SumsAndNormsOfOneRun) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(6);
  for (const int64_t n : {1, 3, 15, 16, 17, 64, 333, 4095, 4096, 4097, 9000}) {
    const Tensor x = torch::randn({n}) * 100, rows = torch::stack({x, x});
    // Two equal rows are reduced in the general way.
    EXPECT_TRUE(same_bits(x.sum(), rows.sum(1)[0])) << n;
    EXPECT_TRUE(same_bits(x.mean(), rows.mean(1)[0])) << n;
    EXPECT_TRUE(same_bits(x.norm(), rows.norm(2, 1)[0])) << n;
  }
}
