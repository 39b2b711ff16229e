// embedding_bag's kernel: the same values and derivatives as a look-up and a sum, whatever the number of threads.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <cstring>

namespace {

using torch::Tensor;

struct Bags {
  Tensor index = torch::tensor({1, 4, 4, 0, 6, 2, 2, 5}), begin = torch::tensor({0, 2, 2, 5});  // one is empty
  Tensor number = torch::tensor({0, 0, 2, 2, 2, 3, 3, 3});
};

Tensor pooled(const Bags& bags, const Tensor& weight, int64_t mode, const std::optional<Tensor>& samples = {}) {
  return std::get<0>(torch::embedding_bag(weight, bags.index, bags.begin, false, mode, false, samples));
}
Tensor composed_sum(const Bags& bags, const Tensor& weight, const Tensor& samples) {
  const Tensor rows = weight.index_select(0, bags.index) * samples.unsqueeze(1);
  return torch::zeros({4, weight.size(1)}, weight.options()).index_add(0, bags.number, rows);
}

TEST(EmbeddingBag, IsOneNode) {
  const Tensor weight = torch::randn({7, 3}).requires_grad_();
  EXPECT_EQ(pooled(Bags(), weight, 0).grad_fn()->name(), "EmbeddingBagBackward0");
}

TEST(EmbeddingBag, SecondDerivativesAreThoseOfALookUpAndASum) {
  torch::manual_seed(1);
  const Bags bags;
  const auto double_type = torch::dtype(torch::kDouble).requires_grad(true);
  const Tensor weight = torch::randn({7, 5}, double_type), samples = torch::randn({8}, double_type);
  const auto second = [&](const Tensor& y) {
    const auto first = torch::autograd::grad({y.pow(3).sum()}, {weight, samples}, {}, true, true);
    return torch::autograd::grad({first[0].pow(2).sum() + first[1].pow(2).sum()}, {weight, samples});
  };
  const auto ours = second(pooled(bags, weight, 0, samples)), plain = second(composed_sum(bags, weight, samples));
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(torch::allclose(ours[i], plain[i], 1e-12, 1e-12));
  for (int64_t mode : {1, 2}) {
    const auto fn = [&](const Tensor& w) {
      const Tensor y = pooled(bags, w, mode);
      return torch::autograd::grad({y.pow(3).sum()}, {w}, {}, true, true)[0].pow(2).sum();
    };
    const Tensor slope = torch::autograd::grad({fn(weight)}, {weight})[0];
    Tensor moved = weight.detach().clone();
    moved[4][1] += 1e-6;
    const double above = fn(moved.clone().requires_grad_()).item<double>();
    moved[4][1] -= 2e-6;
    const double below = fn(moved.requires_grad_().detach().requires_grad_()).item<double>();
    EXPECT_NEAR(slope[4][1].item<double>(), (above - below) / 2e-6, 1e-5 * (1 + std::fabs(above))) << mode;
  }
}

TEST(EmbeddingBag, HasTheSameBitsForAnyNumberOfThreads) {
  torch::manual_seed(2);
  const Tensor index = torch::randint(400, {9000}, torch::kLong), begin = torch::arange(0, 9000, 9);
  const int threads = torch::get_num_threads();
  for (auto dtype : {torch::kFloat, torch::kBFloat16})
    for (int64_t mode : {0, 1, 2}) {
      const Tensor weight = torch::randn({400, 70}).to(dtype).requires_grad_();
      const Tensor g = torch::randn({1000, 70}).to(dtype);
      const auto both = [&](int count) {
        torch::set_num_threads(count);
        const Tensor y = std::get<0>(torch::embedding_bag(weight, index, begin, false, mode));
        return std::pair{y, torch::autograd::grad({y}, {weight}, {g})[0]};
      };
      const auto one = both(1), several = both(4);
      EXPECT_TRUE(torch::equal(one.first, several.first));
      EXPECT_TRUE(torch::equal(one.second, several.second));
    }
  torch::set_num_threads(threads);
}

TEST(EmbeddingBag, NaNIsTheLargest) {
  Tensor weight = torch::zeros({7, 2});
  weight[4][1] = NAN;
  const Tensor y = pooled(Bags(), weight, 2);
  EXPECT_TRUE(y[0][1].isnan().item<bool>());
  EXPECT_FALSE(y[0][0].isnan().item<bool>());
  EXPECT_EQ(y[1][1].item<float>(), 0);
}

TEST(EmbeddingBag, RefusesIndicesOutsideOfTheTable) {
  Bags bags;
  bags.index[7] = 7;
  EXPECT_THROW(pooled(bags, torch::randn({7, 3}), 0), c10::Error);
}

}  // namespace
