// Loops that take several values at once, or in another order, give what one value after the other gives.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace {

using hb::Tensor;

void expect_same(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.scalar_type(), b.scalar_type()) << what;
  EXPECT_TRUE(hb::equal(a, b)) << what;
}
/// Within so many parts of the largest value.
void expect_close(const Tensor& a, const Tensor& b, double part, const std::string& what) {
  const Tensor x = a.to(hb::kDouble), y = b.to(hb::kDouble);
  EXPECT_LE((x - y).abs().max().item<double>(), part * y.abs().max().item<double>()) << what;
}
Tensor normal(std::vector<int64_t> shape, hb::ScalarType dtype) {
  return dtype == hb::kLong ? hb::randint(-9, 9, shape, hb::kLong) : hb::randn(shape, hb::kDouble).to(dtype);
}

// An operand whose columns lie together is turned over tile by tile.
TEST(QuickLoops, OperandsThatLieAcross) {
  for (auto dtype : {hb::kFloat, hb::kDouble, hb::kBFloat16, hb::kHalf, hb::kLong, hb::kComplexDouble})
    for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{{7, 9}, {8, 8}, {33, 70}, {130, 40}}) {
      const Tensor a = normal({rows, columns}, dtype), b = normal({columns, rows}, dtype).t();
      const Tensor c = normal({3, columns, rows}, dtype).transpose(1, 2), dense = b.contiguous();
      const std::string what = std::string(hb::toString(dtype)) + " of " + std::to_string(rows);
      expect_same(a + b, a + dense, what + ", sum");
      expect_same(b * a, dense * a, what + ", product");
      expect_same(hb::addcmul(a, b, b), hb::addcmul(a, dense, dense), what + ", three operands");
      expect_same(a * c, a * c.contiguous(), what + ", a stack");
      expect_same(hb::eq(a, b), hb::eq(a, dense), what + ", another dtype");
    }
}

// Planes of few elements, over which an operand goes again and again, are taken several at a time.
TEST(QuickLoops, SmallPlanes) {
  for (auto dtype : {hb::kFloat, hb::kDouble, hb::kBFloat16, hb::kHalf, hb::kLong, hb::kInt, hb::kComplexDouble})
    for (const int64_t count : {1, 2, 5, 33, 700}) {
      const std::string what = std::string(hb::toString(dtype)) + ", " + std::to_string(count) + " planes";
      const auto plain = [](const Tensor& a, const Tensor& b) {
        const auto sizes = hb::broadcast_shapes(a.sizes(), b.sizes());
        return a.expand(sizes).contiguous() * b.expand(sizes).contiguous();
      };
      const auto same = [&](const Tensor& a, const Tensor& b) {
        expect_same(a * b, plain(a, b), what);
        expect_same(hb::eq(a, b), hb::eq(a.contiguous(), b.contiguous()), what + ", another dtype");
        const auto sizes = hb::broadcast_shapes(a.sizes(), b.sizes());
        std::vector<int64_t> wide(sizes.begin(), sizes.end());
        wide.back() += 3;
        const Tensor with_gaps = hb::zeros(wide, dtype);
        Tensor part = with_gaps.narrow(-1, 2, sizes.back());
        hb::mul_out(part, a, b);
        expect_same(part, plain(a, b), what + ", with gaps");
        for (const Tensor& gap : {with_gaps.narrow(-1, 0, 2), with_gaps.narrow(-1, wide.back() - 1, 1)})
          EXPECT_EQ(gap.ne(0).sum().item<int64_t>(), 0) << what;
      };
      const Tensor high = normal({count, 4, 1}, dtype), wide = normal({count, 1, 3}, dtype);
      same(high, wide);
      same(high, wide[0].unsqueeze(0));
      same(normal({2, count, 5, 1}, dtype), normal({1, count, 1, 4}, dtype));
      same(normal({3, count, 1, 2}, dtype), normal({1, 1, 4, 1}, dtype));
      same(normal({count, 7, 1, 1}, dtype), normal({3, 5}, dtype));
      for (const int64_t width : {7, 8, 11, 16, 20, 40, 64})
        for (const int64_t height : {3, 16}) {
          same(normal({count, height, 1}, dtype), normal({count, 1, width}, dtype));
          same(normal({count, height, width}, dtype), normal({height, 1}, dtype));
        }
      for (const int64_t width : {5, 8, 16, 33, 40, 64}) {
        const Tensor rows = normal({count, width}, dtype), column = normal({count, 1}, dtype);
        same(rows, column);
        same(column, rows);
        same(rows, normal({width}, dtype));
        expect_same(hb::addcmul(rows, column, rows), hb::addcmul(rows, column.expand_as(rows).contiguous(), rows),
                    what + ", three operands");
        const Tensor chosen = rows.ne(rows.roll(1));
        expect_same(hb::where(chosen, column, rows), hb::where(chosen, column.expand_as(rows).contiguous(), rows),
                    what + ", a choice");
      }
      same(normal({4, 3, count}, dtype).permute({2, 0, 1}), normal({count, 4, 1}, dtype));
      same(normal({count, 3, 4}, dtype).transpose(1, 2), normal({count, 4, 3}, dtype));
    }
}

// Small integers are divided in double, others one by one: also where both stand in one block.
TEST(QuickLoops, QuotientsOfIntegers) {
  constexpr int64_t edge = int64_t{1} << 51, least = std::numeric_limits<int64_t>::min();
  std::vector<int64_t> a, b;
  const std::vector<int64_t> small = {0, 1, -1, 2, -7, 1000003, edge - 1, 1 - edge},
                             large = {edge, -edge, least, ~least};
  const auto pairs = [&](const std::vector<int64_t>& of, const std::vector<int64_t>& by) {
    for (int64_t x : of)
      for (int64_t y : by)
        if (y != 0 && !(x == least && y == -1)) a.push_back(x), b.push_back(y);
  };
  for (int i = 0; i < 8; ++i) pairs(small, small);
  pairs(large, small), pairs(small, large), pairs(large, large);
  const size_t count = a.size();
  for (size_t i = 0; i < count; ++i) a.push_back(a[i] / 3 + static_cast<int64_t>(i)), b.push_back(b[i]);
  const auto floored = [](int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0); };
  const Tensor x = hb::tensor(a, hb::kLong), y = hb::tensor(b, hb::kLong);
  std::vector<int64_t> trunc, floor, rest, remainder;
  for (size_t i = 0; i < a.size(); ++i) {
    trunc.push_back(a[i] / b[i]), floor.push_back(floored(a[i], b[i])), rest.push_back(a[i] % b[i]);
    remainder.push_back(a[i] - static_cast<int64_t>(static_cast<uint64_t>(floor[i]) * static_cast<uint64_t>(b[i])));
  }
  expect_same(hb::div(x, y, "trunc"), hb::tensor(trunc, hb::kLong), "trunc");
  expect_same(hb::floor_divide(x, y), hb::tensor(floor, hb::kLong), "floor");
  expect_same(hb::fmod(x, y), hb::tensor(rest, hb::kLong), "fmod");
  expect_same(hb::remainder(x, y), hb::tensor(remainder, hb::kLong), "remainder");
  const Tensor seven = hb::full_like(x, -7);
  expect_same(hb::div(x, -7, "trunc"), hb::div(x, seven, "trunc"), "by a number");
}

// A number beside bf16 is no bf16.
TEST(QuickLoops, NumbersBesideHalves) {
  for (int64_t n : {2, 31, 127, 128, 129, 700}) {
    const Tensor x = hb::randn({n}).to(hb::kBFloat16), wide = x.to(hb::kFloat);
    const std::string what = std::to_string(n) + " elements";
    expect_same(x * 0.1, (wide * 0.1).to(hb::kBFloat16), what + ", product");
    expect_same(x / 3, (wide / 3).to(hb::kBFloat16), what + ", quotient");
    expect_same(x + 1.001, (wide + 1.001).to(hb::kBFloat16), what + ", sum");
    expect_same(hb::clamp(x, -0.3, 0.7), hb::clamp(wide, -0.3, 0.7).to(hb::kBFloat16), what + ", between numbers");
    expect_same(hb::where(x > 0, x, 0.1), hb::where(wide > 0, wide, 0.1).to(hb::kBFloat16), what + ", chosen");
  }
}

TEST(QuickLoops, SoftmaxGradientsOfHalves) {
  for (const auto& [shape, dim] : std::vector<std::pair<std::vector<int64_t>, int64_t>>{
           {{3, 31}, 1}, {{3, 32}, 1}, {{5, 33}, 1}, {{2, 1024}, 1}, {{40, 6}, 0}, {{2, 16, 7, 9}, 1}, {{3, 600}, 0}}) {
    Tensor grads[2];
    const Tensor x = hb::randn(shape).to(hb::kBFloat16), g = hb::randn(shape).to(hb::kBFloat16);
    for (int k = 0; k < 2; ++k) {
      const Tensor leaf = x.to(k ? hb::kFloat : hb::kBFloat16).detach().requires_grad_();
      hb::softmax(leaf, dim).backward(g.to(leaf.scalar_type()));
      grads[k] = leaf.grad();
    }
    expect_close(grads[0], grads[1], 1. / 64, std::to_string(shape[1]) + " along " + std::to_string(dim));
  }
}

/// Orders as std::stable_sort does.
template <class T>
void check_order(const std::vector<T>& values, hb::ScalarType dtype, const std::string& what) {
  std::vector<int64_t> places(values.size());
  std::iota(places.begin(), places.end(), 0);
  for (bool descending : {false, true}) {
    std::vector<int64_t> expected = places;
    std::stable_sort(expected.begin(), expected.end(),
                     [&](int64_t a, int64_t b) { return descending ? values[b] < values[a] : values[a] < values[b]; });
    const auto [sorted, at] = hb::sort(hb::tensor(values, dtype), 0, descending);
    const Tensor order = hb::tensor(expected, hb::kLong);
    expect_same(at, order, what);
    const auto middle = hb::kthvalue(hb::tensor(values, dtype), static_cast<int64_t>(values.size()) / 2, 0);
    if (!descending) expect_same(std::get<1>(middle), order[static_cast<int64_t>(values.size()) / 2 - 1], what);
  }
}

// Long lines are ordered by the highest digits first, as far as these tell values apart.
TEST(QuickLoops, OrderByDigits) {
  for (int64_t n : {130, 600, 5000, 300000}) {
    const Tensor random = hb::randn({n}, hb::kDouble);
    const auto of = [&](const Tensor& x) {
      const Tensor y = x.contiguous();
      return std::vector<double>(y.data_ptr<double>(), y.data_ptr<double>() + n);
    };
    const std::string what = std::to_string(n) + " values";
    check_order(of(random), hb::kDouble, what);
    check_order(of((random * 3).floor()), hb::kDouble, what + ", many equal");
    check_order(of(random * 1e-3 + 1e9), hb::kDouble, what + ", close together");
    std::vector<double> outlier = of(random * 1e-200);
    outlier[3] = 1e300, outlier[5] = -1;
    check_order(outlier, hb::kDouble, what + ", close together beside far ones");
    std::vector<int64_t> wide(n);
    for (int64_t i = 0; i < n; ++i) wide[i] = static_cast<int64_t>(1e18 * outlier[i] / 1e300) + (i * 7919 % 1000) * 5;
    wide[0] = std::numeric_limits<int64_t>::min(), wide[1] = std::numeric_limits<int64_t>::max();
    check_order(wide, hb::kLong, what + ", integers");
    std::vector<float> single(n);
    for (int64_t i = 0; i < n; ++i) single[i] = static_cast<float>(outlier[i] * 1e190);
    check_order(single, hb::kFloat, what + ", float");
  }
}

TEST(QuickLoops, RunsAndRunningSums) {
  for (int64_t n = 1; n < 40; ++n) {
    const Tensor x = hb::randint(0, 2, {n}, hb::kLong);
    std::vector<int64_t> first, sums;
    int64_t sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t v = x[i].item<int64_t>();
      if (first.empty() || first.back() != v) first.push_back(v);
      sums.push_back(sum += v);
    }
    const Tensor runs = hb::tensor(first, hb::kLong), running = hb::tensor(sums, hb::kLong);
    for (auto dtype : {hb::kLong, hb::kInt, hb::kFloat, hb::kDouble})
      expect_same(std::get<0>(hb::unique_consecutive(x.to(dtype))), runs.to(dtype), std::to_string(n) + " values");
    expect_same(x.cumsum(0), running, std::to_string(n) + " sums");
  }
}

// Several lines that lie one behind the other are scanned together.
TEST(QuickLoops, ScannedLines) {
  for (int64_t lines : {1, 2, 3, 4, 7, 9})
    for (int64_t n : {1, 2, 5, 512, 1030})
      for (auto dtype : {hb::kFloat, hb::kDouble, hb::kBFloat16, hb::kHalf, hb::kLong, hb::kInt, hb::kBool}) {
        const Tensor x = normal({lines, n}, hb::kDouble).to(dtype);
        const auto [high, high_at] = hb::cummax(x, 1);
        const auto [low, low_at] = hb::cummin(x, 1);
        const Tensor sums = x.cumsum(1), products = x.cumprod(1);
        for (int64_t i = 0; i < lines; ++i) {
          const std::string what = std::string(hb::toString(dtype)) + ", line " + std::to_string(i);
          expect_same(sums[i], x[i].cumsum(0), what + ", sums");
          expect_same(products[i], x[i].cumprod(0), what + ", products");
          const auto [most, most_at] = hb::cummax(x[i], 0);
          const auto [least, least_at] = hb::cummin(x[i], 0);
          expect_same(high[i], most, what + ", largest"), expect_same(high_at[i], most_at, what + ", place of largest");
          expect_same(low[i], least, what + ", smallest"),
              expect_same(low_at[i], least_at, what + ", place of smallest");
        }
      }
}

// Poolings turn images that lie contiguous one by one.
TEST(QuickLoops, PooledImages) {
  for (int64_t batch : {1, 4, 9})
    for (int64_t channels : {1, 3, 16, 37})
      for (auto dtype : {hb::kFloat, hb::kDouble, hb::kBFloat16, hb::kHalf}) {
        const Tensor x = normal({batch, channels, 34, 19}, dtype), last = x.contiguous(hb::MemoryFormat::ChannelsLast);
        const std::string what = std::to_string(batch) + " of " + std::to_string(channels) + ", " + hb::toString(dtype);
        const auto [largest, places] = hb::max_pool2d_with_indices(x, 3, 2, 1);
        const auto [as_last, places_as_last] = hb::max_pool2d_with_indices(last, 3, 2, 1);
        expect_same(largest, as_last.contiguous(), what + ", largest");
        expect_same(places, places_as_last.contiguous(), what + ", places");
        expect_same(hb::avg_pool2d(x, 2), hb::avg_pool2d(last, 2).contiguous(), what + ", means");
        expect_same(hb::avg_pool2d(x, {3, 1}), hb::avg_pool2d(last, {3, 1}).contiguous(), what + ", means of columns");
        expect_same(hb::adaptive_avg_pool2d(x, {2, 5}), hb::adaptive_avg_pool2d(last, {2, 5}).contiguous(), what);
      }
}

TEST(QuickLoops, EverySecond) {
  for (int64_t n : {1, 2, 15, 33, 70})
    for (auto dtype : {hb::kFloat, hb::kDouble, hb::kBFloat16, hb::kHalf, hb::kLong, hb::kComplexDouble}) {
      const Tensor x = normal({3, n}, dtype), places = hb::arange(0, n, 2);
      expect_same(x.slice(1, 0, n, 2).contiguous(), x.index_select(1, places), std::to_string(n) + " values");
    }
}

// Where an image is halved each result is the mean of four elements.
TEST(QuickLoops, HalvedImages) {
  for (int64_t side : {2, 6, 16, 34}) {
    const Tensor x = hb::randn({2, 3, side, side + 2});
    expect_close(hb::upsample_bilinear2d(x, {side / 2, side / 2 + 1}, false), hb::avg_pool2d(x, 2), 1e-6,
                 std::to_string(side));
  }
}

// aminmax looks at a row once for both ends; amin and amax look at it each.
TEST(QuickLoops, BothEnds) {
  hb::manual_seed(8);
  for (auto dtype : {hb::kFloat, hb::kDouble, hb::kBFloat16, hb::kHalf, hb::kLong, hb::kInt, hb::kByte})
    for (int64_t n : {1, 3, 4, 8, 15, 33, 64, 129, 1024, 1025, 70001}) {
      Tensor x = hb::randn({n}, hb::kDouble).mul(100).abs_().to(dtype);
      const auto [low, high] = hb::aminmax(x);
      expect_same(low, hb::amin(x), "least");
      expect_same(high, hb::amax(x), "most");
      if (!hb::isFloatingType(dtype)) continue;
      for (int64_t at : {int64_t{0}, n / 2, n - 1}) {
        Tensor y = x.clone();
        y[at] = NAN;
        EXPECT_TRUE(std::get<0>(hb::aminmax(y)).isnan().item<bool>()) << n << " " << at;
        EXPECT_TRUE(std::get<1>(hb::aminmax(y)).isnan().item<bool>()) << n << " " << at;
        y[at] = -INFINITY;
        EXPECT_EQ(std::get<0>(hb::aminmax(y)).item<double>(), -INFINITY);
        if (n > 1) expect_same(std::get<1>(hb::aminmax(y)), hb::amax(y), "most beside an infinity");
      }
    }
}

// Elements by the indices of one to three dimensions, from either end: those of the places that they make.
TEST(QuickLoops, PickedPlaces) {
  hb::manual_seed(9);
  for (auto dtype : {hb::kByte, hb::kBFloat16, hb::kFloat, hb::kDouble, hb::kComplexDouble})
    for (int64_t n : {1, 5, 511, 512, 1300}) {
      const Tensor x = hb::arange(7 * 5 * 6 * 3, hb::kDouble).view({7, 5, 6, 3}).to(dtype);
      const Tensor i = hb::randint(-7, 7, {n}, hb::kLong), j = hb::randint(-5, 5, {n}, hb::kLong);
      const Tensor k = hb::randint(-6, 6, {n}, hb::kLong);
      const auto at = [](const Tensor& t, int64_t size) { return hb::remainder(t, size); };
      const Tensor pairs = at(i, 7) * 5 + at(j, 5), triples = pairs * 6 + at(k, 6);
      expect_same(x.index({i}), x.index_select(0, at(i, 7)), "rows");
      expect_same(x.index({i, j}), x.view({35, 6, 3}).index_select(0, pairs), "pairs");
      expect_same(x.index({i, j, k}), x.view({210, 3}).index_select(0, triples), "triples");
      expect_same(x.index({hb::subscripts::Slice(), j, k}), x.view({7, 30, 3}).index_select(1, at(j, 5) * 6 + at(k, 6)),
                  "pairs behind a dimension");
      const Tensor whole = hb::randint(-630, 630, {n}, hb::kLong);
      expect_same(x.take(whole), x.view({630}).index_select(0, at(whole, 630)), "take");
    }
  const Tensor x = hb::arange(12).view({3, 4});
  EXPECT_THROW(x.take(hb::tensor({0, 12})), hb::IndexError);
  EXPECT_THROW(x.take(hb::tensor({-13})), hb::IndexError);
  EXPECT_THROW(x.index({hb::tensor({0, 2}), hb::tensor({3, 4})}), hb::IndexError);
  EXPECT_THROW(x.index({hb::tensor({0, -4}), hb::tensor({3, 3})}), hb::IndexError);
}

// Of halves both products are rounded before their difference is.
TEST(QuickLoops, CrossProductsOfHalves) {
  hb::manual_seed(10);
  for (auto dtype : {hb::kBFloat16, hb::kHalf})
    for (int64_t dim : {0, 1, 2}) {
      std::vector<int64_t> shape = {70, 70, 70};
      shape[dim] = 3;
      const Tensor a = hb::randn(shape).to(dtype), b = hb::randn(shape).to(dtype);
      const auto turned = [dim](const Tensor& t, int64_t by) { return t.roll({-by}, {dim}); };
      expect_same(hb::linalg_cross(a, b, dim), turned(a, 1) * turned(b, 2) - turned(a, 2) * turned(b, 1), "cross");
      EXPECT_EQ(hb::linalg_cross(a, a, dim).abs().max().item<float>(), 0);
    }
}

}  // namespace
