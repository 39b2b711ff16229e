// The MLP 784-512-512-10 on digits, mixed precision and no loop.
#include <halfbridge/halfbridge.h>

#include "../common/example.h"
#include "mlp.h"

// Gradients of two batches make one step.
constexpr int64_t kAccumulate = 2;

int main(int argc, char** argv) try {
  const auto args = example::parse(argc, argv);
  const auto [training, test] = example::load(args, 32);
  auto loader = example::loader(training, 32);
  Mlp net;
  net->to(args.device);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  std::cout << hb::summary(net, {32, 1, 28, 28});

  hb::train::Model model(net, torch::nn::CrossEntropyLoss(), optimizer, {"accuracy"}, "auto",
                         hb::amp::DynamicLossScaleManager(65536, 2, 1000));
  model.accumulate(kAccumulate);
  auto test_loader = example::loader(test, 50);
  const double before = model.eval(test_loader).at("loss");
  model.fit(args.epochs, loader, test_loader, {hb::train::ProgressBar(), hb::train::TimeMonitor()});
  const auto after = model.eval(test_loader);
  std::printf("loss %.4f -> %.4f, accuracy %.3f\n", before, after.at("loss"), after.at("accuracy"));
  return after.at("loss") < before ? 0 : 1;
} catch (const std::exception& error) {
  return example::failed(error);
}
