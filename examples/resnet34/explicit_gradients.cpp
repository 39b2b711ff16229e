// A ResNet-34 on digits, mixed precision with gradients as values: value_and_grad and a loss scaler.
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
  hb::amp::DynamicLossScaler scaler(/*scale_value=*/1024, /*scale_factor=*/2, /*scale_window=*/100);
  example::Progress progress;

  auto forward = [&](const torch::Tensor& images, const torch::Tensor& labels) {
    torch::autocast guard(args.device.type(), torch::kHalf);
    auto loss = torch::nn::functional::cross_entropy(net(images), labels);
    return std::make_tuple(scaler.scale(loss), loss);
  };
  auto step = torch::value_and_grad(forward, std::nullopt, net->parameters(), /*has_aux=*/true);

  for (int64_t epoch = 1; epoch <= args.epochs; ++epoch) {
    torch::Tensor loss;
    for (auto& batch : *loader) {
      auto [value, scaled] = step(batch.data.to(args.device), batch.target.to(args.device));
      loss = std::get<1>(value);
      progress.first_loss(loss);
      auto grads = scaler.unscale(scaled);
      const auto finite = hb::amp::all_finite(grads);
      if (finite.item<bool>()) optimizer.step(hb::clip_by_global_norm(grads, 5.0));
      scaler.adjust(finite);
    }
    progress.epoch(epoch, loss, example::accuracy(net, test, args.side()));
  }
  return progress.status();
} catch (const std::exception& error) {
  return example::failed(error);
}
