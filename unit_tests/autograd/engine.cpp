// What no comparison with LibTorch shows: depth, concurrency, ownership, errors' texts.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <thread>

namespace {

using hb::Tensor;

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const hb::Error& e) {
    return e.what();
  }
  return "";
}
#define EXPECT_ERROR(expression, part) \
  EXPECT_NE(error_of([&] { expression; }).find(part), std::string::npos) << error_of([&] { expression; })

Tensor leaf(double value) { return hb::full({3}, value, hb::kFloat).requires_grad_(); }

TEST(Engine, LongChainsNeedNoDeepStack) {
  Tensor x = leaf(1), y = x;
  for (int i = 0; i < 200000; ++i) y = y + 1;
  y.backward(hb::ones_like(y));
  EXPECT_EQ(x.grad()[0].item<float>(), 1.0f);
  Tensor z = x;
  for (int i = 0; i < 200000; ++i) z = z * 1.0;
  z = Tensor();  // freed without a backward pass
}

TEST(Engine, ConcurrentPassesOverOneGraph) {
  Tensor x = leaf(2);
  Tensor shared = x * x;
  std::vector<std::thread> threads;
  std::vector<float> got(8);
  for (int k = 0; k < 8; ++k)
    threads.emplace_back([&, k] {
      for (int i = 0; i < 200; ++i) {
        Tensor y = shared * static_cast<double>(k + 1);
        got[k] = hb::autodiff::grad({y}, {x}, {hb::ones_like(y)}, true)[0][0].item<float>();
        if (got[k] != 4.0f * (k + 1)) return;
      }
    });
  for (auto& t : threads) t.join();
  for (int k = 0; k < 8; ++k) EXPECT_EQ(got[k], 4.0f * (k + 1));
}

TEST(Engine, ThreadsThatShareAWeightAddUpItsGradient) {
  constexpr int kThreads = 4, kPasses = 200;
  for (int round = 0; round < 20; ++round) {  // all of them may be the first to use the weight
    Tensor w = leaf(1);
    std::vector<std::thread> threads;
    for (int k = 0; k < kThreads; ++k)
      threads.emplace_back([&w] {
        for (int i = 0; i < kPasses / 20; ++i) (w.view({1, 3}) * w.detach()).sum().backward();
      });
    for (auto& t : threads) t.join();
    EXPECT_EQ(w.grad()[0].item<float>(), static_cast<float>(kThreads * kPasses / 20));
  }
}

TEST(Engine, BackwardInsideAHook) {
  Tensor x = leaf(3), side = leaf(1);
  Tensor y = x * x;
  y.register_hook([&](const Tensor&) {
    hb::AutoGradMode on(true);  // hooks run as the pass does: without recording
    Tensor s = side * 5;
    s.backward(hb::ones_like(s));
  });
  y.backward(hb::ones_like(y));
  EXPECT_EQ(x.grad()[0].item<float>(), 6.0f);
  EXPECT_EQ(side.grad()[0].item<float>(), 5.0f);
}

TEST(Engine, GraphsDieWithTheirTensors) {
  const size_t before = hb::memory_in_use();
  {
    Tensor x = leaf(1);
    Tensor y = x.exp();  // saves its own result
    Tensor v = y[0];
    Tensor z = (y * v).sigmoid();
    z.backward(hb::ones_like(z));
  }
  EXPECT_EQ(hb::memory_in_use(), before);
  {
    Tensor x = leaf(1);
    Tensor y = x.exp().tanh();  // never run backward
  }
  EXPECT_EQ(hb::memory_in_use(), before);
}

TEST(Engine, ErrorsSayWhatHappened) {
  Tensor x = leaf(1);
  EXPECT_ERROR(hb::ones({3}).backward(hb::ones({3})), "does not require grad");
  EXPECT_ERROR((x * 2).backward(), "scalar outputs");
  EXPECT_ERROR((x * 2).backward(hb::ones({2})), "invalid gradient at index 0");
  Tensor y = x.exp();
  y.backward(hb::ones({3}));
  EXPECT_ERROR(y.backward(hb::ones({3})), "second time");
  Tensor a = x * 1, b = a * a;
  a.add_(1);
  EXPECT_ERROR(b.backward(hb::ones({3})), "modified by an inplace operation");
  EXPECT_ERROR(x.add_(1), "leaf Variable that requires grad");
  EXPECT_ERROR(x[0].fill_(0), "view of a leaf");
  EXPECT_ERROR(hb::autodiff::grad({x * 2}, {leaf(1)}, {hb::ones({3})}), "not have been used");
  EXPECT_ERROR(hb::ones({2}, hb::kLong).requires_grad_(), "floating point");
}

TEST(Engine, HooksReplaceAndLeave) {
  Tensor x = leaf(1);
  const unsigned h = x.register_hook([](const Tensor& g) { return g * 10; });
  (x * 2).backward(hb::ones({3}));
  EXPECT_EQ(x.grad()[0].item<float>(), 20.0f);
  x.remove_hook(h);
  x.mutable_grad().reset();
  (x * 2).backward(hb::ones({3}));
  EXPECT_EQ(x.grad()[0].item<float>(), 2.0f);
}

TEST(Engine, RetainedGradientsFollowInPlaceChanges) {
  Tensor x = leaf(2), y = x * 3;
  y.retain_grad();
  y.mul_(5);
  y.backward(hb::ones({3}));
  EXPECT_EQ(y.grad()[0].item<float>(), 1.0f);
  EXPECT_EQ(x.grad()[0].item<float>(), 15.0f);
}

TEST(InPlace, ViewsAndBasesStayConnected) {
  Tensor x = leaf(2), base = x * 1, view = base[1], other = base.slice(0, 0, 2);
  view.mul_(10);
  Tensor y = other * base.slice(0, 1, 3);
  y.backward(hb::ones({2}));
  // y = (b0 * b1, b1 * b2) with b1 = 10 x1: dy/dx1 = 10 (x0 + x2)
  EXPECT_EQ(x.grad()[1].item<float>(), 40.0f);
  EXPECT_EQ(x.grad()[0].item<float>(), 20.0f);
}

TEST(InPlace, SavedOldValuesSurvive) {
  Tensor x = leaf(3), w = leaf(4), y = x * 1;
  Tensor alias = y.view({3});
  y.mul_(w);  // its own gradient needs the old y, which an alias shares
  y.backward(hb::ones({3}));
  EXPECT_EQ(w.grad()[0].item<float>(), 3.0f);
  EXPECT_EQ(x.grad()[0].item<float>(), 4.0f);
  EXPECT_EQ(alias[0].item<float>(), 12.0f);
}

}  // namespace
