// torch::nn::parallel on the CPU. LibTorch's data_parallel needs CUDA to link; what it is made of does not.
#include <torch/nn/parallel/data_parallel.h>

#include "parity/case.h"

using torch::Tensor;
namespace nn = torch::nn;

namespace {

struct NetImpl : nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override {
    layers = register_module("layers", nn::Sequential(nn::Linear(4, 5), nn::Tanh(), nn::Linear(5, 3)));
    scale = register_parameter("scale", torch::full({3}, 0.5));
    count = register_buffer("count", torch::zeros({}));
  }
  Tensor forward(const Tensor& x) {
    if (x.size(0) == 1) throw std::runtime_error("one row alone");
    count += x.size(0);
    return layers->forward(x) * scale;
  }
  nn::Sequential layers{nullptr};
  Tensor scale, count;
};
TORCH_MODULE(Net);

const std::vector<torch::Device> kTwo{torch::Device(torch::kCPU), torch::Device(torch::kCPU)};

}  // namespace

PARITY_CASE(replicas, gradients_flow_to_the_module) {
  torch::manual_seed(4);
  Net net;
  auto replicas = nn::parallel::replicate(net, kTwo);
  c.value("replicas", static_cast<int64_t>(replicas.size()));
  c.value("a leaf", replicas[1]->scale.is_leaf());
  const auto outputs = nn::parallel::parallel_apply(replicas, {c.randn({3, 4}).cpu(), c.randn({2, 4}).cpu()}, kTwo);
  c.out("first", outputs[0]);
  c.out("second", outputs[1]);
  (outputs[0].sum() + outputs[1].pow(2).sum() * 2).backward();
  for (const auto& p : net->named_parameters()) c.out(p.key(), p.value().grad());
  c.out("count", torch::stack({net->count.cpu(), replicas[0]->count.cpu(), replicas[1]->count.cpu()}));
  c.check(!replicas[0]->scale.is_same(net->scale), "replicas have memory of their own");
}

PARITY_CASE(replicas, wrong_calls) {
  Net net;
  auto replicas = nn::parallel::replicate(net, kTwo);
  c.throws("inputs", [&] { nn::parallel::parallel_apply(replicas, {c.randn({3, 4}).cpu()}); });
  c.throws("devices", [&] {
    nn::parallel::parallel_apply(replicas, {c.randn({3, 4}).cpu(), c.randn({3, 4}).cpu()},
                                 std::vector<torch::Device>{torch::Device(torch::kCPU)});
  });
  c.throws("of one", [&] { nn::parallel::parallel_apply(replicas, {c.randn({3, 4}).cpu(), c.randn({1, 4}).cpu()}); });
}
