// The MLP 784-512-512-10 on digits, mixed precision by hand: autocast and GradScaler.
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
  torch::amp::GradScaler scaler(args.device);
  example::Progress progress;

  for (int64_t epoch = 1; epoch <= args.epochs; ++epoch) {
    torch::Tensor loss;
    int64_t step = 0;
    for (auto& batch : *loader) {
      {
        torch::autocast guard(args.device.type(), torch::kHalf);
        loss = torch::nn::functional::cross_entropy(net(batch.data.to(args.device)), batch.target.to(args.device));
      }
      progress.first_loss(loss);
      scaler.scale(loss / kAccumulate).backward();
      if (++step % kAccumulate != 0) continue;
      scaler.step(optimizer);  // unscales; leaves the step out if a gradient overflowed
      scaler.update();
      optimizer.zero_grad();
    }
    progress.epoch(epoch, loss, example::accuracy(net, test));
  }
  return progress.status();
} catch (const std::exception& error) {
  return example::failed(error);
}
