// At batch 1 an optimizer's rule computes the gradients of large weights itself; they are written when the program asks
// for them. However it does, it sees what eager steps leave.
#include <sstream>

#include "graph/steps.h"

using namespace steps;

namespace {

struct Wide : nn::Module {
  nn::Linear a{160, 144}, b{144, 144}, head{144, 3};
  Wide() { register_module("a", a), register_module("b", b), register_module("head", head); }
  Tensor forward(Tensor x) { return head(torch::relu(b(torch::relu(a(x))))); }
};

const MakeOptimizer kOptimizers[] = {
    [](const nn::Module& net) { return make<torch::optim::SGD>(net, torch::optim::SGDOptions(0.02)); },
    [](const nn::Module& net) {
      return make<torch::optim::SGD>(net, torch::optim::SGDOptions(0.02).momentum(0.9).weight_decay(0.01));
    },
    [](const nn::Module& net) { return make<torch::optim::AdamW>(net, torch::optim::AdamWOptions(1e-2)); },
    [](const nn::Module& net) { return make<torch::optim::ASGD>(net, torch::optim::ASGDOptions(1e-2).t0(3)); }};

struct Trained {
  std::shared_ptr<Wide> net = std::make_shared<Wide>();
  Optimizer optimizer;
  std::vector<Tensor> seen;
  hb::graph::CompileCounts counts;
  size_t arena = 0;
};

/// `look(run, i)` after each step.
using Look = std::function<void(Trained& run, int i)>;

Trained train(bool captured, const Look& look, MakeOptimizer optimizer = kOptimizers[1], Drop drop = Drop::first,
              const hb::graph::CompileOptions& options = {}, torch::Dtype dtype = torch::kFloat) {
  torch::manual_seed(17);
  Trained run;
  run.net->to(dtype);
  run.optimizer = optimizer(*run.net);
  const auto step = [&](Tensor x, Tensor y) {
    if (drop == Drop::first) run.optimizer->zero_grad();
    Tensor loss = torch::mse_loss(run.net->forward(x), y);
    loss.backward();
    run.optimizer->step();
    if (drop == Drop::last) run.optimizer->zero_grad();
    return loss;
  };
  auto compiled = hb::graph::compile(step, options);
  for (int i = 0; i < 100; ++i) {
    const Tensor x = torch::randn({1, 160}, dtype), y = torch::randn({1, 3}, dtype);
    if (drop == Drop::outside) run.optimizer->zero_grad();
    run.seen.push_back((captured ? compiled(x, y) : step(x, y)).detach().clone());
    x.fill_(NAN);  // the program's own again
    if (look) look(run, i);
  }
  for (const Tensor& t : state_of(*run.net)) run.seen.push_back(t);
  run.counts = compiled.counts(), run.arena = compiled.arena_bytes();
  return run;
}

void expect_same(const Look& look, int least_replays = 90) {
  const Trained eager = train(false, look), graph = train(true, look);
  EXPECT_GE(graph.counts.replayed, least_replays) << graph.counts.reason;
  EXPECT_TRUE(same_state(eager.seen, graph.seen));
}

void see(Trained& run, const Tensor& t) { run.seen.push_back(t.detach().clone()); }

}  // namespace

TEST(GraphLateGradients, ChangeNoBit) {
  for (const MakeOptimizer optimizer : kOptimizers)
    for (const Drop drop : {Drop::first, Drop::last, Drop::outside})
      for (const torch::Dtype dtype : {torch::kFloat, torch::kDouble}) {
        const Trained eager = train(false, {}, optimizer, drop, {}, dtype),
                      graph = train(true, {}, optimizer, drop, {}, dtype);
        EXPECT_GE(graph.counts.replayed, 90) << graph.counts.reason;
        EXPECT_TRUE(same_state(eager.seen, graph.seen)) << static_cast<int>(drop);
      }
}

TEST(GraphLateGradients, CanBeTurnedOff) {
  const Trained eager = train(false, {});
  for (const bool consume : {false, true}) {
    hb::graph::CompileOptions options;
    options.consume_gradients = consume, options.late_gradients = !consume;
    EXPECT_TRUE(same_state(eager.seen, train(true, {}, kOptimizers[1], Drop::first, options).seen));
  }
}

TEST(GraphLateGradients, TakeNoMemoryWhereNobodyCanSeeThem) {
  hb::graph::CompileOptions written;
  written.consume_gradients = false;
  const size_t before = train(true, {}, kOptimizers[1], Drop::last, written).arena;
  EXPECT_GE(before, size_t{4 * 160 * 144});
  EXPECT_LE(train(true, {}, kOptimizers[1], Drop::last).arena, before / 8);
}

TEST(GraphLateGradients, AreThereWhenTheProgramLooks) {
  expect_same([](Trained& run, int i) {
    if (i % 3 != 1) return;
    for (const Tensor& p : run.net->parameters()) see(run, p.grad());
  });
  expect_same([](Trained& run, int i) {  // by address, which is another from then on
    if (i % 20 != 1) return;
    const float* p = run.net->a->weight.grad().data_ptr<float>();
    see(run, torch::tensor(std::vector<float>(p, p + 160)));
  });
  expect_same([](Trained& run, int i) {
    if (i % 5 == 2) see(run, run.net->b->weight.grad().t().slice(0, 3, 20).matmul(run.net->b->weight.grad()));
  });
}

TEST(GraphLateGradients, StayWhatTheyWereForWhoHoldsThem) {
  std::vector<Tensor> held[2];
  for (const bool captured : {false, true}) {
    train(captured, [&](Trained& run, int i) {
      if (i % 9 == 5) held[captured].push_back(run.net->parameters()[i % 6].grad());
      if (i % 9 == 7) held[captured].push_back(run.net->a->weight.grad().slice(1, 2, 50));
    });
  }
  EXPECT_TRUE(same_state(held[0], held[1]));
}

// A reference that is older than the graph names the leaf's gradient at any time.
TEST(GraphLateGradients, AreThereByAReferenceToThem) {
  const Tensor* reference = nullptr;
  const Look look = [&](Trained& run, int i) {
    if (i == 0) reference = &run.net->a->weight.grad();
    if (i > 5 && i % 4 == 0) see(run, reference->square().sum());
    if (i > 5 && i % 4 == 1) see(run, *reference);
  };
  expect_same(look);
  Tensor held;  // and read when the next step is over
  expect_same([&](Trained& run, int i) {
    if (i == 0) reference = &run.net->a->weight.grad();
    if (i > 5 && i % 4 == 0) held = *reference;
    if (i > 5 && i % 4 == 1) see(run, held);
  });
  Tensor* changed = nullptr;
  expect_same([&](Trained& run, int i) {
    if (i == 0) changed = &run.net->a->weight.mutable_grad();
    if (i > 5 && i % 4 == 0) {
      torch::NoGradGuard no_grad;
      changed->fill_(3);
      see(run, *changed);
    }
    if (i > 5 && i % 4 == 1) {
      torch::NoGradGuard no_grad;
      see(run, changed->mul_(2));
    }
  });
}

TEST(GraphLateGradients, ServeStepsAndFunctionsOutsideOfTheGraph) {
  expect_same([](Trained& run, int i) {
    if (i % 10 == 6) run.optimizer->step();
  });
  expect_same([](Trained& run, int i) {
    if (i % 10 == 6) see(run, torch::tensor(nn::utils::clip_grad_norm_(run.net->parameters(), 0.01)));
    if (i % 10 == 6) see(run, run.net->a->weight.grad());
  });
  expect_same([](Trained& run, int i) {  // change them
    if (i % 10 != 6) return;
    hb::amp::GradScaler scaler(hb::kCPU, hb::amp::GradScalerOptions().init_scale(1024));
    scaler.scale(torch::ones({}));
    scaler.unscale_(*run.optimizer);
    see(run, run.net->a->weight.grad());
    run.net->b->weight.mutable_grad().uniform_();
    see(run, run.net->b->weight.grad());
  });
  expect_same([](Trained& run, int i) {  // adds to them
    if (i % 10 != 6) return;
    run.net->forward(torch::ones({1, 160})).sum().backward();
    for (const Tensor& p : run.net->parameters()) see(run, p.grad());
  });
  expect_same([](Trained& run, int i) {
    if (i % 10 != 6) return;
    std::stringstream file;
    torch::save(run.net->a->weight.grad(), file);
    Tensor read;
    torch::load(read, file);
    see(run, read);
  });
}

TEST(GraphLateGradients, OutliveTheirGraph) {
  std::vector<Tensor> left[2];
  for (const bool captured : {false, true}) {
    torch::manual_seed(29);
    Wide net;
    torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.02));
    {
      const auto step = [&](Tensor x) {
        optimizer.zero_grad();
        net.forward(x).square().sum().backward();
        optimizer.step();
        torch::NoGradGuard no_grad;
        x.mul_(2);  // which gradients were made of
      };
      auto compiled = hb::graph::compile(step);
      for (int i = 0; i < 10; ++i) {
        const Tensor x = torch::randn({1, 160});
        captured ? compiled(x) : step(x);
        if (i == 7) left[captured].push_back(net.a->weight.grad().clone());
      }
      if (captured) {
        EXPECT_GE(compiled.counts().replayed, 6);
      }
    }
    for (const Tensor& p : net.parameters()) left[captured].push_back(p.grad());
  }
  EXPECT_TRUE(same_state(left[0], left[1]));
}

// Two graphs of one network take turns.
TEST(GraphLateGradients, OfSeveralGraphsAreTheLastOnes) {
  std::vector<Tensor> seen[2];
  for (const bool captured : {false, true}) {
    torch::manual_seed(23);
    Wide net;
    torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.02).momentum(0.9));
    const auto step = [&](Tensor x, double factor) {
      optimizer.zero_grad();
      (net.forward(x) * factor).square().sum().backward();
      optimizer.step();
    };
    auto compiled = hb::graph::compile(step);
    for (int i = 0; i < 60; ++i) {
      const Tensor x = torch::randn({i % 7 == 3 ? 2 : 1, 160});
      const double factor = i % 3 == 0 ? 0.1 : 0.2;
      captured ? compiled(x, factor) : step(x, factor);
      if (i % 4 == 1) seen[captured].push_back(net.a->weight.grad().clone());
    }
    for (const Tensor& t : state_of(net)) seen[captured].push_back(t);
  }
  EXPECT_TRUE(same_state(seen[0], seen[1]));
}

// A graph reads them by their addresses.
TEST(GraphLateGradients, AreThereForOtherGraphs) {
  std::vector<Tensor> seen[2];
  for (const bool captured : {false, true}) {
    torch::manual_seed(31);
    Wide net;
    torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.02));
    const auto step = [&](Tensor x) {
      optimizer.zero_grad();
      net.forward(x).square().sum().backward();
      optimizer.step();
    };
    const auto norm = [&] { return net.a->weight.grad().square().sum() + net.b->weight.grad().abs().sum(); };
    auto train = hb::graph::compile(step);
    auto look = hb::graph::compile(norm);
    for (int i = 0; i < 40; ++i) {  // the 20th is compared with the eager step, whose gradients are other tensors
      const Tensor x = torch::randn({1, 160});
      captured ? train(x) : step(x);
      if (i > 10) seen[captured].push_back(captured ? look() : norm());
    }
    if (captured) {
      EXPECT_GE(train.counts().replayed, 30) << train.counts().reason;
      EXPECT_EQ(train.counts().compared, 1);
      EXPECT_GE(look.counts().replayed, 20) << look.counts().reason;
    }
  }
  EXPECT_TRUE(same_state(seen[0], seen[1]));
}
