// The two ways to train in mixed precision without writing it out, of Halfbridge alone: a loop with autocast and
// GradScaler, and hb::train::Model. The nets are the examples'.
#include <halfbridge/halfbridge.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "../examples/mnist_mlp/mlp.h"
#include "../examples/resnet34/resnet34.h"
#include "workload.h"

namespace bench {
namespace {

using Precision = std::optional<torch::Dtype>;  // nullopt: f32

struct Task {
  std::function<torch::Tensor(const torch::Tensor&)> forward;
  hb::train::Network net;
  std::shared_ptr<torch::optim::SGD> optimizer;
  torch::Tensor images, labels;
};

template <class Net>
Task task(Net net, const std::vector<int64_t>& shape) {
  auto optimizer = std::make_shared<torch::optim::SGD>(net->parameters(), 1e-2);
  return {[net](const torch::Tensor& x) mutable { return net(x); }, hb::train::Network(net), optimizer,
          torch::rand(shape), torch::randint(10, {shape[0]}, torch::kLong)};
}
Task mlp() { return task(Mlp(), {64, 1, 28, 28}); }
Task resnet34() { return task(ResNet34(/*cifar=*/true), {32, 1, 32, 32}); }

Prepared counted(const Task& task, std::function<void()> iteration) {
  Prepared prepared;
  prepared.iteration = std::move(iteration);
  prepared.items = static_cast<double>(task.images.size(0));
  prepared.unit = "images";
  return prepared;
}

Prepared loop(Task task, Precision precision) {
  const bool scaled = precision == torch::kHalf;
  auto scaler = std::make_shared<torch::amp::GradScaler>("cpu", torch::amp::GradScalerOptions().enabled(scaled));
  return counted(task, [=]() mutable {
    task.optimizer->zero_grad();
    torch::Tensor loss;
    {
      torch::autocast guard(torch::kCPU, precision.value_or(torch::kBFloat16), precision.has_value());
      loss = torch::nn::functional::cross_entropy(task.forward(task.images), task.labels);
    }
    scaler->scale(loss).backward();
    scaler->step(*task.optimizer);
    scaler->update();
  });
}

Prepared model(Task task, Precision precision) {
  struct Run {
    Task task;
    hb::train::Model model;
    std::vector<hb::train::Batch> epoch;
    int64_t epochs = 0;
  };
  hb::amp::LevelOptions options;
  if (precision) options.dtype(*precision);
  hb::train::Model model(task.net, torch::nn::CrossEntropyLoss(), *task.optimizer, {}, precision ? "O2" : "O0", {},
                         options);
  auto run = std::make_shared<Run>(Run{task, std::move(model), {{{task.images}, task.labels}}});
  return counted(task, [run] { run->model.train(++run->epochs, run->epoch); });
}

}  // namespace

std::vector<Workload> workloads() {
  std::vector<Workload> all;
  for (const auto& [net, make] : {std::pair{"mlp_b64", mlp}, std::pair{"resnet34_b32", resnet34}}) {
    for (const auto& [way, prepare] : {std::pair{"loop", loop}, std::pair{"model", model}}) {
      for (const auto& [name, precision] :
           {std::pair{"f32", Precision()}, std::pair{"bf16", Precision(torch::kBFloat16)},
            std::pair{"fp16", Precision(torch::kHalf)}})
        all.push_back({std::string(net) + "_" + way + "_" + name,
                       [make = make, prepare = prepare, precision = precision] { return prepare(make(), precision); }});
    }
  }
  return all;
}

}  // namespace bench
