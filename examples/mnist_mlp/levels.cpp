// The MLP 784-512-512-10 on digits, mixed precision by level: all but the norms in half, with float32 master weights.
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
  auto train = hb::amp::build_train_network(net, optimizer, torch::nn::CrossEntropyLoss(), "O2");
  train.accumulate(kAccumulate);
  example::Progress progress;

  for (int64_t epoch = 1; epoch <= args.epochs; ++epoch) {
    torch::Tensor loss;
    for (auto& batch : *loader) {
      loss = train(batch.data.to(args.device), batch.target.to(args.device));
      progress.first_loss(loss);
    }
    progress.epoch(epoch, loss, example::accuracy(net, test));
  }
  std::printf("loss scale %g\n", train.loss_scale());
  return progress.status();
} catch (const std::exception& error) {
  return example::failed(error);
}
