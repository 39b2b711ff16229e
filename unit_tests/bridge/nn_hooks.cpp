// Module hooks: when they run, what they see and what they may replace.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <atomic>
#include <thread>

namespace nn = torch::nn;
using torch::Tensor;

namespace {

struct DoubleImpl : nn::Module {
  Tensor forward(Tensor x) { return x * 2; }
};
TORCH_MODULE(Double);

using Tensors = std::vector<Tensor>;

}  // namespace

TEST(NnHooks, ForwardHooksOfLibraryModulesRunHoweverForwardIsCalled) {
  nn::Linear fc(2, 2);
  int before = 0, after = 0;
  fc->register_forward_pre_hook([&](nn::Module&, const Tensors& inputs) {
    ++before;
    EXPECT_EQ(inputs.size(), 1u);
  });
  fc->register_forward_hook([&](nn::Module& m, const Tensors& inputs, const Tensors& outputs) {
    ++after;
    EXPECT_EQ(&m, fc.get());
    EXPECT_EQ(inputs.size(), 1u);
    EXPECT_EQ(outputs.size(), 1u);
  });
  auto x = torch::ones({1, 2});
  fc->forward(x);
  EXPECT_EQ(before, 1);
  fc(x);
  EXPECT_EQ(before, 2);
  nn::Sequential net(fc);
  net->forward(x);
  EXPECT_EQ(before, 3);
  nn::AnyModule any(fc);
  any.forward(x);
  EXPECT_EQ(before, 4);
  EXPECT_EQ(after, 4);
}

TEST(NnHooks, HooksOfASequentialRunOnceHoweverItIsCalled) {
  nn::Sequential inner(nn::Linear(2, 2)), net(inner);
  int calls = 0;
  inner->register_forward_hook([&](nn::Module&, const Tensors&, const Tensors&) { ++calls; });
  auto x = torch::ones({1, 2});
  inner->forward(x);
  EXPECT_EQ(calls, 1);
  inner(x);
  EXPECT_EQ(calls, 2);
  net->forward(x);
  EXPECT_EQ(calls, 3);
  net(x);
  EXPECT_EQ(calls, 4);
}

TEST(NnHooks, HooksOfAProgramsModuleRunWhenItIsCalled) {
  Double twice;
  int calls = 0;
  twice->register_forward_hook([&](nn::Module&, const Tensors&, const Tensors&) { ++calls; });
  twice(torch::ones({1}));
  nn::Sequential net(twice, nn::ReLU());
  net->forward(torch::ones({1}));
  EXPECT_EQ(calls, 2);
  twice->forward(torch::ones({1}));  // a plain member call
  EXPECT_EQ(calls, 2);
}

TEST(NnHooks, HooksMayReplace) {
  Double twice;
  twice->register_forward_pre_hook([](nn::Module&, const Tensors& in) { return in[0] + 1; });
  twice->register_forward_hook([](nn::Module&, const Tensors&, const Tensors& out) { return Tensors{out[0] * 10}; });
  EXPECT_EQ(twice(torch::ones({1})).item<float>(), 40);
}

TEST(NnHooks, ResultOfTheWrongLengthIsAnError) {
  Double twice;
  twice->register_forward_hook([](nn::Module&, const Tensors&, const Tensors& out) { return Tensors{out[0], out[0]}; });
  EXPECT_THROW(twice(torch::ones({1})), c10::Error);
  EXPECT_THROW(twice(torch::ones({1})), c10::Error);  // the first failure leaves no trace
}

TEST(NnHooks, RemovedHooksRunNoMore) {
  nn::ReLU relu;
  int calls = 0;
  auto handle = relu->register_forward_hook([&](nn::Module&, const Tensors&, const Tensors&) { ++calls; });
  relu(torch::ones({1}));
  EXPECT_TRUE(relu->remove_hook(handle));
  EXPECT_FALSE(relu->remove_hook(handle));
  relu(torch::ones({1}));
  EXPECT_EQ(calls, 1);
}

TEST(NnHooks, HooksMayRemoveThemselvesAndRegisterOthers) {
  nn::Linear fc(2, 2);
  int once = 0, others = 0;
  unsigned handle = 0;
  handle = fc->register_forward_pre_hook([&once, &handle](nn::Module& m, const Tensors&) {
    EXPECT_TRUE(m.remove_hook(handle));
    ++once;  // what it captured is still there
  });
  fc->register_forward_hook([&others](nn::Module& m, const Tensors&, const Tensors&) {
    for (int i = 0; i < 8; ++i)
      m.register_forward_hook([&others](nn::Module&, const Tensors&, const Tensors&) { ++others; });
  });
  fc(torch::ones({1, 2}));
  EXPECT_EQ(once, 1);
  EXPECT_EQ(others, 0);
  fc(torch::ones({1, 2}));
  EXPECT_EQ(once, 1);
  EXPECT_EQ(others, 8);
}

TEST(NnHooks, HooksKeepWhatTheyCountIn) {
  nn::Linear fc(2, 2);
  std::vector<int> seen;
  fc->register_full_backward_hook([&seen, count = 0](nn::Module&, const Tensors&, const Tensors&) mutable {
    seen.push_back(++count);
    return Tensors();
  });
  for (int i = 0; i < 2; ++i) fc(torch::ones({1, 2}).requires_grad_()).sum().backward();
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
}

// A module with hooks that is called within the forward of another one's class that goes on to the library's forward.
TEST(NnHooks, HooksRunOnceWhereAnOverrideCallsAnotherModuleFirst) {
  struct NormedImpl : nn::LinearImpl {
    NormedImpl() : nn::LinearImpl(2, 2), norm(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({2})))) {}
    Tensor forward(const Tensor& x) { return nn::LinearImpl::forward(norm(x)); }
    nn::LayerNorm norm;
  };
  auto net = std::make_shared<NormedImpl>();
  int outer = 0, inner = 0;
  net->register_forward_hook([&](nn::Module&, const Tensors&, const Tensors&) { ++outer; });
  net->norm->register_forward_hook([&](nn::Module&, const Tensors&, const Tensors&) { ++inner; });
  nn::ModuleHolder<NormedImpl> holder(net);
  holder(torch::ones({1, 2}));
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(inner, 1);
}

TEST(NnHooks, HooksRunOncePerCallFromSeveralThreads) {
  constexpr int kThreads = 4, kCalls = 200;
  nn::Linear fc(2, 2);
  std::atomic<int> before{0}, after{0};
  fc->register_forward_pre_hook([&](nn::Module&, const Tensors&) { ++before; });
  fc->register_forward_hook([&](nn::Module&, const Tensors&, const Tensors&) { ++after; });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      torch::NoGradGuard no_grad;
      for (int call = 0; call < kCalls; ++call) fc(torch::ones({1, 2}));
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(before, kThreads * kCalls);
  EXPECT_EQ(after, kThreads * kCalls);
}

TEST(NnHooks, BackwardHookSeesBothGradientsAndMayReplaceOne) {
  nn::Linear fc(nn::LinearOptions(1, 1).bias(false));
  torch::nn::init::constant_(fc->weight, 3);
  int calls = 0;
  fc->register_full_backward_hook([&](nn::Module&, const Tensors& grad_in, const Tensors& grad_out) {
    ++calls;
    EXPECT_EQ(grad_out.at(0).item<float>(), 5);
    EXPECT_EQ(grad_in.at(0).item<float>(), 15);
    return Tensors{torch::full({1, 1}, 7.f)};
  });
  auto x = torch::ones({1, 1}, torch::requires_grad());
  (fc(x) * 5).sum().backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(x.grad().item<float>(), 7);
  EXPECT_EQ(fc->weight.grad().item<float>(), 5);
}

TEST(NnHooks, BackwardHookOfTheFirstLayerHasNoInputGradient) {
  nn::Linear fc(1, 1);
  int calls = 0;
  fc->register_full_backward_hook([&](nn::Module&, const Tensors& grad_in, const Tensors& grad_out) {
    ++calls;
    EXPECT_TRUE(grad_in.empty());
    EXPECT_EQ(grad_out.size(), 1u);
  });
  fc(torch::ones({2, 1})).sum().backward();
  EXPECT_EQ(calls, 1);
}

TEST(NnHooks, SeveralResultsAreSeen) {
  nn::LSTM lstm(2, 3);
  size_t seen = 0;
  lstm->register_forward_hook([&](nn::Module&, const Tensors&, const Tensors& out) { seen = out.size(); });
  lstm->forward(torch::ones({4, 1, 2}));
  EXPECT_EQ(seen, 3u);
}

TEST(NnHooks, CloneHasTheHooksOfItsOwn) {
  nn::ReLU relu;
  int calls = 0;
  auto handle = relu->register_forward_hook([&](nn::Module&, const Tensors&, const Tensors&) { ++calls; });
  auto copy = std::dynamic_pointer_cast<nn::ReLUImpl>(relu->clone());
  relu->remove_hook(handle);
  copy->forward(torch::ones({1}));
  EXPECT_EQ(calls, 1);
}
