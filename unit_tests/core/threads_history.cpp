// What threads that differentiate share beside parameters: histories of views, sums of named inputs, tensors that one
// of them gives up.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/threads_together.h"

namespace {

using torch::Tensor;

constexpr int kThreads = 4;

}  // namespace

// The view's history is made anew when it is next asked for, by several threads here: none may see the old one.
TEST(ThreadsHistory, ViewsOfAChangedBase) {
  for (int round = 0; round < 200; ++round) {
    const Tensor w = torch::ones({4, 4}).requires_grad_();
    const Tensor base = w * 1, view = base.t();
    base.mul_(3);
    std::vector<Tensor> grads(kThreads);
    together(kThreads,
             [&](int k) { grads[k] = torch::autograd::grad({view.sum()}, {w}, {}, /*retain_graph=*/true)[0]; });
    for (const Tensor& g : grads) ASSERT_TRUE(g.equal(torch::full({4, 4}, 3.0f))) << "round " << round;
  }
}

// Gradients of named inputs are added where the sum stands, by one thread at a time.
TEST(ThreadsHistory, NamedInputs) {
  constexpr int kRounds = 200;
  const Tensor w = torch::ones({8}).requires_grad_(), other = torch::ones({8}).requires_grad_();
  (w * 0).sum().backward();
  const Tensor sum = w.grad();
  const void* const address = sum.data_ptr();
  together(kThreads, [&](int) {
    for (int i = 0; i < kRounds; ++i)
      (w * 2 + other).sum().backward({}, /*retain_graph=*/false, /*create_graph=*/false, std::vector<Tensor>{w, w});
  });
  EXPECT_TRUE(w.grad().equal(torch::full({8}, 2.0f * kThreads * kRounds)));
  EXPECT_TRUE(sum.is_same(w.grad()));
  EXPECT_EQ(sum.data_ptr(), address);
  EXPECT_FALSE(other.grad().defined());
}

// Whoever comes to what another pass has freed is told so; at least the pass that freed it has ended well.
TEST(ThreadsHistory, AGraphThatSeveralPassesFree) {
  for (int round = 0; round < 200; ++round) {
    const Tensor w = torch::full({64}, 2.0f).requires_grad_();
    const Tensor shared = (w * w).exp().log() * w;
    std::atomic<int> refused{0};
    together(kThreads, [&](int) {
      try {
        shared.sum().backward();
      } catch (const c10::Error& e) {
        ++refused;
        EXPECT_NE(std::string(e.what()).find("second time"), std::string::npos) << e.what();
      }
    });
    EXPECT_LE(refused, kThreads - 1);
  }
}

TEST(ThreadsHistory, ATensorThatRetainsItsGradientAndEnds) {
  for (int round = 0; round < 200; ++round) {
    const Tensor w = torch::ones({64}).requires_grad_();
    Tensor middle = w * 2;
    middle.retain_grad();
    const Tensor out = (middle * 3).sum();
    together(2, [&](int k) {
      if (k == 0)
        out.backward();
      else
        middle.reset();
    });
    ASSERT_TRUE(w.grad().equal(torch::full({64}, 6.0f)));
  }
}

// All of them get one and the same.
TEST(ThreadsHistory, TheFirstToAskForAGradientsPlace) {
  for (int round = 0; round < 300; ++round) {
    const Tensor w = torch::ones({4});
    std::vector<const Tensor*> places(kThreads);
    together(kThreads, [&](int k) { places[k] = &w.mutable_grad(); });
    for (const Tensor* place : places) ASSERT_EQ(place, places[0]) << "round " << round;
  }
}

// The second call of a checkpointed function draws what the first drew, whatever other threads draw.
TEST(ThreadsHistory, CheckpointsDrawTheirNumbersAgain) {
  together(kThreads, [&](int) {
    for (int i = 0; i < 100; ++i) {
      const Tensor w = torch::ones({64}).requires_grad_(), x = torch::ones({64});
      const auto f = [&](const Tensor& a) {
        const Tensor inner = torch::checkpoint([&](const Tensor& b) { return torch::dropout(b * w, 0.5, true); }, a);
        return torch::dropout(inner, 0.5, true).exp();
      };
      const Tensor y = torch::checkpoint(f, x);
      y.sum().backward();
      ASSERT_TRUE((y.detach() > 1.5).equal(w.grad() > 0));
    }
  });
}

// And what follows is what follows the function without a checkpoint.
TEST(ThreadsHistory, ACheckpointMovesTheGeneratorOn) {
  const Tensor x = torch::ones({64}).requires_grad_();
  const auto f = [](const Tensor& a) { return torch::dropout(a, 0.5, true) + torch::randn({3}).sum(); };
  torch::manual_seed(3);
  const Tensor plain = f(x), after_plain = torch::randn({5});
  torch::manual_seed(3);
  const Tensor y = torch::checkpoint(f, x), after = torch::randn({5});
  const Tensor next = torch::randn({5});
  EXPECT_TRUE(y.equal(plain) && after.equal(after_plain));
  torch::manual_seed(3);
  f(x), torch::randn({5});
  y.sum().backward();
  EXPECT_TRUE(torch::randn({5}).equal(next));
}

// Hooks that change the list in which they stand.
TEST(ThreadsHistory, HooksThatTakeThemselvesBack) {
  const Tensor w = torch::ones({4}).requires_grad_(), x = w * 1;
  for (const Tensor& t : {w, x}) {
    const auto state = std::make_shared<std::vector<int>>(16, 0);
    unsigned own = 0;
    own = t.register_hook([state, &t, &own](Tensor g) {
      t.remove_hook(own);
      for (int i = 0; i < 8; ++i) t.register_hook([state](Tensor) { ++(*state)[1]; });
      ++(*state)[0];
      return g * 2;
    });
    x.sum().backward({}, /*retain_graph=*/true);
    EXPECT_EQ((*state)[0], 1);
    EXPECT_EQ((*state)[1], 0);  // they are for the passes to come
    x.sum().backward({}, /*retain_graph=*/true);
    EXPECT_EQ((*state)[0], 1);
    EXPECT_EQ((*state)[1], 8);
  }
}
