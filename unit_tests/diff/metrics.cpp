// Every metric against values computed by hand.
#include <halfbridge/diff/metrics.h>

#include <cmath>
#include <limits>

#include "diff/diff_traces.h"

namespace {

using namespace diff_test;
using hb::layer_diff::Metrics;
using hb::layer_diff::metrics_of;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(DiffMetrics, ByHand) {
  // Differences 0, 0.5, -1, 0.
  const Metrics m = metrics_of(values({1, 2, -4, 0}, hb::kDouble), values({1, 2.5, -5, 0}, hb::kDouble), {0.25, 0.125});
  EXPECT_EQ(m.numel, 4);
  EXPECT_DOUBLE_EQ(m.max_abs, 1);
  EXPECT_DOUBLE_EQ(m.max_rel, 0.25);
  EXPECT_DOUBLE_EQ(m.mean_abs, 1.5 / 4);
  EXPECT_DOUBLE_EQ(m.rms, std::sqrt(1.25 / 4));
  EXPECT_DOUBLE_EQ(m.ref_rms, std::sqrt(21.0 / 4));
  EXPECT_DOUBLE_EQ(m.cosine, 26 / std::sqrt(21 * 32.25));
  EXPECT_DOUBLE_EQ(m.snr_db, 10 * std::log10(21 / 1.25));
  // Tolerances 0.375, 0.5, 0.75, 0.25: only the third is out.
  EXPECT_EQ(m.count_out, 1);
  EXPECT_DOUBLE_EQ(m.share_out, 0.25);
  EXPECT_EQ(m.worst, std::vector<int64_t>{2});
  EXPECT_DOUBLE_EQ(m.worst_ref, -4);
  EXPECT_DOUBLE_EQ(m.worst_test, -5);
  EXPECT_FALSE(m.pass);
}

TEST(DiffMetrics, EqualTensors) {
  const hb::Tensor x = filled({7, 300}, 1);
  const Metrics m = metrics_of(x, x, {0, 0});
  EXPECT_TRUE(m.pass);
  EXPECT_EQ(m.max_abs, 0);
  EXPECT_EQ(m.max_ulp, 0);
  EXPECT_EQ(m.snr_db, kInf);
  EXPECT_NEAR(m.cosine, 1, 1e-15);
  EXPECT_TRUE(m.worst.empty());
}

TEST(DiffMetrics, ZeroToleranceSeesOneBit) {
  const Metrics m = metrics_of(values({0, 1}), values({0, std::nextafter(1.0f, 2.0f)}), {0, 0});
  EXPECT_EQ(m.count_out, 1);
  EXPECT_DOUBLE_EQ(m.max_ulp, 1);
}

TEST(DiffMetrics, UnitsOfTheLastPlace) {
  const auto ulps = [](double a, double b, hb::Dtype ref, hb::Dtype test) {
    return metrics_of(values({a}, ref), values({b}, test)).max_ulp;
  };
  EXPECT_DOUBLE_EQ(ulps(1, 1 + std::ldexp(3, -52), hb::kDouble, hb::kDouble), 3);
  EXPECT_DOUBLE_EQ(ulps(8, 8 + std::ldexp(5, -20), hb::kFloat, hb::kFloat), 5);
  EXPECT_DOUBLE_EQ(ulps(1, 1 + std::ldexp(2, -10), hb::kHalf, hb::kHalf), 2);
  EXPECT_DOUBLE_EQ(ulps(1, 1 + std::ldexp(2, -7), hb::kBFloat16, hb::kBFloat16), 2);
  // In units of the coarser: an eighth of a bfloat16's last place.
  EXPECT_DOUBLE_EQ(ulps(1 + std::ldexp(1, -10), 1, hb::kFloat, hb::kBFloat16), 0.125);
  EXPECT_DOUBLE_EQ(ulps(0, std::ldexp(3, -149), hb::kFloat, hb::kFloat), 3);  // subnormal
  EXPECT_DOUBLE_EQ(ulps(7, 12, hb::kLong, hb::kLong), 5);
}

TEST(DiffMetrics, VectorsAndTheirRestsAgree) {
  // Lengths around the blocks; one element is wrong, in every place in turn.
  for (int64_t n : {1, 7, 8, 9, 1023, 1025, 2049}) {
    for (int64_t wrong : {int64_t{0}, n / 2, n - 1}) {
      const hb::Tensor ref = filled({n}, 3);
      hb::Tensor test = ref.clone();
      test.data_ptr<float>()[wrong] += 0.5f;
      const Metrics m = metrics_of(ref, test);
      EXPECT_EQ(m.count_out, 1) << n;
      EXPECT_EQ(m.worst, std::vector<int64_t>{wrong}) << n;
      EXPECT_NEAR(m.max_abs, 0.5, 1e-6);
      EXPECT_NEAR(m.mean_abs, 0.5 / static_cast<double>(n), 1e-6);
    }
  }
}

TEST(DiffMetrics, NanMatchesNanAndInfinityItsLike) {
  const Metrics same = metrics_of(values({kNan, kInf, -kInf, 1}), values({kNan, kInf, -kInf, 1}));
  EXPECT_TRUE(same.pass);
  EXPECT_EQ(same.nan_ref, 1);
  EXPECT_EQ(same.inf_test, 2);
  EXPECT_EQ(same.max_abs, 0);
  for (const auto& [ref, test] : {std::pair(kNan, 1.0), {1.0, kNan}, {kInf, -kInf}, {kInf, 1.0}, {kNan, kInf}}) {
    const Metrics m = metrics_of(values({5, ref, 5}), values({5, test, 5}), {1e9, 1e9});
    EXPECT_FALSE(m.pass) << ref << ' ' << test;
    EXPECT_EQ(m.count_out, 1);
    EXPECT_EQ(m.max_abs, kInf);
    EXPECT_EQ(m.worst, std::vector<int64_t>{1});
    EXPECT_EQ(m.mean_abs, 0);  // over the finite pairs
  }
}

TEST(DiffMetrics, RelativeErrorLeavesSmallReferencesOut) {
  EXPECT_DOUBLE_EQ(metrics_of(values({1e-4, 2}, hb::kDouble), values({2e-4, 2.5}, hb::kDouble)).max_rel, 0.25);
}

TEST(DiffMetrics, OfFilesAsOfMemoryInEveryDtype) {
  for (hb::Dtype dtype : {hb::kDouble, hb::kFloat, hb::kHalf, hb::kBFloat16, hb::kLong, hb::kInt, hb::kShort, hb::kChar,
                          hb::kByte, hb::kBool}) {
    TraceBuilder ref, test;
    const hb::Tensor a = values({1, 0, 1, 3, 100}, dtype), b = values({1, 1, 0, 5, 90}, dtype);
    ref.call("x", "x", a, a);
    test.call("x", "x", b, a);
    const auto report = compared(ref, test);
    const Metrics expected = metrics_of(a, b), m = report.layers[0].forward[0].metrics;
    EXPECT_EQ(m.max_abs, expected.max_abs);
    EXPECT_EQ(m.max_abs, dtype == hb::kBool ? 1 : 10);
    EXPECT_EQ(m.count_out, expected.count_out);
    EXPECT_EQ(m.cosine, expected.cosine);
  }
}

TEST(DiffMetrics, ShapesThatDifferByLayoutAlone) {
  const auto pair = [](const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
    TraceBuilder ref, test;
    ref.call("x", "x", filled({1}, 1), filled(a, 2));
    test.call("x", "x", filled({1}, 1), filled(b, 2));
    return compared(ref, test).layers[0].forward[1];
  };
  for (const auto& [a, b] : {std::pair(std::vector<int64_t>{2, 3, 1, 1}, std::vector<int64_t>{2, 3}),
                             {{2, 3, 4}, {2, 12}},
                             {{}, {1}},
                             {{6, 4}, {2, 3, 4}}}) {
    EXPECT_TRUE(pair(a, b).pass());
    EXPECT_FALSE(pair(a, b).note.empty());
  }
  // A transposed tensor is another one.
  for (const auto& [a, b] :
       {std::pair(std::vector<int64_t>{2, 3}, std::vector<int64_t>{3, 2}), {{2, 6}, {4, 3}}, {{2, 3}, {2, 4}}}) {
    EXPECT_FALSE(pair(a, b).pass());
    EXPECT_NE(pair(a, b).problem.find("shapes differ"), std::string::npos);
  }
}

TEST(DiffMetrics, HistogramAndHeatMapOfWhatFails) {
  TraceBuilder ref, test;
  const hb::Tensor a = filled({3, 100, 200}, 1);
  hb::Tensor b = a.clone();
  b.data_ptr<float>()[(1 * 100 + 99) * 200 + 199] += 2;
  b.data_ptr<float>()[5] += 0.01f;
  ref.call("x", "x", a, a);
  test.call("x", "x", a, b);
  const auto report = compared(ref, test);
  const auto& in = report.layers[0].forward[0];
  const auto& out = report.layers[0].forward[1];
  EXPECT_FALSE(in.histogram || in.heat_map);
  ASSERT_TRUE(out.histogram && out.heat_map);
  EXPECT_EQ(out.histogram->below, a.numel() - 2);
  EXPECT_EQ(out.histogram->above, 0);
  // 2 is 10^0.3: four bins per decade from 10^-12 on.
  EXPECT_EQ(out.histogram->counts.at(49), 1);
  EXPECT_EQ(out.metrics.worst, (std::vector<int64_t>{1, 99, 199}));
  EXPECT_EQ(out.heat_map->slice, std::vector<int64_t>{1});
  EXPECT_EQ(out.heat_map->rows, 64);
  EXPECT_EQ(out.heat_map->columns, 64);
  EXPECT_GT(out.heat_map->cells.back(), 0);
  EXPECT_EQ(out.heat_map->cells.front(), 0);
}

TEST(DiffMetrics, TolerancesOfLayers) {
  TraceBuilder ref, test;
  for (const char* path : {"layer4.a", "layer5"}) {
    ref.call("x", path, filled({4}, 1), filled({4}, 2));
    test.call("x", path, filled({4}, 1), filled({4}, 2) + 0.005);
  }
  hb::layer_diff::CompareOptions options;
  options.layers = {hb::layer_diff::parse_layer_tolerance("layer4.*=1e-2,0")};
  const auto report = compared(ref, test, options);
  EXPECT_TRUE(report.layers[0].outputs_pass);
  EXPECT_EQ(report.layers[0].forward[1].tolerance.rtol, 0);
  EXPECT_FALSE(report.layers[1].outputs_pass);
  for (const char* wrong : {"layer4", "=1", "a=x", "a=1,", "a=-1", "a=inf", "a=nan"}) {
    EXPECT_THROW(hb::layer_diff::parse_layer_tolerance(wrong), hb::Error) << wrong;
  }
}

}  // namespace
