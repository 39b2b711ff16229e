// torch::checkpoint: the gradients of the plain call, with less memory.
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace nn = torch::nn;
using torch::Tensor;

namespace {

nn::Sequential block(int64_t width) {
  return nn::Sequential(nn::Linear(width, width), nn::ReLU(), nn::Dropout(0.3), nn::Linear(width, width), nn::Tanh());
}

struct Result {
  std::vector<Tensor> grads;
  Tensor value;
};

// The same network, seed and input, with `call(block, x)` for each block.
template <class Call>
Result train(Call call, bool input_grad = true) {
  torch::manual_seed(1);
  std::vector<nn::Sequential> blocks = {block(7), block(7), block(7)};
  Tensor x = torch::randn({5, 7}).requires_grad_(input_grad);
  Tensor y = x;
  for (auto& b : blocks) y = call(b, y);
  Tensor value = y.pow(2).sum();
  value.backward();
  Result r;
  r.value = value.detach();
  for (auto& b : blocks)
    for (auto& p : b->parameters()) r.grads.push_back(p.grad());
  if (input_grad) r.grads.push_back(x.grad());
  r.grads.push_back(torch::rand({3}));  // the random numbers go on alike
  return r;
}

void expect_same(const Result& a, const Result& b) {
  EXPECT_TRUE(torch::equal(a.value, b.value));
  ASSERT_EQ(a.grads.size(), b.grads.size());
  for (size_t i = 0; i < a.grads.size(); ++i) {
    ASSERT_TRUE(a.grads[i].defined() && b.grads[i].defined()) << i;
    EXPECT_TRUE(torch::equal(a.grads[i], b.grads[i])) << i;
  }
}

auto plain = [](nn::Sequential& b, const Tensor& x) { return b->forward(x); };
auto checkpointed = [](nn::Sequential& b, const Tensor& x) {
  return torch::checkpoint([b](const Tensor& t) mutable { return b->forward(t); }, x);
};

}  // namespace

TEST(TrainCheckpoint, GradientsAreThoseOfThePlainCallMasksIncluded) {
  expect_same(train(plain), train(checkpointed));
  expect_same(train(plain, false), train(checkpointed, false));  // no input with a gradient: parameters alone
}

TEST(TrainCheckpoint, TakesAModuleHolder) {
  nn::Linear fc(3, 3);
  auto x = torch::ones({2, 3});
  torch::checkpoint(fc, x).sum().backward();
  auto given = fc->weight.grad().clone();
  fc->zero_grad();
  fc(x).sum().backward();
  EXPECT_TRUE(torch::equal(given, fc->weight.grad()));
}

TEST(TrainCheckpoint, Nested) {
  auto nested = [](nn::Sequential& b, const Tensor& x) {
    return torch::checkpoint(
        [b](Tensor t) {
          t = torch::checkpoint([b](const Tensor& u) mutable { return b->forward(u).mul(2); }, t * 1.5);
          return torch::checkpoint([](const Tensor& u) { return torch::dropout(u.sin(), 0.2, true); }, t) * t;
        },
        x);
  };
  auto same = [](nn::Sequential& b, const Tensor& x) {
    auto t = b->forward(x * 1.5).mul(2);
    return torch::dropout(t.sin(), 0.2, true) * t;
  };
  expect_same(train(same), train(nested));
}

TEST(TrainCheckpoint, SeveralOutputsAndOtherArguments) {
  auto x = torch::randn({4, 4}).requires_grad_(true), w = torch::randn({4, 4}).requires_grad_(true);
  auto f = [](const Tensor& a, const std::vector<Tensor>& rest, double factor, bool flag) {
    EXPECT_TRUE(flag);
    return std::make_tuple((a * factor).exp(), a.matmul(rest.at(0)).sigmoid(), 5);
  };
  auto grads = [&](auto&& result) {
    return torch::autograd::grad({(std::get<0>(result) * std::get<1>(result)).sum()}, {x, w});
  };
  auto expected = grads(f(x, {w}, 0.5, true));
  auto given = grads(torch::checkpoint(f, x, std::vector<Tensor>{w}, 0.5, true));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(torch::equal(expected[i], given[i]));
}

TEST(TrainCheckpoint, SecondDerivativesAndASecondPass) {
  auto x = torch::randn({6}).requires_grad_(true);
  auto f = [](const Tensor& t) { return (t.sin() * t.exp()).tanh(); };
  auto second = [&](const Tensor& y) {
    auto g = torch::autograd::grad({y.sum()}, {x}, {}, true, /*create_graph=*/true)[0];
    auto gg = torch::autograd::grad({g.pow(2).sum()}, {x}, {}, true)[0];
    return std::vector<Tensor>{g.detach(), gg, torch::autograd::grad({y.sum()}, {x})[0]};
  };
  auto expected = second(f(x)), given = second(torch::checkpoint(f, x));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(torch::allclose(expected[i], given[i], 1e-6, 1e-7)) << i;
  auto y = torch::checkpoint(f, x);
  y.sum().backward();
  EXPECT_THROW(y.sum().backward(), torch::Error);  // freed, as any graph
}

TEST(TrainCheckpoint, UnderAutocast) {
  for (auto dtype : {torch::kHalf, torch::kBFloat16}) {
    torch::manual_seed(1);
    auto b = block(8);
    auto x = torch::randn({4, 8}).requires_grad_(true);
    auto grads = [&](bool checkpoint) {
      torch::manual_seed(2);
      Tensor y;
      {
        torch::autocast guard(torch::kCPU, dtype);
        y = checkpoint ? checkpointed(b, x) : plain(b, x);
        EXPECT_EQ(y.scalar_type(), dtype);
      }
      auto inputs = b->parameters();
      inputs.push_back(x);
      return torch::autograd::grad({y.to(torch::kFloat).sum()}, inputs);
    };
    const auto expected = grads(false), given = grads(true);
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(torch::equal(expected[i], given[i])) << i;
    EXPECT_EQ(hb::autocast::cache_size(), 0u);
  }
}

TEST(TrainCheckpoint, WithoutGradientsItIsACall) {
  torch::NoGradGuard no_grad;
  int calls = 0;
  auto y = torch::checkpoint([&calls](const Tensor& t) { return ++calls, t + 1; }, torch::ones({2}));
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(y.requires_grad());
}

TEST(TrainCheckpoint, ASecondCallThatDiffersIsAnError) {
  auto x = torch::ones({4}).requires_grad_(true);
  auto calls = std::make_shared<int>(0);
  auto shape =
      torch::checkpoint([calls](const Tensor& t) { return (*calls)++ ? t.narrow(0, 0, 2).exp() : t.exp(); }, x);
  EXPECT_THROW(shape.sum().backward(), torch::Error);
  *calls = 0;
  auto number = torch::checkpoint([calls](const Tensor& t) { return (*calls)++ ? t.exp().sin() : t.exp(); }, x);
  EXPECT_THROW(number.sum().backward(), torch::Error);
  *calls = 0;
  auto dtype = torch::checkpoint(
      [calls](const Tensor& t) { return (*calls)++ ? t.to(torch::kDouble).exp().to(torch::kFloat) : t.exp(); }, x);
  EXPECT_THROW(dtype.sum().backward(), torch::Error);
}

TEST(TrainCheckpoint, InputsChangedInPlaceAreNoticed) {
  auto x = torch::ones({4}).requires_grad_(true);
  auto a = x * 2;
  auto y = torch::checkpoint([](const Tensor& t) { return t.exp(); }, a);
  {
    torch::NoGradGuard no_grad;
    a.add_(1);
  }
  EXPECT_THROW(y.sum().backward(), torch::Error);
}

TEST(TrainCheckpoint, PeakMemoryIsLower) {
  auto peak = [](bool checkpoint) {
    torch::manual_seed(1);
    std::vector<nn::Sequential> blocks;
    for (int i = 0; i < 6; ++i) blocks.push_back(block(64));
    auto x = torch::randn({4096, 64});
    hb::reset_peak_memory();
    const size_t before = hb::memory_in_use();
    Tensor y = x;
    for (auto& b : blocks) y = checkpoint ? checkpointed(b, y) : plain(b, y);
    y.sum().backward();
    y.reset();
    return hb::peak_memory() - before;
  };
  const size_t kept = peak(false), again = peak(true);
  EXPECT_LT(static_cast<double>(again), 0.6 * static_cast<double>(kept)) << again << " of " << kept;
}

// A program's own function of this name is not hidden.
namespace own {
using namespace torch;
std::string checkpoint(const std::string& path, nn::Linear&) { return path; }
std::string use() {
  nn::Linear fc(1, 1);
  return checkpoint("a.pt", fc);
}
}  // namespace own
TEST(TrainCheckpoint, AProgramsOwnFunctionOfThisNameIsFound) { EXPECT_EQ(own::use(), "a.pt"); }
