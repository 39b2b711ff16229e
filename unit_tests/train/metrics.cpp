// Metrics against values worked out by hand.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>

using hb::Tensor;
using namespace hb::train;

namespace {

Tensor classes(std::vector<int64_t> values) { return hb::tensor(values); }

// True 0 0 0 1 1 2, predicted 0 0 1 1 2 2: right 2, 1, 1.
const std::vector<int64_t> kTruth = {0, 0, 0, 1, 1, 2}, kGuess = {0, 0, 1, 1, 2, 2};

template <class M>
double of(M metric) {
  metric.update(classes(kGuess), classes(kTruth));
  return metric.value();
}

}  // namespace

TEST(TrainMetrics, Accuracy) {
  EXPECT_DOUBLE_EQ(of(Accuracy()), 4.0 / 6);
  EXPECT_DOUBLE_EQ(of(Accuracy(Average::macro)), (2.0 / 3 + 1.0 / 2 + 1) / 3);
}

TEST(TrainMetrics, PrecisionRecallF1) {
  EXPECT_DOUBLE_EQ(of(Precision()), (1 + 0.5 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(of(Precision(Average::weighted)), (3 * 1.0 + 2 * 0.5 + 1 * 0.5) / 6);
  EXPECT_DOUBLE_EQ(of(Precision(Average::micro)), 4.0 / 6);
  EXPECT_DOUBLE_EQ(of(Recall()), (2.0 / 3 + 0.5 + 1) / 3);
  EXPECT_NEAR(of(F1()), (0.8 + 0.5 + 2.0 / 3) / 3, 1e-12);
  // b = 2: 5 TP / (5 TP + 4 FN + FP)
  EXPECT_NEAR(of(F1(Average::macro, 0, 2)), (10.0 / 14 + 5.0 / 10 + 5.0 / 6) / 3, 1e-12);
}

TEST(TrainMetrics, PerClassValues) {
  Precision precision(Average::none);
  precision.update(classes(kGuess), classes(kTruth));
  EXPECT_TRUE(hb::equal(precision.compute(), hb::tensor(std::vector<double>{1, 0.5, 0.5}).to(hb::kDouble)));
  EXPECT_THROW(precision.value(), hb::Error);
}

TEST(TrainMetrics, ClassesThatNeverOccurDoNotCountInTheMean) {
  Recall known(Average::macro, 10), grown;
  for (Recall* m : {&known, &grown}) m->update(classes(kGuess), classes(kTruth));
  EXPECT_DOUBLE_EQ(known.value(), grown.value());
  // A class that is predicted and never true counts as 0.
  Recall r;
  r.update(classes({0, 1}), classes({0, 0}));
  EXPECT_DOUBLE_EQ(r.value(), 0.25);
}

TEST(TrainMetrics, ConfusionMatrixRowsAreTheTrueClasses) {
  ConfusionMatrix m(3);
  m.update(classes({0, 0, 1}), classes({0, 0, 0}));
  m.update(classes({1, 2, 2}), classes({1, 1, 2}));
  const auto expected = hb::tensor(std::vector<double>{2, 1, 0, 0, 1, 1, 0, 0, 1}).to(hb::kDouble).view({3, 3});
  EXPECT_TRUE(hb::equal(m.compute(), expected));
  m.clear();
  EXPECT_THROW(m.compute(), hb::Error);
}

TEST(TrainMetrics, BatchesAddUp) {
  F1 whole, parts;
  whole.update(classes(kGuess), classes(kTruth));
  for (size_t i = 0; i < kTruth.size(); i += 2)
    parts.update(classes({kGuess[i], kGuess[i + 1]}), classes({kTruth[i], kTruth[i + 1]}));
  EXPECT_DOUBLE_EQ(whole.value(), parts.value());
}

TEST(TrainMetrics, TakesScoresOneHotAndProbabilities) {
  const auto scores = hb::one_hot(classes(kGuess), 3).to(hb::kFloat) * 5 - 1;
  const auto hot = hb::one_hot(classes(kTruth), 3);
  Accuracy a, b, halves;
  a.update(scores, classes(kTruth));
  b.update(scores, hot);
  halves.update(scores.to(hb::kBFloat16), classes(kTruth));
  EXPECT_DOUBLE_EQ(a.value(), 4.0 / 6);
  EXPECT_DOUBLE_EQ(b.value(), 4.0 / 6);
  EXPECT_DOUBLE_EQ(halves.value(), 4.0 / 6);
  Accuracy binary;
  binary.update(hb::tensor(std::vector<float>{0.1f, 0.5f, 0.9f, 0.4f}), classes({0, 1, 0, 0}));
  EXPECT_DOUBLE_EQ(binary.value(), 0.75);
  // Scores of every pixel: (N, C, H) and (N, H)
  Accuracy pixels;
  pixels.update(hb::tensor(std::vector<float>{1, 0, 0, 1}).view({1, 2, 2}), classes({0, 0}).view({1, 2}));
  EXPECT_DOUBLE_EQ(pixels.value(), 0.5);
}

TEST(TrainMetrics, TopK) {
  const auto scores = hb::tensor(std::vector<float>{4, 3, 2, 1, 1, 2, 3, 4}).view({2, 4});
  for (auto [k, expected] : {std::pair<int64_t, double>{1, 0}, {2, 0.5}, {3, 1}}) {
    TopKAccuracy top(k);
    top.update(scores, classes({1, 1}));
    EXPECT_DOUBLE_EQ(top.value(), expected) << k;
  }
  TopKAccuracy five(5);
  EXPECT_EQ(five.name(), "top_5_accuracy");
  EXPECT_THROW(five.update(scores, classes({1, 1})), hb::Error);
  EXPECT_THROW(TopKAccuracy(0), hb::Error);
}

TEST(TrainMetrics, WrongInputIsAnError) {
  ConfusionMatrix m(3);
  EXPECT_THROW(m.update(classes({0, 3}), classes({0, 1})), hb::Error);
  EXPECT_THROW(m.update(classes({0, 1}), classes({-1, 1})), hb::Error);
  EXPECT_THROW(m.update(classes({0, 1}), classes({1})), hb::Error);
  EXPECT_THROW(m.update(hb::ones({2, 1}), classes({0, 1})), hb::Error);  // scores of one class
  EXPECT_THROW(m.update(hb::ones({2, 3}), hb::full({2}, 0.5)), hb::Error);
  EXPECT_THROW(make_metric("top_x_accuracy"), hb::ValueError);
  EXPECT_THROW(make_metric("perplexity"), hb::ValueError);
  EXPECT_EQ(make_metric("top_3_accuracy")->name(), "top_3_accuracy");
  EXPECT_EQ((Metrics{"accuracy", F1(), std::make_shared<Recall>()}.size()), 3u);
}
