// Loss scaling where it matters: training on the UCI digits in fp16.

#include <gtest/gtest.h>
#include <halfbridge/ops/amp.h>

#include <limits>
#include <sstream>

#include "train/digits.h"

namespace {

using torch::Tensor;
using torch::amp::GradScaler;
constexpr float kInf = std::numeric_limits<float>::infinity();

template <class T>
std::string bytes_of(const T& value) {
  std::ostringstream out;
  torch::save(value, out);
  return out.str();
}

struct Trained {
  digits::Net net{nullptr};
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  std::unique_ptr<GradScaler> scaler;
  std::vector<float> losses;

  explicit Trained(const std::function<std::unique_ptr<torch::optim::Optimizer>(std::vector<Tensor>)>& make) {
    torch::manual_seed(11);
    net = digits::Net();
    optimizer = make(net->parameters());
    scaler = std::make_unique<GradScaler>("cpu", 1024.0, 2.0, 0.5, 5);
  }
  /// Computes the scaled gradients of a batch.
  void backward(int64_t step) {
    optimizer->zero_grad();
    const Tensor loss = digits::half_loss(net, digits::batch(step));
    losses.push_back(loss.item<float>());
    scaler->scale(loss).backward();
  }
  void train(int64_t step) {
    backward(step);
    scaler->step(*optimizer);
    scaler->update();
  }
  std::string weights() const { return bytes_of(net); }
  std::vector<char> state() const { return torch::pickle_save(optimizer->state_dict()); }
};

const auto make_sgd = [](std::vector<Tensor> p) -> std::unique_ptr<torch::optim::Optimizer> {
  return std::make_unique<torch::optim::SGD>(p, torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(1e-4));
};
const auto make_adam = [](std::vector<Tensor> p) -> std::unique_ptr<torch::optim::Optimizer> {
  return std::make_unique<torch::optim::AdamW>(p, torch::optim::AdamWOptions(3e-3));
};

template <class Make>
void overflow_skips_one_update(const Make& make) {
  constexpr int64_t kBad = 4, kSteps = 30;
  Trained run(make), without(make);
  for (int64_t step = 0; step < kSteps; ++step) {
    if (step != kBad) {
      run.train(step);
      without.train(step);
      // Halved at the overflow, doubled after each five steps without one.
      if (step == kBad + 4) {
        EXPECT_EQ(run.scaler->get_scale(), 512.0);
      }
      if (step == kBad + 5) {
        EXPECT_EQ(run.scaler->get_scale(), 1024.0);
      }
      if (step == kBad + 10) {
        EXPECT_EQ(run.scaler->get_scale(), 2048.0);
      }
      continue;
    }
    run.backward(step);
    run.net->out->bias.mutable_grad()[3] = kInf;
    const auto weights = run.weights();
    const auto state = run.state();
    run.scaler->step(*run.optimizer);
    EXPECT_TRUE(run.weights() == weights);
    EXPECT_TRUE(run.state() == state);
    EXPECT_EQ(run.scaler->get_scale(), 1024.0);
    run.scaler->update();
    EXPECT_EQ(run.scaler->get_scale(), 512.0);
    // The other run never sees this batch.
    without.scaler->load_state_dict(run.scaler->state_dict());
    without.losses.push_back(run.losses.back());
  }
  EXPECT_TRUE(run.weights() == without.weights());
  EXPECT_TRUE(run.state() == without.state());
  EXPECT_EQ(run.losses, without.losses);
  EXPECT_LT(run.losses.back(), 0.9f * run.losses.front());
}

TEST(AmpTraining, OverflowSkipsExactlyOneUpdateSGD) { overflow_skips_one_update(make_sgd); }
TEST(AmpTraining, OverflowSkipsExactlyOneUpdateAdamW) { overflow_skips_one_update(make_adam); }

TEST(AmpTraining, ScaleTooLargeAtFirstFindsItsPlace) {
  torch::manual_seed(11);
  digits::Net net;
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  GradScaler scaler("cpu", 1e9);
  int64_t skipped = 0;
  float loss_value = 0;
  for (int64_t step = 0; step < 120; ++step) {
    optimizer.zero_grad();
    const Tensor loss = digits::half_loss(net, digits::batch(step));
    scaler.scale(loss).backward();
    const double scale = scaler.get_scale();
    scaler.step(optimizer);
    scaler.update();
    skipped += scaler.get_scale() < scale;
    loss_value = loss.item<float>();
  }
  EXPECT_GT(skipped, 4);
  EXPECT_LT(skipped, 20);
  EXPECT_LT(loss_value, 0.4f);
}

/// The loss at the end of 150 steps with a loss so small that its gradients are below what fp16 can hold.
float train_small_loss(bool half, bool scaling) {
  constexpr double kSmall = 1e-7;
  torch::manual_seed(11);
  digits::Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.3 / kSmall);
  GradScaler scaler("cpu", torch::amp::GradScalerOptions().init_scale(65536.0 * 64).enabled(scaling));
  float last = 0;
  for (int64_t step = 0; step < 150; ++step) {
    optimizer.zero_grad();
    const Tensor loss =
        half ? digits::half_loss(net, digits::batch(step))
             : torch::nn::functional::cross_entropy(net(digits::batch(step).images), digits::batch(step).labels);
    scaler.scale(loss * kSmall).backward();
    scaler.step(optimizer);
    scaler.update();
    last = loss.item<float>();
  }
  return last;
}

TEST(AmpTraining, UnderflowTrainsOnlyWithScaling) {
  const float f32 = train_small_loss(false, false), unscaled = train_small_loss(true, false),
              scaled = train_small_loss(true, true);
  EXPECT_LT(f32, 0.5f);
  EXPECT_GT(unscaled, 2.2f) << "every gradient underflows: nothing is learnt";
  EXPECT_NEAR(scaled, f32, 0.02f * f32);
}

TEST(AmpTraining, NothingWaitsForTheDevice) {
  for (const auto& make : {+make_sgd, +make_adam}) {
    Trained run(make);
    run.train(0);
    run.train(1);
    for (const bool overflow : {false, true}) {
      run.backward(2);
      if (overflow) run.net->out->bias.mutable_grad()[3] = kInf;
      const uint64_t before = torch::host_reads();
      run.scaler->step(*run.optimizer);
      run.scaler->update();
      EXPECT_EQ(torch::host_reads(), before);
    }
  }
  // With an optimizer that knows nothing of it, the flag is read.
  struct Own : torch::optim::Optimizer {
    using Optimizer::Optimizer;
    using Optimizer::step;
    Tensor step(LossClosure = nullptr) override { return {}; }
  };
  Trained run([](std::vector<Tensor> p) -> std::unique_ptr<torch::optim::Optimizer> {
    return std::make_unique<Own>(p, std::make_unique<torch::optim::SGDOptions>(0.1));
  });
  run.backward(0);
  const uint64_t before = torch::host_reads();
  run.scaler->step(*run.optimizer);
  EXPECT_EQ(torch::host_reads(), before + 1);
}

TEST(AmpTraining, HalfParametersWithMasterWeights) {
  torch::manual_seed(11);
  digits::Net net;
  net->to(torch::kHalf);
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(3e-3));
  optimizer.use_master_weights();
  GradScaler scaler("cpu", 1024.0);
  float first = 0, last = 0;
  for (int64_t step = 0; step < 60; ++step) {
    optimizer.zero_grad();
    const auto batch = digits::batch(step);
    const Tensor logits = net(batch.images.to(torch::kHalf)).to(torch::kFloat);
    const Tensor loss = torch::nn::functional::cross_entropy(logits, batch.labels);
    (step ? last : first) = loss.item<float>();
    scaler.scale(loss).backward();
    if (step == 9) net->out->bias.mutable_grad()[0] = kInf;
    const auto before = bytes_of(net) + bytes_of(optimizer);
    const uint64_t reads = torch::host_reads();
    scaler.step(optimizer);  // half gradients are divided by the scale as the step reads them
    EXPECT_EQ(torch::host_reads(), reads);
    EXPECT_EQ(before == bytes_of(net) + bytes_of(optimizer), step == 9);
    scaler.update();
  }
  EXPECT_EQ(scaler.get_scale(), 512.0);
  EXPECT_LT(last, 0.6f * first);
}

}  // namespace
