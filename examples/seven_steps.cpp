// Training in half precision, step by step: what autocast and GradScaler do in the lines that use them.
#include <torch/torch.h>

#include <cstdio>

int main() {
  torch::manual_seed(1);
  // 1. Parameters, and what the optimizer remembers of them, are fp32.
  torch::nn::Sequential net(torch::nn::Linear(16, 32), torch::nn::ReLU(), torch::nn::Linear(32, 4));
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(1e-2));
  torch::amp::GradScaler scaler("cpu", torch::amp::GradScalerOptions().growth_interval(20));

  const auto inputs = torch::randn({256, 16});
  const auto labels = inputs.slice(1, 0, 4).argmax(1);  // which of the first four is the largest
  float first = 0, last = 0;
  for (int step = 0; step < 60; ++step) {
    optimizer.zero_grad();
    torch::Tensor loss;
    {
      // 2. Inputs and weights are cast to half where a product needs them; what the graph keeps is half.
      torch::autocast guard(torch::kCPU, torch::kHalf);
      const auto logits = net->forward(inputs);  // half
      // 3. The loss is computed in fp32.
      loss = torch::nn::functional::cross_entropy(logits.to(torch::kFloat), labels);
    }
    // 4. The loss is multiplied by the scale, so that small gradients do not vanish in half.
    const auto scaled = scaler.scale(loss);
    // 5. The backward pass runs in half where the forward pass did.
    scaled.backward();
    // 6. Gradients arrive in fp32; here they are divided by the scale, and looked at for inf and NaN on the way.
    scaler.unscale_(optimizer);
    torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);  // so this sees their true size
    // 7. The update is skipped if one overflowed; the scale shrinks then, and grows while all goes well.
    scaler.step(optimizer);
    scaler.update();

    last = loss.item<float>();
    if (step == 0) first = last;
    if (step % 20 == 0) std::printf("step %2d: loss %.4f, scale %g\n", step, last, scaler.get_scale());
  }
  std::printf("loss %.4f, was %.4f\n", last, first);
  return last < 0.5f * first ? 0 : 1;
}
