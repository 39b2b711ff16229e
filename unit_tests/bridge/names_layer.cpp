// What a program may do with LibTorch's namespaces and headers.
#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <c10/util/irange.h>
#include <torch/cuda.h>
#include <torch/nn.h>
#include <torch/nn/functional.h>
#include <torch/optim/adam.h>
#include <torch/torch.h>

// Programs add names to LibTorch's namespaces.
namespace torch::nn {
struct OwnImpl : Module {
  Tensor forward(const Tensor& x) { return functional::relu(x); }
};
TORCH_MODULE(Own);
namespace functional {
inline Tensor doubled(const Tensor& x) { return x * 2; }
}  // namespace functional
}  // namespace torch::nn
namespace torch::data::datasets {
struct Nothing : Dataset<Nothing> {
  Example<> get(size_t) override { return {torch::zeros({1}), torch::zeros({1})}; }
  torch::optional<size_t> size() const override { return 0; }
};
}  // namespace torch::data::datasets

namespace unqualified {
using namespace torch;
using namespace torch::nn;
Tensor run() {
  nn::Linear fc(2, 2);
  Sequential net(fc, ReLU(), nn::Dropout(0.1));
  auto y = functional::softmax(net->forward(torch::ones({1, 2})), 1);
  nn::init::zeros_(fc->weight);
  optim::SGD sgd(net->parameters(), 0.1);
  data::samplers::SequentialSampler sampler(3);
  auto g = autograd::grad({y.sum()}, {fc->bias});
  return y.index({indexing::Slice(0, 1)});
}
}  // namespace unqualified

// Names that programs give to classes of their own.
struct Node {
  int value = 1;
};
struct Edge {
  int value = 2;
};
struct Engine {
  int value = 3;
};

TEST(NamesLayer, NamespacesAreReopenedAndUsed) {
  torch::nn::Own own;
  EXPECT_EQ(own(torch::ones({1})).item<float>(), 1);
  EXPECT_EQ(torch::nn::functional::doubled(torch::ones({1})).item<float>(), 2);
  EXPECT_EQ(torch::data::datasets::Nothing().size(), 0u);
  EXPECT_EQ(unqualified::run().dim(), 2);
}

TEST(NamesLayer, NamesOfTypesAreThoseOfLibTorch) {
  EXPECT_EQ(torch::nn::Linear(1, 1)->name(), "torch::nn::LinearImpl");
  EXPECT_EQ(torch::nn::Own()->name(), "torch::nn::OwnImpl");
}

TEST(NamesLayer, ChecksThrowTheRightError) {
  EXPECT_NO_THROW(TORCH_CHECK(true));
  EXPECT_THROW(TORCH_CHECK(false, "a", 1), c10::Error);
  EXPECT_THROW(TORCH_CHECK_INDEX(false, "a"), c10::IndexError);
  EXPECT_THROW(TORCH_CHECK_VALUE(false), c10::ValueError);
  EXPECT_THROW(TORCH_CHECK_TYPE(false), c10::TypeError);
  EXPECT_THROW(TORCH_CHECK_NOT_IMPLEMENTED(false), c10::NotImplementedError);
  EXPECT_THROW(AT_ERROR("x"), torch::Error);
  try {
    TORCH_CHECK(1 == 2);
  } catch (const c10::Error& e) {
    EXPECT_NE(std::string(e.what()).find("1 == 2"), std::string::npos);
  }
}

TEST(NamesLayer, DispatchCallsWithTheType) {
  auto size_of = [](const torch::Tensor& t) {
    return AT_DISPATCH_ALL_TYPES_AND2(torch::kHalf, torch::kBool, t.scalar_type(), "size_of",
                                      [&] { return sizeof(scalar_t); });
  };
  EXPECT_EQ(size_of(torch::ones({1}, torch::kDouble)), 8u);
  EXPECT_EQ(size_of(torch::ones({1}, torch::kHalf)), 2u);
  EXPECT_EQ(size_of(torch::ones({1}, torch::kBool)), 1u);
  EXPECT_THROW(size_of(torch::ones({1}, torch::kBFloat16)), c10::Error);
}

TEST(NamesLayer, ThereIsNoGpu) {
  EXPECT_FALSE(torch::cuda::is_available());
  EXPECT_EQ(torch::cuda::device_count(), 0);
  EXPECT_FALSE(torch::cuda::cudnn_is_available());
  EXPECT_FALSE(torch::hasCUDA());
  EXPECT_EQ(torch::getNumGPUs(), 0u);
  EXPECT_NO_THROW(torch::cuda::manual_seed(1));
  EXPECT_THROW(torch::cuda::synchronize(), c10::Error);
}

TEST(NamesLayer, Threads) {
  const int threads = torch::get_num_threads();
  torch::set_num_threads(1);
  EXPECT_EQ(at::get_num_threads(), 1);
  EXPECT_EQ(hb::get_num_threads(), 1);  // what the engine goes by
  EXPECT_THROW(torch::set_num_threads(0), c10::Error);
  torch::set_num_threads(threads);
  std::vector<int> seen(1000);
  at::parallel_for(0, 1000, 10, [&](int64_t from, int64_t to) {
    for (auto i : c10::irange(from, to)) ++seen[i];
  });
  for (int n : seen) EXPECT_EQ(n, 1);
  EXPECT_THROW(at::parallel_for(0, 100, 1, [](int64_t, int64_t) { throw std::runtime_error("x"); }),
               std::runtime_error);
}

TEST(NamesLayer, GlobalContextRemembers) {
  auto& context = at::globalContext();
  context.setBenchmarkCuDNN(true);
  context.setDeterministicAlgorithms(true, true);
  context.setFloat32MatmulPrecision("high");
  EXPECT_TRUE(torch::globalContext().benchmarkCuDNN());
  EXPECT_TRUE(context.deterministicAlgorithms());
  EXPECT_EQ(context.float32MatmulPrecision(), at::Float32MatmulPrecision::HIGH);
  EXPECT_THROW(context.setFloat32MatmulPrecision("best"), c10::Error);
  context.setBenchmarkCuDNN(false);
  context.setDeterministicAlgorithms(false);
}

TEST(NamesLayer, ProgramsKeepTheirOwnNames) {
  using namespace torch;
  EXPECT_EQ(Node().value + Edge().value + Engine().value, 6);
  const auto y = ones({2}, requires_grad()) * 2;
  const std::shared_ptr<torch::autograd::Node> node = y.grad_fn();
  EXPECT_EQ(node->name(), "MulBackward1");
}
