#include "train.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "nets.h"
#include "process.h"
#include "terminal.h"

namespace demo {
namespace {

torch::Dtype dtype_of(Precision precision) {
  return precision == Precision::kF32    ? torch::kFloat32
         : precision == Precision::kBf16 ? torch::kBFloat16
                                         : torch::kHalf;
}

std::string format(const char* pattern, double a, double b) {
  char text[80];
  std::snprintf(text, sizeof text, pattern, a, b);
  return text;
}

std::string label_of(const Plan& plan) {
  char text[80];
  std::snprintf(text, sizeof text, "%-6s %-4s %-4s", plan.data.c_str(), plan.net.c_str(), name_of(plan.precision));
  return text;
}

// Each image mixed with a little noise: there are few digits to learn from.
torch::Tensor jitter(const torch::Tensor& images) { return images + 0.2 * torch::randn_like(images); }

template <class Net>
double accuracy(Net& net, const LabelledImages& data) {
  torch::NoGradGuard no_grad;
  net->eval();
  int64_t right = 0;
  for (int64_t at = 0; at < data.size(); at += 500) {
    const auto end = std::min(at + 500, data.size());
    const auto guess = net(data.images.slice(0, at, end)).argmax(1);
    right += guess.eq(data.labels.slice(0, at, end)).sum().template item<int64_t>();
  }
  net->train();
  return static_cast<double>(right) / static_cast<double>(data.size());
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

template <class Net>
Outcome fit(const Plan& plan, Net net, const LabelledImages& training, const LabelledImages& held_back) {
  const auto autocast = [&] {
    return torch::autocast(torch::kCPU, dtype_of(plan.precision), plan.precision != Precision::kF32);
  };
  const double memory_before = resident_mib();
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(plan.lr).momentum(0.9).weight_decay(1e-4));
  // bf16 has the range of f32: only the gradients of fp16 need a scale.
  torch::amp::GradScaler scaler("cpu", torch::amp::GradScalerOptions().enabled(plan.precision == Precision::kFp16));
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      ImageDataset(training).map(torch::data::transforms::Stack<>()),
      torch::data::DataLoaderOptions().batch_size(static_cast<size_t>(plan.batch)).drop_last(true));
  // All of MNIST needs fewer rounds than a part of it.
  const int64_t epochs = training.size() > 20000 ? std::max<int64_t>(1, plan.epochs / 3) : plan.epochs;
  const int64_t steps = epochs * (training.size() / plan.batch);
  torch::optim::CosineAnnealingLR schedule(optimizer, steps);

  ProgressBar bar(label_of(plan));
  Outcome outcome;
  std::vector<double> times;
  int64_t step = 0;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    double total = 0;
    int64_t batches = 0;
    for (auto& batch : *loader) {
      const auto images = jitter(batch.data);
      const double scale = scaler.get_scale();
      const auto start = std::chrono::steady_clock::now();
      optimizer.zero_grad();
      torch::Tensor loss;
      {
        const auto guard = autocast();
        loss = torch::nn::functional::cross_entropy(net(images), batch.target);
      }
      scaler.scale(loss).backward();
      scaler.step(optimizer);
      scaler.update();
      const auto end = std::chrono::steady_clock::now();
      schedule.step();

      times.push_back(std::chrono::duration<double, std::milli>(end - start).count());
      outcome.skipped += scaler.get_scale() < scale;
      total += loss.template item<double>();
      ++batches;
      if (++step % 8 == 0) {
        bar.show(static_cast<double>(step) / static_cast<double>(steps),
                 format("loss %.4f  accuracy %.4f", total / static_cast<double>(batches), outcome.accuracy));
      }
    }
    outcome.loss = total / static_cast<double>(batches);
    const auto guard = autocast();
    outcome.accuracy = accuracy(net, held_back);
  }
  outcome.ms_per_step = median(times);
  outcome.peak_mib = std::max(0.0, peak_resident_mib() - memory_before);
  bar.finish(format("loss %.4f  accuracy %.4f", outcome.loss, outcome.accuracy));
  return outcome;
}

}  // namespace

const char* name_of(Precision precision) {
  return precision == Precision::kF32 ? "f32" : precision == Precision::kBf16 ? "bf16" : "fp16";
}

Outcome train(const Plan& plan, const LabelledImages& training, const LabelledImages& held_back) {
  torch::manual_seed(plan.seed);
  if (plan.net == "mlp") return fit(plan, Mlp(training.side(), 512), training, held_back);
  return fit(plan, ConvNet(training.side(), 32), training, held_back);
}

}  // namespace demo
