#include <sstream>

#include "interop/check.h"
#include "interop/exchange.h"

namespace interop {
namespace {

struct BlockImpl : torch::nn::Module {
  BlockImpl() {
    layers = register_module("layers",
                             torch::nn::Sequential(torch::nn::Conv2d(torch::nn::Conv2dOptions(2, 3, 3).bias(false)),
                                                   torch::nn::BatchNorm2d(3), torch::nn::ReLU()));
    head = register_module("head", torch::nn::Linear(4, 2));
    scale = register_parameter("scale", torch::zeros({3}));
    counter = register_buffer("counter", torch::zeros({1}, torch::kLong));
    tied = register_parameter("tied", scale);
  }
  torch::nn::Sequential layers{nullptr};
  torch::nn::Linear head{nullptr};
  torch::Tensor scale, counter, tied;
};
TORCH_MODULE(Block);

// Containers, and layers whose state is not a weight and a bias.
struct ZooImpl : torch::nn::Module {
  ZooImpl() {
    list = register_module("list", torch::nn::ModuleList(torch::nn::LayerNorm(torch::nn::LayerNormOptions({4})),
                                                         torch::nn::GroupNorm(2, 4)));
    embedding = register_module("embedding", torch::nn::Embedding(5, 3));
    up = register_module("up", torch::nn::ConvTranspose2d(2, 3, 3));
    frozen = register_parameter("frozen", torch::zeros({2}), /*requires_grad=*/false);
  }
  torch::nn::ModuleList list{nullptr};
  torch::nn::Embedding embedding{nullptr};
  torch::nn::ConvTranspose2d up{nullptr};
  torch::Tensor frozen;
};
TORCH_MODULE(Zoo);

// Every value of the module from its place: no generator is needed.
void fill(torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  double next = 1;
  const auto set = [&next](torch::Tensor tensor) {
    const auto values = torch::arange(tensor.numel()).to(torch::kDouble).mul(0.1).add(next);
    tensor.copy_(values.view(tensor.sizes()));
    next += 3;
  };
  for (auto& tensor : module.parameters()) set(tensor);
  for (auto& tensor : module.buffers()) set(tensor);
}

template <typename Holder>
void check_same(const Holder& got, const Holder& expected, const std::string& what) {
  const auto left = got->named_parameters(), right = expected->named_parameters();
  check(left.size() == right.size(), what + ": number of parameters");
  for (const auto& item : right) {
    check_bits(left[item.key()], item.value(), what + " " + item.key());
    check(left[item.key()].requires_grad() == item.value().requires_grad(),
          what + " " + item.key() + ": requires_grad");
  }
  const auto left_buffers = got->named_buffers();
  for (const auto& item : expected->named_buffers())
    check_bits(left_buffers[item.key()], item.value(), what + " " + item.key());
}

}  // namespace

void write_modules(const std::string& folder) {
  torch::nn::Linear linear(3, 4);
  fill(*linear);
  torch::save(linear, folder + "linear.pt");
  Block block;
  fill(*block);
  torch::save(block, folder + "block.pt");
  auto zoo = std::make_shared<ZooImpl>();
  fill(*zoo);
  torch::save(zoo, folder + "zoo.pt");
  torch::nn::Linear half(torch::nn::LinearOptions(3, 4).bias(false));
  fill(*half);
  half->to(torch::kBFloat16);
  torch::save(half, folder + "half.pt");
}

void read_modules(const std::string& folder) {
  torch::nn::Linear linear(3, 4), expected_linear(3, 4);
  fill(*expected_linear);
  torch::load(linear, folder + "linear.pt");
  check_same(linear, expected_linear, "linear.pt");

  Block block, expected_block;
  fill(*expected_block);
  torch::load(block, folder + "block.pt", torch::kCPU);
  check_same(block, expected_block, "block.pt");

  Zoo zoo, expected_zoo;
  fill(*expected_zoo);
  torch::load(zoo, folder + "zoo.pt");
  check_same(zoo, expected_zoo, "zoo.pt");

  torch::nn::Linear half(torch::nn::LinearOptions(3, 4).bias(false)),
      expected_half(torch::nn::LinearOptions(3, 4).bias(false));
  fill(*expected_half);
  expected_half->to(torch::kBFloat16);
  half->to(torch::kBFloat16);
  torch::load(half, folder + "half.pt");
  check_same(half, expected_half, "half.pt");

  std::stringstream stream;
  torch::save(block, stream);
  Block again;
  torch::load(again, stream);
  check_same(again, expected_block, "a module through a stream");

  torch::nn::Linear other(3, 4);
  bool thrown = false;
  try {
    torch::load(other, folder + "block.pt");
  } catch (const c10::Error& error) {
    thrown = std::string(error.what()).find("weight") != std::string::npos;
  }
  check(thrown, "a module of another kind: an error that names the missing tensor");
}

}  // namespace interop
