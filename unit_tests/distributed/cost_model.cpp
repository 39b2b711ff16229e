#include <gtest/gtest.h>

#include <halfbridge/distributed/cost_model.h>
#include <halfbridge/error.h>

namespace {

using namespace hb::distributed;

TEST(CostModel, LawsOfRingsAndTrees) {
  const Link link{1e-5, 1e9};
  // 4 ranks, 1 MB: 6 messages of 0.25 MB.
  EXPECT_NEAR(ring_seconds(link, 4, 1e6), 6 * (1e-5 + 2.5e-4), 1e-12);
  EXPECT_NEAR(tree_seconds(link, 4, 1e6), 4 * (1e-5 + 1e-3), 1e-12);
  EXPECT_EQ(allreduce_seconds(link, 1, 1e6), 0);
  EXPECT_EQ(allreduce_seconds(link, 4, 1e6), ring_seconds(link, 4, 1e6));
  EXPECT_EQ(allreduce_seconds(link, 64, 8), tree_seconds(link, 64, 8));
  const Link slow{1e-4, 1e8};
  EXPECT_NEAR(two_level_seconds(link, slow, 4, 2, 1e6), ring_seconds(link, 4, 1e6) + ring_seconds(slow, 2, 1e6), 1e-12);
}

TEST(CostModel, FitFindsTheLink) {
  const Link link{3e-6, 4e9};
  for (const int ranks : {2, 4, 8}) {
    std::vector<std::pair<double, double>> measured;
    for (double bytes = 4096; bytes <= 64e6; bytes *= 4) measured.emplace_back(bytes, ring_seconds(link, ranks, bytes));
    const Link found = fit_link(measured, ranks);
    EXPECT_NEAR(found.latency, link.latency, 1e-9);
    EXPECT_NEAR(found.bandwidth / link.bandwidth, 1, 1e-6);
  }
  EXPECT_THROW(fit_link({{1, 1}}, 2), hb::ValueError);
  EXPECT_THROW(fit_link({{1, 1}, {2, 2}}, 1), hb::ValueError);
}

TEST(CostModel, StepsHideAllButTheLastBucket) {
  const Link link{0, 1e9};
  StepCost cost;
  cost.compute = 1, cost.gradient_bytes = 100e6, cost.bucket_bytes = 25e6;
  EXPECT_EQ(predicted_step(cost, link, 1), 1);
  // 100 ms of sums, of which 25 ms come after the backward pass.
  EXPECT_NEAR(predicted_step(cost, link, 2), 1.025, 1e-9);
  cost.backward_share = 0.05;  // 50 of the other 75 ms are hidden
  EXPECT_NEAR(predicted_step(cost, link, 2), 1.05, 1e-9);
  cost.cores = 1;
  EXPECT_NEAR(predicted_step(cost, link, 2), 2.05, 1e-9);
}

}  // namespace
