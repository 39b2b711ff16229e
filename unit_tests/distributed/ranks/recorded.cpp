// The losses that Python's DistributedDataParallel on Gloo recorded (../recorded/record.py), on 2 ranks.
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "ranks.h"

namespace {

using namespace ranks;

constexpr int64_t kSteps = 50, kBatch = 8;

std::vector<double> recorded(const std::string& name) {
  std::ifstream file(HALFBRIDGE_RECORDED_DDP);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != name) continue;
    std::vector<double> losses;
    for (double loss; words >> loss;) losses.push_back(loss);
    return losses;
  }
  return {};
}

std::pair<Tensor, Tensor> batch(int64_t step) {
  std::vector<float> x;
  std::vector<int64_t> y;
  for (int64_t i = 0; i < kBatch; ++i) {
    for (int64_t j = 0; j < 20; ++j)
      x.push_back(static_cast<float>(
          std::sin(0.1 * static_cast<double>(i * 20 + j) + static_cast<double>(step) + 10.0 * rank())));
    y.push_back((i + step + rank()) % 5);
  }
  return {torch::tensor(x).view({kBatch, 20}), torch::tensor(y)};
}

torch::nn::Sequential network() {
  auto net = mlp();
  torch::NoGradGuard no_grad;
  double k = 0;
  for (Tensor& p : net->parameters()) {
    std::vector<float> values;
    for (int64_t i = 0; i < p.numel(); ++i)
      values.push_back(static_cast<float>(0.3 * std::sin(0.7 * static_cast<double>(i) + k)));
    p.copy_(torch::tensor(values).view(p.sizes()));
    ++k;
  }
  return net;
}

struct Recorded : ::testing::Test {
  void SetUp() override {
    if (size() != 2) GTEST_SKIP() << "2 ranks were recorded";
  }
  static void compare(const std::string& name, const std::vector<double>& own) {
    const auto want = recorded(name);
    ASSERT_EQ(want.size(), static_cast<size_t>(kSteps));
    for (size_t i = 0; i < own.size(); ++i) ASSERT_NEAR(mean_of(own[i]), want[i], 2e-6 * want[i]) << name << ' ' << i;
  }
  torch::nn::Sequential net = network();
  DistributedDataParallel<torch::nn::SequentialImpl> model{net, Options().bucket_cap_mb(0.002)};
  torch::optim::SGD optimizer{net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9)};

  double backward(int64_t step, double factor = 1) {
    const auto [x, y] = batch(step);
    const Tensor loss = cross_entropy(model(x), y) * factor;
    loss.backward();
    return loss.item<double>();
  }
};

TEST_F(Recorded, Plain) {
  std::vector<double> losses;
  for (int64_t step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    losses.push_back(backward(step));
    optimizer.step();
  }
  compare("plain", losses);
}

TEST_F(Recorded, NoSync) {
  std::vector<double> losses;
  for (int64_t step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    double loss = 0;
    {
      const auto guard = model->no_sync();
      loss = backward(2 * step, 0.5);
    }
    loss += backward(2 * step + 1, 0.5);
    optimizer.step();
    losses.push_back(loss);
  }
  compare("no_sync", losses);
}

TEST_F(Recorded, Join) {
  model->join([&] {
    for (int64_t step = 0; step < (rank() == 0 ? kSteps / 2 : kSteps); ++step) {
      optimizer.zero_grad();
      backward(step);
      optimizer.step();
    }
  });
  std::vector<double> losses;
  torch::NoGradGuard no_grad;
  for (int64_t step = 0; step < kSteps; ++step) {
    const auto [x, y] = batch(step);
    losses.push_back(cross_entropy(net->forward(x), y).item<double>());
  }
  compare("join", losses);
}

}  // namespace
