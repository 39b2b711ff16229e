// Fits a small net to a noisy curve, saves it, reads it back and checks that it says the same.
#include <torch/torch.h>

#include <iostream>

struct CurveImpl : torch::nn::Module {
  CurveImpl() : body(torch::nn::Linear(1, 32), torch::nn::Tanh(), torch::nn::Linear(32, 1)) {
    register_module("body", body);
  }
  torch::Tensor forward(const torch::Tensor& x) { return body->forward(x); }
  torch::nn::Sequential body;
};
TORCH_MODULE(Curve);

int main() {
  torch::manual_seed(0);
  auto x = torch::linspace(-3, 3, 200).unsqueeze(1);
  auto y = torch::sin(x) + 0.05 * torch::randn_like(x);

  Curve curve;
  torch::optim::Adam optimizer(curve->parameters(), torch::optim::AdamOptions(1e-2));
  double last = 0;
  for (int step = 0; step < 500; ++step) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(curve(x), y);
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
    if (step % 100 == 0) std::cout << "step " << step << ": " << last << std::endl;
  }

  torch::save(curve, "curve.pt");
  Curve again;
  torch::load(again, "curve.pt");
  torch::NoGradGuard no_grad;
  const bool same = torch::equal(curve(x), again(x));
  std::cout << "loss " << last << (same ? ", read back unchanged" : ", NOT the same when read back") << std::endl;
  return same && last < 0.05 ? 0 : 1;
}
