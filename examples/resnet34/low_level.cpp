// A ResNet-34 on digits, mixed precision by hand: autocast and GradScaler.
#include "../common/example.h"
#include "resnet34.h"

int main(int argc, char** argv) try {
  const auto args = example::parse(argc, argv, /*has_stem=*/true);
  const auto [training, test] = example::load(args, 16);
  auto loader = example::loader(training, 16, args.side());
  ResNet34 net(args.cifar, args.width);
  net->to(args.device);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.02).momentum(0.9));
  torch::amp::GradScaler scaler(args.device);
  example::Progress progress;

  for (int64_t epoch = 1; epoch <= args.epochs; ++epoch) {
    torch::Tensor loss;
    for (auto& batch : *loader) {
      {
        torch::autocast guard(args.device.type(), torch::kHalf);
        loss = torch::nn::functional::cross_entropy(net(batch.data.to(args.device)), batch.target.to(args.device));
      }
      progress.first_loss(loss);
      scaler.scale(loss).backward();
      scaler.unscale_(optimizer);
      torch::nn::utils::clip_grad_norm_(net->parameters(), 5.0);
      scaler.step(optimizer);  // leaves the step out if a gradient overflowed
      scaler.update();
      optimizer.zero_grad();
    }
    progress.epoch(epoch, loss, example::accuracy(net, test, args.side()));
  }
  return progress.status();
} catch (const std::exception& error) {
  return example::failed(error);
}
