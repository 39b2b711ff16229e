// Threads that share parameters, graphs and tensors while they compute and differentiate. Small numbers are exact in
// float, so sums do not depend on the order. `./dev test --tsan` runs these tests under ThreadSanitizer.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "core/threads_together.h"

namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr int kThreads = 4, kRounds = 25;

}  // namespace

TEST(ThreadsAutograd, BackwardPassesShareParameters) {
  const Tensor w = torch::ones({3, 4}).requires_grad_(), b = torch::zeros({4}).requires_grad_();
  together(kThreads, [&](int) {
    for (int i = 0; i < kRounds; ++i) (torch::ones({2, 3}).mm(w) + b).sum().backward();
  });
  EXPECT_TRUE(w.grad().equal(torch::full({3, 4}, 2.0f * kThreads * kRounds)));
  EXPECT_TRUE(b.grad().equal(torch::full({4}, 2.0f * kThreads * kRounds)));
}

TEST(ThreadsAutograd, BackwardPassesShareAGraph) {
  const Tensor w = torch::ones({8}).requires_grad_();
  const Tensor shared = (w * 2).relu() * w;
  together(kThreads, [&](int k) {
    for (int i = 0; i < kRounds; ++i) (shared * (k + 1)).sum().backward({}, /*retain_graph=*/true);
  });
  EXPECT_TRUE(w.grad().equal(torch::full({8}, 4.0f * kRounds * (1 + 2 + 3 + 4))));
}

// One pass has a node while another, which reaches that node along many edges, still looks for its way: whoever ends
// first, each pass counts the node once.
TEST(ThreadsAutograd, ANodeWithManyEdgesWhileOtherPassesEnd) {
  const Tensor w = torch::ones({}).requires_grad_();
  const Tensor shared = w * 2, many = torch::stack(std::vector<Tensor>(2000, shared)).sum();
  constexpr int kPasses = 100, kShort = 2000;
  together(2, [&](int k) {
    for (int i = 0; i < (k == 0 ? kPasses : kShort); ++i) (k == 0 ? many : shared).backward({}, /*retain_graph=*/true);
  });
  EXPECT_EQ(w.grad().item<float>(), 2.0f * (2000 * kPasses + kShort));
}

TEST(ThreadsAutograd, GradientsOfAGraphAsValues) {
  const Tensor w = torch::ones({5}).requires_grad_();
  const Tensor shared = w * w * w;
  together(kThreads, [&](int) {
    for (int i = 0; i < kRounds; ++i) {
      const Tensor first =
          torch::autograd::grad({shared.sum()}, {w}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
      EXPECT_TRUE(first.equal(torch::full({5}, 3.0f)));
      EXPECT_TRUE(
          torch::autograd::grad({first.sum()}, {w}, {}, /*retain_graph=*/true)[0].equal(torch::full({5}, 6.0f)));
    }
  });
  EXPECT_FALSE(w.grad().defined());
}

TEST(ThreadsAutograd, HooksAndRetainedGradients) {
  const Tensor w = torch::ones({4}).requires_grad_();
  const Tensor shared = w * 3;
  std::atomic<int> calls{0};
  shared.register_hook([&](const Tensor& g) {
    ++calls;
    return g * 2;
  });
  together(kThreads, [&](int) {
    for (int i = 0; i < kRounds; ++i) shared.sum().backward({}, /*retain_graph=*/true);
  });
  EXPECT_EQ(calls, kThreads * kRounds);
  EXPECT_TRUE(w.grad().equal(torch::full({4}, 6.0f * kThreads * kRounds)));
}

// Hooks come and go on some threads while others differentiate through tensors of their own.
TEST(ThreadsAutograd, GraphsOfTheirOwnFromOneLeaf) {
  const Tensor w = torch::ones({4}).requires_grad_();
  together(kThreads, [&](int k) {
    for (int i = 0; i < kRounds; ++i) {
      const Tensor mine = w * (k + 1), view = mine.view({2, 2});
      const auto hook = mine.register_hook([](const Tensor& g) { return g * 2; });
      if (i % 2) mine.remove_hook(hook);
      view.sum().backward();
    }
  });
  const float calls = kRounds / 2 + (kRounds + 1) / 2 * 2;
  EXPECT_TRUE(w.grad().equal(torch::full({4}, 10 * calls)));
}

TEST(ThreadsAutograd, OneNetTrainsOnManyThreads) {
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(2, 4, 3)), nn::ReLU(), nn::Flatten(), nn::Linear(4 * 4 * 4, 3));
  const Tensor x = torch::randn({2, 2, 6, 6});
  net->forward(x).sum().backward();
  std::vector<Tensor> alone;
  for (const Tensor& p : net->parameters()) alone.push_back(p.grad().clone());
  net->zero_grad();
  together(kThreads, [&](int) {
    for (int i = 0; i < 5; ++i) net->forward(x).sum().backward();
  });
  size_t at = 0;
  for (const Tensor& p : net->parameters())
    EXPECT_TRUE(torch::allclose(p.grad(), alone[at++] * (5 * kThreads), 1e-4, 1e-4));
}

// Readers of a view's history while the view's base is read too.
TEST(ThreadsAutograd, ViewsAndVersionsAreRead) {
  const Tensor base = torch::ones({4, 4}).requires_grad_() * 1;
  base.narrow(0, 0, 2).mul_(2);  // the base has a new history; views rebuild theirs when they are asked
  const Tensor view = base.t(), row = view.select(0, 1);
  together(kThreads, [&](int) {
    for (int i = 0; i < kRounds; ++i) {
      EXPECT_TRUE(row.grad_fn() != nullptr && view.requires_grad());
      EXPECT_GE(base._version(), 1u);
      EXPECT_EQ((row + view.sum()).sum().item<float>(), 6 + 4 * 24);
    }
  });
}

TEST(ThreadsAutograd, CheckpointsAndModesBelongToTheirThread) {
  const Tensor w = torch::ones({4}).requires_grad_();
  together(kThreads, [&](int k) {
    for (int i = 0; i < kRounds; ++i) {
      const torch::AutoGradMode mode(k % 2 == 0);
      EXPECT_EQ((w * 2).requires_grad(), k % 2 == 0);
      const c10::InferenceMode inference(k == 3);
      EXPECT_EQ(torch::ones({2}).is_inference(), k == 3);
    }
  });
}
