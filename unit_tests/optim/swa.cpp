// Averages of a model's weights.
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace swa = torch::optim::swa_utils;
using torch::Tensor;

namespace {
torch::nn::Sequential net() {
  torch::manual_seed(3);
  return torch::nn::Sequential(torch::nn::Linear(3, 4), torch::nn::BatchNorm1d(4), torch::nn::Linear(4, 2));
}
void set(torch::nn::Sequential& model, double value) {
  torch::NoGradGuard no_grad;
  for (auto& p : model->parameters()) p.fill_(value);
  for (auto& b : model->buffers()) b.fill_(value);
}
double first(const swa::AveragedModel& averaged) { return averaged.module()->parameters()[0][0][0].item<double>(); }
double mean(const swa::AveragedModel& averaged) {
  return averaged.module()->named_buffers()["1.running_mean"][0].item<double>();
}
}  // namespace

TEST(WeightAveraging, Mean) {
  auto model = net();
  swa::AveragedModel averaged(*model), buffers_too(*model, std::nullopt, nullptr, nullptr, true);
  for (double value : {1.0, 2.0, 6.0}) {
    set(model, value);
    averaged.update_parameters(*model);
    buffers_too.update_parameters(*model);
  }
  EXPECT_FLOAT_EQ(first(averaged), 3.0);
  EXPECT_FLOAT_EQ(first(buffers_too), 3.0);
  EXPECT_FLOAT_EQ(mean(averaged), 6.0);
  EXPECT_FLOAT_EQ(mean(buffers_too), 3.0);
  EXPECT_EQ(averaged.n_averaged.item<int64_t>(), 3);
  EXPECT_TRUE(averaged.named_parameters().contains("module.0.weight"));
  EXPECT_EQ(averaged.module<torch::nn::Sequential>()->forward(torch::ones({2, 3})).size(1), 2);
  EXPECT_THROW(averaged.module<torch::nn::Linear>(), c10::Error);
  EXPECT_THROW(averaged.update_parameters(*torch::nn::Linear(3, 4)), c10::Error);
}

TEST(WeightAveraging, MovingAverageAndFunctionsOfOnesOwn) {
  auto model = net();
  swa::AveragedModel moving(*model, std::nullopt, swa::get_ema_avg_fn(0.75)),
      multi(*model, std::nullopt, nullptr, swa::get_ema_multi_avg_fn(0.75)),
      last(net().ptr(), std::nullopt, [](const Tensor&, const Tensor&current, const Tensor&) { return current; });
  for (double value : {1.0, 2.0, 6.0}) {
    set(model, value);
    for (auto* averaged : {&moving, &multi, &last}) averaged->update_parameters(*model);
  }
  EXPECT_FLOAT_EQ(first(moving), (0.75 + 0.5) * 0.75 + 1.5);
  EXPECT_FLOAT_EQ(first(multi), first(moving));
  EXPECT_FLOAT_EQ(first(last), 6.0);
  EXPECT_THROW(swa::get_ema_avg_fn(1.5), c10::Error);
  EXPECT_THROW(swa::AveragedModel(*model, std::nullopt, swa::get_swa_avg_fn(), swa::get_swa_multi_avg_fn()),
               c10::Error);
}

TEST(WeightAveraging, BatchNormsSeeTheDataAgain) {
  auto model = net();
  model->eval();
  torch::manual_seed(4);
  std::vector<Tensor> batches{torch::randn({8, 3}), torch::randn({8, 3}) + 1, torch::randn({8, 3})};
  swa::update_bn(batches, model);
  Tensor expected = torch::zeros({4});
  for (const auto& batch : batches) expected += model->ptr<torch::nn::LinearImpl>(0)->forward(batch).mean(0) / 3;
  EXPECT_TRUE(torch::allclose(model->named_buffers()["1.running_mean"], expected, 1e-5, 1e-6));
  EXPECT_FALSE(model->is_training());
  EXPECT_EQ(*model->ptr<torch::nn::BatchNorm1dImpl>(1)->options.momentum(), 0.1);
}
