// What no comparison with LibTorch shows: depth, concurrency, ownership, errors' texts.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>

#include <time.h>

#include <algorithm>
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

// Seconds of this thread that the gradients of one value with respect to `n` others take.
double time_of_gradients(int64_t n) {
  std::vector<Tensor> inputs;
  for (int64_t i = 0; i < n; ++i) inputs.push_back(hb::full({}, 1.0, hb::kFloat).requires_grad_());
  const Tensor sum = hb::stack(inputs).sum();
  timespec begin, end;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  const auto grads = hb::autodiff::grad({sum}, inputs);
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  EXPECT_EQ(grads.back().item<float>(), 1.0f);
  return static_cast<double>(end.tv_sec - begin.tv_sec) + 1e-9 * static_cast<double>(end.tv_nsec - begin.tv_nsec);
}

TEST(Engine, TimeGrowsWithTheNumberOfInputsAndNotItsSquare) {
  double few = 1e9, many = 1e9;
  for (int i = 0; i < 3; ++i) {
    few = std::min(few, time_of_gradients(2500));
    many = std::min(many, time_of_gradients(40000));
  }
  EXPECT_LT(many, 64 * few);  // 16 times as many
}

// An input may be asked for twice, and several may come from one node.
TEST(Engine, InputsOfOneNode) {
  const Tensor x = leaf(2);
  const auto parts = (x * 3).unbind();
  const Tensor y = parts[0] * 2 + parts[1] * 5 + parts[2];
  const auto grads = hb::autodiff::grad({y}, {parts[1], x, parts[0], x, parts[1]});
  EXPECT_EQ(grads[0].item<float>(), 5.0f);
  EXPECT_EQ(grads[2].item<float>(), 2.0f);
  EXPECT_EQ(grads[4].item<float>(), 5.0f);
  for (const int i : {1, 3})
    for (const int k : {0, 1, 2}) EXPECT_EQ(grads[i][k].item<float>(), (k == 0 ? 6.0f : k == 1 ? 15.0f : 3.0f));
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
