// The net of the tests of levels, with probes that say in which dtype values pass.
#pragma once

#include <halfbridge/halfbridge.h>
#include <torch/torch.h>

namespace amp_net {

namespace nn = torch::nn;
using torch::Tensor;

// Says in which dtype its input arrived.
struct ProbeImpl : nn::Module {
  Tensor forward(const Tensor& x) { return seen = x.scalar_type(), x; }
  torch::ScalarType seen = torch::kInt;
};
TORCH_MODULE(Probe);

struct NetImpl : nn::Module {
  NetImpl() {
    torch::manual_seed(3);
    conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1)));
    conv_out = register_module("conv_out", Probe());
    norm = register_module("norm", nn::BatchNorm2d(8));
    norm_out = register_module("norm_out", Probe());
    fc = register_module("fc", nn::Linear(8 * 16, 3));
  }
  Tensor forward(const Tensor& x) {
    auto y = norm_out(norm(conv_out(conv(x))));
    y = torch::max_pool2d(torch::relu(y), 2);
    probed = y.scalar_type();
    return fc(y.flatten(1));
  }
  nn::Conv2d conv{nullptr};
  Probe conv_out{nullptr}, norm_out{nullptr};
  nn::BatchNorm2d norm{nullptr};
  nn::Linear fc{nullptr};
  torch::ScalarType probed = torch::kInt;
};
TORCH_MODULE(Net);

struct Data {
  Tensor x, y;
  Data() {
    torch::manual_seed(9);
    y = torch::randint(0, 3, {48});
    x = torch::randn({48, 1, 8, 8}) * 0.3 + y.to(torch::kFloat).view({-1, 1, 1, 1});
  }
};

inline constexpr auto kFloat = torch::kFloat;
inline constexpr auto kBf16 = torch::kBFloat16;

}  // namespace amp_net
