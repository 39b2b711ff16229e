// A convolution's result lies channels-last until the program looks at its memory. One thread may look while others
// read.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

using torch::Tensor;
namespace F = torch::nn::functional;

struct Reader {
  const char* name;
  std::function<Tensor(const Tensor&)> read;
};

// What readers take beside the tensor that they share.
struct Operands {
  Tensor weight = torch::randn({8, 8, 3, 3}), vector = torch::rand({8});
  Tensor rows = torch::randn({6, 6}), grid = torch::rand({2, 4, 4, 2}) * 2 - 1;
};
const Operands& operands() {
  static const Operands made;
  return made;
}

const std::vector<Reader> kReaders{
    {"add", [](const Tensor& x) { return x + 1; }},
    {"mul", [](const Tensor& x) { return x * x; }},
    {"relu", [](const Tensor& x) { return torch::relu(x); }},
    {"row", [](const Tensor& x) { return x + torch::ones({6}); }},
    {"clone", [](const Tensor& x) { return x.clone(); }},
    {"empty_like", [](const Tensor& x) { return torch::zeros_like(x); }},
    {"detach", [](const Tensor& x) { return x.detach() * 2; }},
    {"double", [](const Tensor& x) { return x.to(torch::kDouble); }},
    {"half", [](const Tensor& x) { return x.to(torch::kHalf); }},
    {"sum", [](const Tensor& x) { return x.sum(); }},
    {"sum of channels", [](const Tensor& x) { return x.sum(1); }},
    {"mean",
     [](const Tensor& x) {
       return x.mean({2, 3});
     }},
    {"max", [](const Tensor& x) { return std::get<0>(x.max(1)); }},
    {"var", [](const Tensor& x) { return x.var(1); }},
    {"conv2d", [](const Tensor& x) { return torch::conv2d(x, operands().weight); }},
    {"batch_norm",
     [](const Tensor& x) {
       return torch::batch_norm(x, operands().vector, operands().vector, {}, {}, true, 0.1, 1e-5, false);
     }},
    {"max_pool", [](const Tensor& x) { return torch::max_pool2d(x, 2); }},
    {"avg_pool", [](const Tensor& x) { return torch::avg_pool2d(x, 2); }},
    {"adaptive",
     [](const Tensor& x) {
       return torch::adaptive_avg_pool2d(x, {1, 1});
     }},
    {"layer_norm", [](const Tensor& x) { return torch::layer_norm(x, {6}); }},
    {"softmax", [](const Tensor& x) { return torch::softmax(x, 1); }},
    {"cat",
     [](const Tensor& x) {
       return torch::cat({x, x}, 1);
     }},
    {"flatten", [](const Tensor& x) { return x.flatten(1) * 1; }},
    {"matmul", [](const Tensor& x) { return x.matmul(operands().rows); }},
    {"linear", [](const Tensor& x) { return torch::linear(x, operands().rows); }},
    {"flip", [](const Tensor& x) { return x.flip({2}); }},
    {"gather",
     [](const Tensor& x) {
       return x.gather(3, torch::zeros({2, 8, 6, 2}, torch::kLong));
     }},
    {"index_select", [](const Tensor& x) { return x.index_select(1, torch::arange(3)); }},
    {"upsample",
     [](const Tensor& x) {
       return F::interpolate(x, F::InterpolateFuncOptions().scale_factor(std::vector<double>{2, 2}));
     }},
    {"grid_sample",
     [](const Tensor& x) {
       return F::grid_sample(x, operands().grid, F::GridSampleFuncOptions().align_corners(false));
     }},
    {"sort", [](const Tensor& x) { return std::get<0>(x.sort(1)); }},
    {"cumsum", [](const Tensor& x) { return x.cumsum(1); }},
    {"where", [](const Tensor& x) { return torch::where(x > 0, x, -x); }},
    {"masked_select", [](const Tensor& x) { return x.masked_select(x > 0).sum(); }},
    {"permute",
     [](const Tensor& x) {
       return x.permute({0, 2, 3, 1}).contiguous();
     }},
    {"copy_",
     [](const Tensor& x) {
       return torch::empty({2, 8, 6, 6}).copy_(x);
     }},
    {"add_",
     [](const Tensor& x) {
       return torch::ones({2, 8, 6, 6}).add_(x);
     }},
    {"pad",
     [](const Tensor& x) {
       return torch::constant_pad_nd(x, {1, 1, 1, 1});
     }},
    {"attention", [](const Tensor& x) { return torch::scaled_dot_product_attention(x, x, x); }},
};

Tensor deferred(uint64_t seed) {
  torch::manual_seed(seed);
  const Tensor x = torch::randn({2, 4, 6, 6}), w = torch::randn({8, 4, 1, 1});
  return torch::conv2d(x, w);
}

class DeferredThreads : public testing::TestWithParam<size_t> {};

TEST_P(DeferredThreads, ReadersSeeOneStateWhileAnotherThreadLooksAtTheMemory) {
  torch::NoGradGuard guard;
  const Reader& reader = kReaders[GetParam()];
  SCOPED_TRACE(reader.name);
  const Tensor wanted = reader.read(deferred(1).contiguous().clone());
  int wrong = 0;
  for (int round = 0; round < 16; ++round) {
    const Tensor x = deferred(1);
    std::atomic<int> ready{0};
    const auto start = [&] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
    };
    std::thread looking([&] {
      start();
      for (int i = 0; i < round % 8 * 200; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
      static_cast<const float*>(x.data_ptr());
    });
    torch::NoGradGuard no_grad;
    start();
    const Tensor first = reader.read(x), second = reader.read(x);
    looking.join();
    wrong += !torch::allclose(first, wanted, 1e-4, 1e-5) + !torch::allclose(second, wanted, 1e-4, 1e-5);
  }
  EXPECT_EQ(wrong, 0);
}
INSTANTIATE_TEST_SUITE_P(EveryReader, DeferredThreads, testing::Range<size_t>(0, kReaders.size()));

// Many tensors through one net on several threads, each reading what all others read.
TEST(DeferredThreads, OneInputForManyThreads) {
  torch::NoGradGuard guard;
  const Tensor x = deferred(2), wanted = (deferred(2) * 2).contiguous();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        if (i == 10 * t) x.data_ptr();
        wrong += !torch::equal(x * 2, wanted);
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
