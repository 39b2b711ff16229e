// Chains of element-wise functions compute what the functions compute one by one, bit for bit: programs drawn by
// chance.
#include "graph/steps.h"

#include <random>

using namespace steps;

namespace {

using Function = Tensor (*)(const Tensor& a, const Tensor& b);

// Of numbers of any floating dtype.
const Function kFunctions[] = {
    [](const Tensor& a, const Tensor& b) { return a * b; },
    [](const Tensor& a, const Tensor& b) { return a + b; },
    [](const Tensor& a, const Tensor& b) { return b - a; },
    [](const Tensor& a, const Tensor& b) { return a / b; },
    [](const Tensor& a, const Tensor&) { return a * a; },
    [](const Tensor& a, const Tensor&) { return a * 1.5 - 0.25; },
    [](const Tensor& a, const Tensor&) { return 1 - a; },
    [](const Tensor& a, const Tensor&) { return 2 / a; },
    [](const Tensor& a, const Tensor& b) { return torch::add(a, b, 0.3); },
    [](const Tensor& a, const Tensor&) { return torch::rsub(a, 0.7, 0.3); },
    [](const Tensor& a, const Tensor& b) { return torch::maximum(a, b); },
    [](const Tensor& a, const Tensor& b) { return torch::fmin(a, b); },
    [](const Tensor& a, const Tensor&) { return a.relu(); },
    [](const Tensor& a, const Tensor&) { return a.neg(); },
    [](const Tensor& a, const Tensor&) { return a.abs().sqrt(); },
    [](const Tensor& a, const Tensor&) { return a.floor(); },
    [](const Tensor& a, const Tensor&) { return a.sign(); },
    [](const Tensor& a, const Tensor&) { return a.square(); },
    [](const Tensor& a, const Tensor&) { return a.sigmoid(); },
    [](const Tensor& a, const Tensor&) { return a.tanh(); },
    [](const Tensor& a, const Tensor&) { return torch::gelu(a); },
    [](const Tensor& a, const Tensor&) { return torch::log1p(a.abs()); },
    [](const Tensor& a, const Tensor&) { return a.clamp(-0.8, 1.2); },
    [](const Tensor& a, const Tensor&) { return torch::leaky_relu(a, 0.1); },
    [](const Tensor& a, const Tensor&) { return torch::remainder(a, 0.7); },
    [](const Tensor& a, const Tensor& b) { return torch::where(a > b, a, b * 0.5); },
    [](const Tensor& a, const Tensor& b) { return a.masked_fill(b < 0, 3); },
    [](const Tensor& a, const Tensor& b) { return (a >= b).logical_not() * a; },
    [](const Tensor& a, const Tensor& b) { return torch::addcmul(a, a, b, 0.5); },
    [](const Tensor& a, const Tensor& b) { return torch::lerp(a, b.type_as(a), 0.25); },
    [](const Tensor& a, const Tensor& b) { return a.clone().mul_(b).add_(1).relu_(); },
    [](const Tensor& a, const Tensor& b) { return torch::atan2(a, b); },
};
const Function kIntegerFunctions[] = {
    [](const Tensor& a, const Tensor& b) { return a * b; },
    [](const Tensor& a, const Tensor& b) { return a - b; },
    [](const Tensor& a, const Tensor&) { return (a + 3).abs(); },
    [](const Tensor& a, const Tensor& b) { return torch::maximum(a, b).neg(); },
    [](const Tensor& a, const Tensor& b) { return torch::where(a > b, a, b); },
    [](const Tensor& a, const Tensor&) { return a.clamp(-1000, 1000); },
};

/// A program of ten functions, each of some of the latest values; the same for equal seeds. Two values leave it.
std::vector<Tensor> draw_program(unsigned seed, const std::vector<Tensor>& inputs, bool integers) {
  std::mt19937 random(seed);
  std::vector<Tensor> values = inputs;
  const auto recent = [&] { return values[values.size() - 1 - random() % std::min<size_t>(values.size(), 4)]; };
  for (int i = 0; i < 10; ++i) {
    const Tensor a = random() % 3 ? values.back() : recent(), b = recent();
    const size_t chosen = random();
    values.push_back(integers ? kIntegerFunctions[chosen % std::size(kIntegerFunctions)](a, b)
                              : kFunctions[chosen % std::size(kFunctions)](a, b));
  }
  return {values.back(), values[inputs.size() + random() % 9]};
}

Tensor input(int64_t n, torch::ScalarType dtype) {
  if (dtype == torch::kLong) return torch::randint(-100, 100, {n});
  Tensor x = torch::randn({n}) * 2;
  for (const float odd : {NAN, INFINITY, -INFINITY, -0.0f, 1e-40f, 6e4f})
    x[torch::randint(n, {}).item<int64_t>()] = odd;
  return x.to(dtype);
}

/// Whether bits are the same, of whatever NaN.
bool same_but_nan(const Tensor& a, const Tensor& b) {
  if (!a.is_floating_point()) return same_bits(a, b);
  return same_bits(a.isnan(), b.isnan()) && same_bits(a.masked_fill(a.isnan(), 0), b.masked_fill(b.isnan(), 0));
}

class Chains : public ::testing::TestWithParam<torch::ScalarType> {};

}  // namespace

TEST_P(Chains, OfChanceAreTheirFunctions) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(5);
  const torch::ScalarType dtype = GetParam();
  const int64_t least = 32768 * torch::get_num_threads();
  int chains = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const int64_t n = least + static_cast<int64_t>(seed * 37 % 1500);
    const auto program = [&](Tensor x, Tensor y, Tensor z) {
      const auto out = draw_program(seed, {x, y, z}, dtype == torch::kLong);
      return std::make_tuple(out[0], out[1]);
    };
    auto compiled = hb::graph::compile(program);
    for (int i = 0; i < 5; ++i) {
      // One operand is wider now and then: what is promoted changes its dtype on the way.
      const auto other = seed % 4 == 3 && dtype != torch::kLong ? torch::kFloat : dtype;
      const Tensor x = input(n, dtype), y = input(n, dtype), z = input(n, other);
      const auto [a, b] = program(x, y, z);
      const auto [c, d] = compiled(x, y, z);
      ASSERT_TRUE(same_but_nan(a, c)) << "seed " << seed << ", call " << i << "\n" << compiled.print();
      ASSERT_TRUE(same_but_nan(b, d)) << "seed " << seed << ", call " << i << "\n" << compiled.print();
    }
    EXPECT_EQ(compiled.counts().replayed, 2) << compiled.counts().reason;
    chains += compiled.print().find("chain") != std::string::npos;
  }
  EXPECT_GT(chains, 50);
}

TEST(GraphChains, OfBitsThatAreReadAsAnotherDtype) {
  torch::NoGradGuard no_grad;
  const auto step = [](Tensor x) { return ((x * 2).view(torch::kInt) + x).relu() * 0.5; };
  auto compiled = hb::graph::compile(step);
  for (int i = 0; i < 5; ++i) {
    const Tensor x = torch::randn({32768 * torch::get_num_threads() + 5});
    ASSERT_TRUE(same_bits(step(x), compiled(x))) << "call " << i << compiled.print();
  }
  EXPECT_EQ(compiled.counts().replayed, 2) << compiled.counts().reason;
  EXPECT_NE(compiled.print().find("chain"), std::string::npos) << compiled.print();
}

TEST_P(Chains, EndInReductions) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(7);
  const torch::ScalarType dtype = GetParam();
  const Function reductions[] = {
      [](const Tensor& a, const Tensor& b) { return (a - b).abs().mul(2).sum(); },
      [](const Tensor& a, const Tensor& b) { return (a * b).sub(1).amax(); },
      [](const Tensor& a, const Tensor& b) { return (a > b).logical_not().any(); },
      [](const Tensor& a, const Tensor& b) { return a.maximum(b).neg().sum(torch::kFloat); },
      [](const Tensor& a, const Tensor& b) { return (a + b).to(torch::kFloat).add(1).norm(); },
      [](const Tensor& a, const Tensor& b) { return (a + b).count_nonzero(); },
      [](const Tensor& a, const Tensor& b) {
        const Tensor wide = b.to(torch::kFloat);
        return (a * b + wide).abs().sum();
      },
  };
  for (const Function f : reductions) {
    for (const bool kept : {false, true}) {
      const int64_t n = 32768 * torch::get_num_threads() + 4101;
      const auto step = [&](Tensor x, Tensor y) {
        const Tensor shifted = x + 0.5;
        return std::make_tuple(f(kept ? shifted : x + y, y), kept ? shifted : y);
      };
      auto compiled = hb::graph::compile(step);
      for (int i = 0; i < 5; ++i) {
        const Tensor x = torch::randn({n}).mul(100).to(dtype), y = torch::randn({n}).mul(100).to(dtype);
        const auto [a, b] = step(x, y);
        const auto [c, d] = compiled(x, y);
        ASSERT_TRUE(same_bits(a, c) && same_bits(b, d)) << a << " is not " << c << "\n" << compiled.print();
      }
      EXPECT_EQ(compiled.counts().replayed, 2) << compiled.counts().reason;
      const std::string graph = compiled.print();
      EXPECT_NE(graph.find("chain"), std::string::npos) << graph;
      EXPECT_EQ(graph.find("= reduce"), std::string::npos) << graph;
    }
  }
}

// Channels that make whole groups of elements together with few rows, with many, and with more than a block has.
TEST(GraphChains, BehindABatchNorm) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(6);
  for (const int64_t channels : {48, 100, 1000}) {
    for (const auto dtype : {torch::kFloat, torch::kBFloat16}) {
      for (const bool kept : {false, true}) {
        nn::BatchNorm1d norm(channels);
        norm->weight.normal_();
        norm->eval();
        norm->to(dtype);
        const auto step = [&](Tensor x, Tensor y) {
          const Tensor n = norm(x);
          return std::make_tuple(torch::relu(n * y) * 1.5 - n.tanh(), kept ? n : y);
        };
        auto compiled = hb::graph::compile(step);
        for (int i = 0; i < 5; ++i) {
          const int64_t rows = 32768 * torch::get_num_threads() / channels + 11;
          const Tensor x = torch::randn({rows, channels}, dtype), y = torch::randn({rows, channels}, dtype);
          const auto [a, b] = step(x, y);
          const auto [c, d] = compiled(x, y);
          ASSERT_TRUE(same_bits(a, c) && same_bits(b, d)) << channels << " channels, call " << i << compiled.print();
        }
        EXPECT_EQ(compiled.counts().replayed, 2) << compiled.counts().reason;
        EXPECT_NE(compiled.print().find("chain"), std::string::npos) << compiled.print();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graph, Chains,
                         ::testing::Values(torch::kFloat, torch::kBFloat16, torch::kHalf, torch::kDouble, torch::kLong),
                         [](const auto& info) { return std::string(torch::toString(info.param)); });
