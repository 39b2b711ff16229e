// Random counts, permutations and choices on the software device: their laws, and that a seed repeats them.
#include "software_cuda/program/beside_cpu.h"

namespace {

template <class F>
Tensor drawn(const F& draw) {
  torch::manual_seed(11);
  const Tensor first = draw();
  torch::manual_seed(11);
  EXPECT_TRUE(draw().equal(first));
  EXPECT_FALSE(draw().equal(first));
  return first.cpu();
}

TEST(SoftwareRandom, Permutations) {
  for (const torch::Dtype dtype : {torch::kLong, torch::kInt, torch::kFloat, torch::kDouble, torch::kHalf}) {
    const auto options = torch::TensorOptions().device(kGpu).dtype(dtype);
    const Tensor order = drawn([&] { return torch::randperm(1000, options); });
    EXPECT_EQ(order.scalar_type(), dtype);
    EXPECT_TRUE(std::get<0>(order.to(torch::kLong).sort()).equal(torch::arange(1000)));
  }
  EXPECT_EQ(torch::randperm(0, torch::device(kGpu)).numel(), 0);
  EXPECT_EQ(torch::randperm(1, torch::dtype(torch::kLong).device(kGpu)).item<int64_t>(), 0);
  Tensor places = torch::zeros({5, 5});  // each number comes to each place as often
  for (int i = 0; i < 400; ++i)
    places += torch::one_hot(torch::randperm(5, torch::dtype(torch::kLong).device(kGpu)).cpu(), 5).to(torch::kFloat);
  EXPECT_GT(places.min().item<float>(), 45) << places;
}

TEST(SoftwareRandom, Counts) {
  for (const torch::Dtype dtype : {torch::kFloat, torch::kDouble, torch::kHalf}) {
    for (const double rate : {0.0, 0.5, 4.0, 30.0}) {
      const Tensor rates = torch::full({4000}, rate, torch::dtype(dtype).device(kGpu));
      torch::manual_seed(3);
      const Tensor x = torch::poisson(rates).cpu().to(torch::kDouble);
      EXPECT_NEAR(x.mean().item<double>(), rate, 0.1 * rate + 1e-9) << rate;
      EXPECT_NEAR(x.var().item<double>(), rate, 0.15 * rate + 1e-9) << rate;
      EXPECT_TRUE(x.equal(x.floor()));
    }
    for (const double p : {0.0, 0.03, 0.4, 0.9, 1.0}) {
      const auto full = [&](double value) { return torch::full({4000}, value, torch::dtype(dtype).device(kGpu)); };
      torch::manual_seed(3);
      const Tensor x = torch::binomial(full(50), full(p)).cpu().to(torch::kDouble);
      EXPECT_NEAR(x.mean().item<double>(), 50 * p, 0.06 * 50 * p + 1e-9) << p;
      EXPECT_NEAR(x.var().item<double>(), 50 * p * (1 - p), 0.15 * 50 * p * (1 - p) + 0.02) << p;
    }
  }
  drawn([] { return torch::poisson(torch::full({64}, 3.0, torch::device(kGpu))); });
  EXPECT_THROW(torch::poisson(torch::full({3}, -1.0, torch::device(kGpu))).cpu(), c10::Error);
}

TEST(SoftwareRandom, Choices) {
  const Tensor weights = torch::tensor({{1.0, 0.0, 3.0}, {0.0, 0.0, 2.0}}, torch::device(kGpu));
  const Tensor chosen = drawn([&] { return torch::multinomial(weights, 4000, true); });
  EXPECT_NEAR(chosen[0].eq(0).sum().item<int64_t>(), 1000, 120);
  EXPECT_EQ(chosen[0].eq(1).sum().item<int64_t>(), 0);
  EXPECT_TRUE(chosen[1].eq(2).all().item<bool>());
  const Tensor without = torch::multinomial(torch::ones({3, 6}, torch::device(kGpu)), 6, false).cpu();
  EXPECT_TRUE(std::get<0>(without.sort(1)).equal(torch::arange(6).expand({3, 6})));
  for (const double bad : {-1.0, static_cast<double>(INFINITY), static_cast<double>(NAN)})
    EXPECT_THROW(torch::multinomial(torch::tensor({1.0, bad}, torch::device(kGpu)), 3, true).cpu(), c10::Error) << bad;
  EXPECT_THROW(torch::multinomial(torch::zeros({2}, torch::device(kGpu)), 3, true).cpu(), c10::Error);
}

// The second call of a checkpointed function draws what the first drew, and leaves the generator as it was.
TEST(SoftwareRandom, CheckpointsDrawTheirNumbersAgain) {
  const Tensor w = torch::ones({256}, torch::device(kGpu)).requires_grad_(),
               x = torch::ones({256}, torch::device(kGpu));
  const auto numbers_after = [&](bool backward) {
    torch::manual_seed(5);
    const Tensor y = torch::checkpoint([&](const Tensor& a) { return torch::dropout(a * w, 0.5, true).exp(); }, x);
    w.mutable_grad().reset();
    if (backward) y.sum().backward();
    if (backward) EXPECT_TRUE((y.detach() > 1.5).cpu().equal((w.grad() > 0).cpu()));
    return torch::rand({8}, torch::device(kGpu)).cpu();
  };
  EXPECT_TRUE(numbers_after(false).equal(numbers_after(true)));
}

}  // namespace
