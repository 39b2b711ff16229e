// A ResNet-34 on digits, mixed precision by level: all but the norms in half, with float32 master weights.
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
  auto train = hb::amp::build_train_network(net, optimizer, torch::nn::CrossEntropyLoss(), "O2");
  train.clip_gradients(5.0);
  example::Progress progress;

  for (int64_t epoch = 1; epoch <= args.epochs; ++epoch) {
    torch::Tensor loss;
    for (auto& batch : *loader) {
      loss = train(batch.data.to(args.device), batch.target.to(args.device));
      progress.first_loss(loss);
    }
    progress.epoch(epoch, loss, example::accuracy(net, test, args.side()));
  }
  std::printf("loss scale %g\n", train.loss_scale());
  return progress.status();
} catch (const std::exception& error) {
  return example::failed(error);
}
