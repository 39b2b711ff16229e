// A ResNet-34 on digits, mixed precision and no loop.
#include <halfbridge/halfbridge.h>

#include "../common/example.h"
#include "resnet34.h"

int main(int argc, char** argv) try {
  const auto args = example::parse(argc, argv, /*has_stem=*/true);
  const auto [training, test] = example::load(args, 16);
  auto loader = example::loader(training, 16, args.side());
  ResNet34 net(args.cifar, args.width);
  net->to(args.device);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.02).momentum(0.9));
  std::cout << hb::summary(net, {16, 1, args.side(), args.side()});

  hb::train::Model model(net, torch::nn::CrossEntropyLoss(), optimizer, {"accuracy"}, "O2",
                         hb::amp::DynamicLossScaleManager(65536, 2, 1000));
  model.clip_gradients(5.0);
  auto test_loader = example::loader(test, 50, args.side());
  const double before = model.eval(test_loader).at("loss");
  model.fit(args.epochs, loader, test_loader, {hb::train::ProgressBar(), hb::train::TimeMonitor()});
  const auto after = model.eval(test_loader);
  std::printf("loss %.4f -> %.4f, accuracy %.3f\n", before, after.at("loss"), after.at("accuracy"));
  return std::isfinite(after.at("loss")) ? 0 : 1;
} catch (const std::exception& error) {
  return example::failed(error);
}
