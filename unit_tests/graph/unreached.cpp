// Gradients of leaves that the step's backward pass does not reach, and what a step may not overwrite.
#include "graph/steps.h"

using namespace steps;

namespace {

struct Two {
  nn::Linear a{nn::Linear(4, 4)}, b{nn::Linear(4, 4)};
  torch::optim::SGD optimizer{parameters(), torch::optim::SGDOptions(0.1).momentum(0.9)};

  std::vector<Tensor> parameters() const {
    auto all = a->parameters();
    for (const auto& p : b->parameters()) all.push_back(p);
    return all;
  }
  std::vector<Tensor> state() const {
    std::vector<Tensor> all;
    for (const auto& p : parameters()) {
      all.push_back(p.detach().clone());
      all.push_back(p.grad().defined() ? p.grad().clone() : Tensor());
    }
    return all;
  }
};

/// What calls of a step in a world leave behind, eagerly and captured.
template <class Calls>
void compare(const Calls& calls) {
  torch::manual_seed(4);
  Two eager;
  const auto seen = calls(eager, [](auto step) { return step; });
  torch::manual_seed(4);
  Two captured;
  const auto replayed = calls(captured, [](auto step) { return hb::graph::compile(step); });
  ASSERT_EQ(seen.size(), replayed.size());
  for (size_t i = 0; i < seen.size(); ++i) ASSERT_TRUE(same_state(seen[i], replayed[i])) << "after call " << i;
}

Tensor loss(nn::Linear& net, const Tensor& x) { return net->forward(x).square().mean(); }

/// The gradient of one network is added to what is there.
auto accumulate(Two& two) {
  return [&two](Tensor x) {
    Tensor l = loss(two.a, x);
    l.backward();
    return l;
  };
}

}  // namespace

TEST(GraphUnreached, GradientsAreDropped) {
  for (const bool to_none : {true, false}) {
    compare([&](Two& two, auto compile) {
      auto drop = compile([&] { two.optimizer.zero_grad(to_none); });
      std::vector<std::vector<Tensor>> seen;
      for (int i = 0; i < 8; ++i) {
        loss(i % 3 ? two.a : two.b, torch::ones({2, 4}) * i).backward();
        drop();
        seen.push_back(two.state());
      }
      return seen;
    });
  }
}

TEST(GraphUnreached, GradientsOfAnotherTaskAreDropped) {
  compare([](Two& two, auto compile) {
    const auto task = [&](nn::Linear net) {
      return compile([&two, net](Tensor x) mutable {
        two.optimizer.zero_grad();
        Tensor l = loss(net, x);
        l.backward();
        return l;
      });
    };
    auto first = task(two.a), second = task(two.b);
    std::vector<std::vector<Tensor>> seen;
    for (int i = 0; i < 14; ++i) {
      const Tensor x = torch::randn({3, 4});
      i % 2 ? first(x) : second(x);
      two.optimizer.step();
      seen.push_back(two.state());
    }
    return seen;
  });
}

TEST(GraphUnreached, GradientsCountInAClippedNorm) {
  compare([](Two& two, auto compile) {
    auto step = compile([&](Tensor x) {
      Tensor l = loss(two.a, x);
      l.backward();
      nn::utils::clip_grad_norm_(two.parameters(), 0.5);
      return l;
    });
    std::vector<std::vector<Tensor>> seen;
    for (int i = 0; i < 12; ++i) {
      if (i % 4 == 3) loss(two.b, torch::randn({3, 4})).backward();
      step(torch::randn({3, 4}));
      seen.push_back(two.state());
      if (i % 2) two.optimizer.step(), two.optimizer.zero_grad();
    }
    return seen;
  });
}

// Whether gradients are there when a call begins alternates: two graphs, no error.
TEST(GraphUnreached, AccumulationOverTwoCalls) {
  compare([](Two& two, auto compile) {
    auto step = compile(accumulate(two));
    std::vector<std::vector<Tensor>> seen;
    for (int i = 0; i < 12; ++i) {
      step(torch::randn({3, 4}));
      seen.push_back(two.state());
      if (i % 2) two.optimizer.step(), two.optimizer.zero_grad();
    }
    return seen;
  });
}

TEST(GraphUnreached, ContextsThatAlternateAreTwoGraphs) {
  torch::NoGradGuard no_grad;
  nn::Linear net(4, 4);
  auto step = hb::graph::compile([&](Tensor x) { return net->forward(x).to(torch::kFloat).sum(); });
  for (int i = 0; i < 12; ++i) {
    const torch::autocast half(torch::kCPU, torch::kBFloat16, i % 2 == 0);
    const Tensor x = torch::randn({3, 4});
    EXPECT_TRUE(same_bits(step(x), net->forward(x).to(torch::kFloat).sum())) << i;
  }
  EXPECT_EQ(step.counts().recorded, 2);
  EXPECT_GE(step.counts().replayed, 6);
}

TEST(GraphUnreached, FlagsThatAlternateAreTwoGraphs) {
  bool twice = false;
  auto step =
      hb::graph::compile([&](Tensor x) { return twice ? x + x : x * 3; }, hb::graph::CompileOptions().reads(twice));
  for (int i = 0; i < 12; ++i) {
    twice = i % 2;
    EXPECT_TRUE(step(torch::ones({3})).equal(torch::full({3}, twice ? 2.f : 3.f))) << i;
  }
  EXPECT_EQ(step.counts().recorded, 2);
}

// Under autocast weights that do not change between calls have half copies from before the recording.
TEST(GraphUnreached, HalfCopiesFromBeforeTheRecording) {
  compare([](Two& two, auto compile) {
    auto step = compile(accumulate(two));
    std::vector<std::vector<Tensor>> seen;
    for (int i = 0; i < 16; ++i) {
      const torch::autocast half(torch::kCPU, torch::kBFloat16);
      seen.push_back({step(torch::randn({3, 4})).detach()});
      seen.push_back(two.state());
      if (i % 4 == 3) two.optimizer.step(), two.optimizer.zero_grad();
    }
    return seen;
  });
}

// An operand whose place the result could take is read elsewhere by the same call.
TEST(GraphInPlace, NotWhereAPartIsReadForAll) {
  torch::NoGradGuard no_grad;
  for (const int64_t n : {20000, 200000}) {
    const auto step = [](Tensor x) {
      const Tensor t = x.cumsum(0), u = (t / t[0]).cumsum(0), v = x.cumsum(0);
      return std::make_tuple(u * u.narrow(0, 5, 1), v * v.view(torch::kChar).narrow(0, 0, v.numel()));
    };
    auto compiled = hb::graph::compile(step);
    for (int i = 0; i < 6; ++i) {
      const Tensor x = torch::rand({n}) + 0.5;
      const auto [a, b] = step(x);
      const auto [c, d] = compiled(x);
      EXPECT_TRUE(same_bits(a, c) && same_bits(b, d)) << n << ", call " << i;
    }
  }
}

TEST(GraphInPlace, NotOverTheWeightsOfAGradient) {
  const Tensor w = torch::randn({6, 6}).requires_grad_();
  const Tensor target = torch::randint(6, {500});
  const auto step = [&](Tensor x) {
    w.mutable_grad().reset();
    const Tensor h = (x.mm(w) * 0.1).exp();
    torch::nn::functional::cross_entropy(h, target,
                                         torch::nn::functional::CrossEntropyFuncOptions().weight(h.detach()[0]))
        .backward();
    return w.grad();
  };
  auto compiled = hb::graph::compile(step);
  for (int i = 0; i < 6; ++i) {
    const Tensor x = torch::randn({500, 6});
    const Tensor expected = step(x).clone();
    EXPECT_TRUE(same_bits(expected, compiled(x))) << i;
  }
}
