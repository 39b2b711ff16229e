// One rank of a long line, searches in sorted lines, and sums at places: each as a plain way gives them.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <cmath>
#include <limits>
#include <string>

namespace {

using hb::Tensor;

const std::vector<hb::ScalarType> kTypes = {hb::kFloat, hb::kDouble, hb::kBFloat16, hb::kHalf,
                                            hb::kLong,  hb::kInt,    hb::kByte};

// Lines of `n` values: any, few of which many are equal, one, and some that are NaN or infinite.
std::vector<Tensor> lines(int64_t n, hb::ScalarType dtype) {
  std::vector<Tensor> all = {(hb::randn({n}, hb::kDouble) * 40).abs().to(dtype), hb::randint(0, 5, {n}).to(dtype),
                             hb::full({n}, 3, dtype)};
  if (!hb::is_floating_type(dtype)) return all;
  all.push_back(hb::randn({n}, hb::kDouble).to(dtype));
  Tensor odd = hb::randn({n}, hb::kDouble).to(dtype);
  odd.slice(0, 0, n, 7).fill_(std::nan(""));
  odd.slice(0, 3, n, 11).fill_(-std::numeric_limits<double>::infinity());
  odd.slice(0, 5, n, 13).fill_(-0.0);
  odd.slice(0, 6, n, 13).fill_(0.0);
  all.push_back(odd);
  return all;
}

TEST(PlacesInOrder, OneRankIsThatOfAStableSort) {
  for (auto dtype : kTypes)
    for (int64_t n : {40, 2047, 2048, 10007})
      for (const Tensor& line : lines(n, dtype)) {
        const auto [sorted, places] = line.sort(std::optional<bool>(true), 0, false);
        const Tensor strided = hb::stack({line, line}, 1).select(1, 0);
        for (int64_t rank : {int64_t{1}, int64_t{5}, int64_t{32}, n / 2, n - 1, n}) {
          const std::string what =
              std::string(hb::toString(dtype)) + " " + std::to_string(rank) + " of " + std::to_string(n);
          for (const Tensor& x : {line, strided}) {
            const auto [value, place] = hb::kthvalue(x, rank);
            EXPECT_EQ(place.item<int64_t>(), places[rank - 1].item<int64_t>()) << what;
            EXPECT_TRUE(hb::equal(hb::nan_to_num(value, 77), hb::nan_to_num(sorted[rank - 1], 77))) << what;
          }
        }
      }
}

TEST(PlacesInOrder, TheFirstOfManyAreThoseOfAStableSort) {
  for (auto dtype : kTypes)
    for (int64_t n : {1300, 10007})
      for (Tensor line : lines(n, dtype))
        for (const bool ordered : {false, true}) {
          if (ordered) line = std::get<0>(line.sort(0));
          const Tensor strided = hb::stack({line, line}, 1).select(1, 0);
          for (const bool largest : {true, false}) {
            const auto [sorted, places] = line.sort(std::optional<bool>(true), 0, largest);
            for (int64_t k : {20, 33, 40, 300})
              for (const Tensor& x : {line, strided}) {
                const auto [values, at] = x.topk(k, 0, largest);
                EXPECT_TRUE(hb::equal(at, places.slice(0, 0, k))) << hb::toString(dtype) << " " << k << " of " << n;
                EXPECT_TRUE(hb::equal(hb::nan_to_num(values, 77), hb::nan_to_num(sorted.slice(0, 0, k), 77)));
              }
          }
        }
}

TEST(PlacesInOrder, ASearchCountsWhatIsPassed) {
  for (auto dtype : {hb::kFloat, hb::kDouble, hb::kLong})
    for (int64_t n : {0, 1, 2, 3, 16, 17, 100}) {
      const Tensor sorted = std::get<0>(hb::randint(-20, 20, {n}).to(dtype).sort(0));
      const Tensor values = hb::randint(-22, 22, {50}).to(dtype);
      const Tensor passed = sorted.unsqueeze(0) < values.unsqueeze(1),
                   reached = sorted.unsqueeze(0) <= values.unsqueeze(1);
      EXPECT_TRUE(hb::equal(hb::searchsorted(sorted, values), passed.sum(1))) << n;
      EXPECT_TRUE(hb::equal(hb::searchsorted(sorted, values, false, true), reached.sum(1))) << n;
    }
  const double nan = std::nan("");
  const Tensor ends = hb::tensor({-1., 2., nan, nan}), sought = hb::tensor({0., 2., 3., nan});
  EXPECT_TRUE(hb::equal(hb::searchsorted(ends, sought), hb::tensor({1, 1, 2, 2}, hb::kLong)));
  EXPECT_TRUE(hb::equal(hb::searchsorted(ends, sought, false, true), hb::tensor({1, 2, 2, 4}, hb::kLong)));
}

// The order of the sums at a place is that of the rows.
TEST(PlacesInOrder, SumsAtPlacesOfColumns) {
  for (auto dtype : {hb::kFloat, hb::kBFloat16, hb::kDouble}) {
    const Tensor base = hb::randn({700, 150}, hb::kDouble).to(dtype),
                 added = hb::randn({900, 150}, hb::kDouble).to(dtype);
    const Tensor at = hb::randint(0, 700, {900, 150});
    const Tensor by_rows = base.t().contiguous().scatter_add(1, at.t().contiguous(), added.t().contiguous());
    EXPECT_TRUE(hb::equal(base.scatter_add(0, at, added), by_rows.t())) << hb::toString(dtype);
  }
}

TEST(PlacesInOrder, AHalfSumAtAPlaceIsRoundedAsASum) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor ends =
      hb::tensor({0., -0., inf, -inf, std::nan(""), 1e-40, -1e-40, 3.3e38, -3.3e38, 1., 1.0078125, 256.});
  const Tensor values = hb::cat({ends, hb::randn({500}, hb::kDouble)}).to(hb::kBFloat16);
  const int64_t n = values.numel();
  const Tensor a = values.unsqueeze(1).expand({n, n}).reshape(-1), b = values.unsqueeze(0).expand({n, n}).reshape(-1);
  const Tensor sum = a.scatter_add(0, hb::arange(n * n), b), wanted = a + b;
  EXPECT_TRUE(hb::equal(sum.isnan(), wanted.isnan()));
  EXPECT_TRUE(hb::equal(hb::nan_to_num(sum, 77), hb::nan_to_num(wanted, 77)));
}

TEST(PlacesInOrder, LongRanges) {
  const Tensor counted = hb::arange(10000);
  for (auto dtype : {hb::kFloat, hb::kDouble})
    EXPECT_TRUE(hb::equal(hb::arange(-3, 2497, 0.25, dtype), (counted.to(hb::kDouble) * 0.25 - 3).to(dtype)));
}

}  // namespace
