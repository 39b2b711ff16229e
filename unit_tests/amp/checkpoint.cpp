// A checkpoint in the middle of a run: model, optimizer with master weights, scheduler, scaler, random numbers and the
// position in the data. What follows is the same, bit for bit.

#include <gtest/gtest.h>

#include <sstream>

#include "train/digits.h"

namespace {

using torch::Tensor;

struct DropNetImpl : torch::nn::Module {
  DropNetImpl()
      : hidden(register_module("hidden", torch::nn::Linear(64, 32))),
        norm(register_module("norm", torch::nn::BatchNorm1d(32))),
        drop(register_module("drop", torch::nn::Dropout(0.2))),
        out(register_module("out", torch::nn::Linear(32, 10))) {}
  Tensor forward(const Tensor& x) { return out(drop(torch::relu(norm(hidden(x))))); }
  torch::nn::Linear hidden;
  torch::nn::BatchNorm1d norm;
  torch::nn::Dropout drop;
  torch::nn::Linear out;
};
TORCH_MODULE(DropNet);

/// Everything that a run consists of.
template <class Optimizer, class Options>
struct Training {
  bool half_weights;
  DropNet net;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<torch::optim::StepLR> scheduler;
  torch::amp::GradScaler scaler{"cpu", 1024.0, 2.0, 0.5, 4};
  torch::data::samplers::RandomSampler sampler{1797};
  std::vector<float> losses;

  Training(bool half, const Options& options) : half_weights(half) {
    if (half) net->to(torch::kHalf);
    optimizer = std::make_unique<Optimizer>(net->parameters(), options);
    if (half) optimizer->use_master_weights();
    scheduler = std::make_unique<torch::optim::StepLR>(*optimizer, 3, 0.5);
  }
  void step() {
    auto indices = sampler.next(64);
    if (!indices || indices->size() < 64) {
      sampler.reset();
      indices = sampler.next(64);
    }
    std::vector<int64_t> at(indices->begin(), indices->end());
    const Tensor rows = torch::tensor(at), images = digits::data().images.index_select(0, rows);
    optimizer->zero_grad();
    Tensor logits;
    if (half_weights) {
      logits = net(images.to(torch::kHalf));
    } else {
      torch::autocast guard(torch::kCPU, torch::kHalf);
      logits = net(images);
    }
    const Tensor loss =
        torch::nn::functional::cross_entropy(logits.to(torch::kFloat), digits::data().labels.index_select(0, rows));
    scaler.scale(loss).backward();
    if (losses.size() % 6 == 5) net->out->bias.mutable_grad()[0] = std::numeric_limits<float>::infinity();
    scaler.step(*optimizer);
    scaler.update();
    scheduler->step();
    losses.push_back(loss.item<float>());
  }

  /// The files of a checkpoint.
  std::vector<std::string> save() {
    std::vector<std::string> files;
    const auto add = [&](const auto& value) {
      std::ostringstream out;
      torch::save(value, out);
      files.push_back(out.str());
    };
    add(net), add(*optimizer), add(*scheduler), add(scaler), add(sampler);
    add(at::detail::getDefaultCPUGenerator().get_state());
    return files;
  }
  void load(const std::vector<std::string>& files) {
    size_t next = 0;
    const auto take = [&](auto& value) {
      std::istringstream in(files.at(next++));
      torch::load(value, in);
    };
    take(net), take(*optimizer), take(*scheduler), take(scaler), take(sampler);
    Tensor generator;
    take(generator);
    at::Generator rng = at::detail::getDefaultCPUGenerator();
    rng.set_state(generator);
  }
};

template <class Optimizer, class Options>
void resumes(bool half, const Options& options) {
  constexpr int kBefore = 33, kAfter = 9;  // the second pass over the data has begun
  torch::manual_seed(7);
  Training<Optimizer, Options> whole(half, options);
  for (int i = 0; i < kBefore; ++i) whole.step();
  const auto checkpoint = whole.save();
  for (int i = 0; i < kAfter; ++i) whole.step();

  torch::manual_seed(99);  // another program
  Training<Optimizer, Options> resumed(half, options);
  resumed.step();
  resumed.load(checkpoint);
  resumed.losses.assign(whole.losses.begin(), whole.losses.begin() + kBefore);
  for (int i = 0; i < kAfter; ++i) resumed.step();

  EXPECT_EQ(whole.losses, resumed.losses);
  EXPECT_EQ(whole.scaler.get_scale(), resumed.scaler.get_scale());
  EXPECT_EQ(whole.optimizer->param_groups()[0].options().get_lr(),
            resumed.optimizer->param_groups()[0].options().get_lr());
  const auto a = whole.net->state_dict(), b = resumed.net->state_dict();
  for (const auto& item : a) EXPECT_TRUE(torch::equal(item.value(), b[item.key()])) << item.key();
  EXPECT_TRUE(torch::pickle_save(whole.optimizer->state_dict()) == torch::pickle_save(resumed.optimizer->state_dict()));
}

TEST(AmpCheckpoint, ResumesUnderAutocast) {
  resumes<torch::optim::AdamW>(false, torch::optim::AdamWOptions(3e-3));
  resumes<torch::optim::SGD>(false, torch::optim::SGDOptions(0.05).momentum(0.9));
}

TEST(AmpCheckpoint, ResumesWithMasterWeights) {
  resumes<torch::optim::AdamW>(true, torch::optim::AdamWOptions(3e-3));
  resumes<torch::optim::SGD>(true, torch::optim::SGDOptions(0.05).momentum(0.9));
}

}  // namespace
