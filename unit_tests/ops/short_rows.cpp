// Kernels that take short rows together, look for NaN once a row, or multiply narrow integers: the same results as the
// plain loops.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace {

using hb::Tensor;

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return x.sizes() == y.sizes() && x.scalar_type() == y.scalar_type() &&
         std::memcmp(x.data_ptr(), y.data_ptr(), x.numel() * x.element_size()) == 0;
}

TEST(ShortRows, ExtremesFindNaNWhereverItStands) {
  hb::manual_seed(1);
  for (auto dtype : {hb::kFloat, hb::kDouble})
    for (int64_t n = 1; n < 150; n += n < 40 ? 1 : 13) {
      const Tensor x = hb::randn({3, n}, dtype), wide = x.to(hb::kDouble);
      const double* row = wide.data_ptr<double>() + n;
      EXPECT_EQ(x.amax(1)[1].item<double>(), *std::max_element(row, row + n));
      EXPECT_EQ(x.amin(1)[1].item<double>(), *std::min_element(row, row + n));
      for (int64_t at = 0; at < n; ++at) {
        Tensor with = x.clone();
        with[1][at] = std::numeric_limits<double>::quiet_NaN();
        EXPECT_TRUE(std::isnan(with.amax(1)[1].item<double>())) << n << " values, NaN at " << at;
        EXPECT_TRUE(std::isnan(with.amin(1)[1].item<double>())) << n << " values, NaN at " << at;
        EXPECT_EQ(std::get<1>(with.max(1))[1].item<int64_t>(), at);
        EXPECT_EQ(with.amax(1)[2].item<double>(), x.amax(1)[2].item<double>());
      }
    }
}

TEST(ShortRows, ExtremesOfInfinities) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (int64_t n : {5, 16, 100}) {
    EXPECT_EQ(hb::full({2, n}, -infinity).amax(1)[0].item<double>(), -infinity);
    EXPECT_EQ(hb::full({2, n}, infinity).amin(1)[0].item<double>(), infinity);
  }
}

Tensor gradient(const Tensor& y, const Tensor& x, const Tensor& g) {
  return hb::autodiff::grad({y}, {x}, {g}, /*retain_graph=*/true)[0];
}

TEST(ShortRows, GradientsOfRowsTogetherAreThoseOfEachAlone) {
  hb::manual_seed(3);
  for (auto dtype : {hb::kFloat, hb::kDouble, hb::kBFloat16, hb::kHalf})
    for (int64_t n : {1, 2, 7, 16, 33, 100, 3000}) {
      const Tensor x = (4 * hb::randn({300, n})).to(dtype).set_requires_grad(true), g = hb::randn({300, n}).to(dtype);
      const auto functions = {+[](const Tensor& t) { return hb::softmax(t, -1); },
                              +[](const Tensor& t) { return hb::log_softmax(t, -1); },
                              +[](const Tensor& t) { return hb::layer_norm(t, {t.size(-1)}); }};
      for (const auto& function : functions) {
        const Tensor all = gradient(function(x), x, g);
        for (int64_t r : {0, 2, 17, 299}) {
          const Tensor row = x.detach()[r].clone().set_requires_grad(true);
          EXPECT_TRUE(same_bits(all[r], gradient(function(row), row, g[r]))) << n;
        }
      }
    }
}

TEST(ShortRows, SoftmaxOfRowsTogetherIsThatOfEachAlone) {
  hb::manual_seed(2);
  for (auto dtype : {hb::kFloat, hb::kDouble, hb::kBFloat16, hb::kHalf})
    for (int64_t n : {1, 2, 7, 8, 15, 16, 31, 33, 100, 3000}) {
      Tensor x = (4 * hb::randn({300, n})).to(dtype);
      x[3][n / 2] = std::numeric_limits<double>::infinity();
      const Tensor all = hb::softmax(x, 1), logs = hb::log_softmax(x, 1);
      for (int64_t r : {0, 2, 17, 299}) {
        EXPECT_TRUE(same_bits(all[r], hb::softmax(x[r], 0))) << n;
        EXPECT_TRUE(same_bits(logs[r], hb::log_softmax(x[r], 0))) << n;
      }
      EXPECT_TRUE(all[3].isnan().any().item<bool>());
      const Tensor sums = all[5].to(hb::kDouble).sum();
      EXPECT_NEAR(sums.item<double>(), 1, dtype == hb::kBFloat16 ? 0.02 : dtype == hb::kHalf ? 3e-3 : 1e-5);
      EXPECT_TRUE(hb::allclose(logs[5].exp().to(hb::kDouble), all[5].to(hb::kDouble), 0.05, 1e-3));
    }
}

/// The permuted tensor element by element.
Tensor picked_one_by_one(const Tensor& x, const std::vector<int64_t>& order) {
  const Tensor view = x.permute(order);
  Tensor out = hb::empty(view.sizes(), x.options());
  const auto bytes = static_cast<int64_t>(x.element_size());
  for (int64_t i = 0; i < out.numel(); ++i) {
    int64_t rest = i, from = 0;
    for (int64_t d = view.dim() - 1; d >= 0; --d) from += rest % view.size(d) * view.stride(d), rest /= view.size(d);
    std::memcpy(static_cast<char*>(out.data_ptr()) + i * bytes, static_cast<char*>(view.data_ptr()) + from * bytes,
                bytes);
  }
  return out;
}

TEST(ShortRows, PermutedCopies) {
  hb::manual_seed(3);
  const std::vector<std::vector<int64_t>> shapes{
      {3, 2, 2, 4, 5, 2}, {8, 2, 2, 4, 4, 1}, {2, 3, 4, 1, 9, 3}, {33, 2, 3, 40, 1, 2}};
  for (auto dtype : {hb::kByte, hb::kBFloat16, hb::kFloat, hb::kDouble, hb::kComplexDouble})
    for (const auto& shape : shapes) {
      const Tensor x = (100 * hb::rand(shape, hb::kDouble)).to(dtype);
      std::vector<int64_t> order{0, 1, 2, 3, 4, 5};
      for (int i = 0; i < 720; i += 1, std::next_permutation(order.begin(), order.end()))
        if (i % 7 == 0) {
          EXPECT_TRUE(same_bits(x.permute(order).contiguous(), picked_one_by_one(x, order)));
        }
    }
}

TEST(ShortRows, TransposedMatrices) {
  for (auto dtype : {hb::kByte, hb::kShort, hb::kInt, hb::kLong})
    for (int64_t rows : {3, 8, 21, 40, 64})
      for (int64_t columns : {4, 9, 32, 47}) {
        const Tensor x = hb::randint(-100, 100, {2, rows, columns}, hb::kLong).to(dtype);
        EXPECT_TRUE(same_bits(x.permute({0, 2, 1}).contiguous(), picked_one_by_one(x, {0, 2, 1})));
      }
}

TEST(ShortRows, SumsOfBroadcastPlanes) {
  hb::manual_seed(4);
  for (auto dtype : {hb::kFloat, hb::kDouble, hb::kBFloat16}) {
    const Tensor a = hb::randn({7, 1, 3, 1, 2}).to(dtype), b = hb::randn({1, 5, 1, 8, 1}).to(dtype);
    const Tensor sum = a + b;
    const Tensor plain = a.expand({7, 5, 3, 8, 2}).contiguous() + b.expand({7, 5, 3, 8, 2}).contiguous();
    EXPECT_TRUE(same_bits(sum, plain));
  }
}

TEST(ShortRows, ScatteredSumsOfBFloat16RoundEachTime) {
  hb::manual_seed(5);
  for (int64_t n : {8, 64, 200})
    for (bool special : {false, true}) {
      Tensor x = hb::randn({4, n}).to(hb::kBFloat16), from = hb::randn({4, n}).to(hb::kBFloat16);
      const Tensor at = hb::randint(n / 4 + 1, {4, n}, hb::kLong);
      if (special) from[1][3] = std::numeric_limits<double>::quiet_NaN(), x[2][0] = 3e38, from[2].fill_(3e38);
      Tensor expected = x.clone();
      for (int64_t r = 0; r < 4; ++r)
        for (int64_t k = 0; k < n; ++k) {
          Tensor place = expected[r][at[r][k].item<int64_t>()];
          place.copy_(place + from[r][k]);
        }
      EXPECT_TRUE(same_bits(x.scatter_add(1, at, from), expected)) << n;
    }
}

TEST(ShortRows, IntegerProductsWrapWhetherNumbersAreNarrowOrNot) {
  hb::manual_seed(6);
  for (int64_t most : {int64_t{100}, int64_t{1} << 31, int64_t{1} << 40}) {
    Tensor a = hb::randint(-most, most, {13, 21}, hb::kLong), b = hb::randint(-most, most, {21, 19}, hb::kLong);
    a[0][0] = -most, b[0][0] = most - 1;
    const Tensor product = a.mm(b);
    for (int64_t i = 0; i < 13; i += 4)
      for (int64_t j = 0; j < 19; ++j) {
        uint64_t sum = 0;
        for (int64_t k = 0; k < 21; ++k)
          sum += static_cast<uint64_t>(a[i][k].item<int64_t>()) * static_cast<uint64_t>(b[k][j].item<int64_t>());
        EXPECT_EQ(product[i][j].item<int64_t>(), static_cast<int64_t>(sum));
      }
  }
}

}  // namespace
