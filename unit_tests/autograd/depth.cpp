// Depth costs memory, never the stack: long chains, passes within passes, what owns what, small threads.
#include <gtest/gtest.h>
#include <pthread.h>
#include <torch/torch.h>

#include <atomic>
#include <functional>
#include <sstream>
#include <thread>

namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int kChain = 1000000, kNested = 10000;

Tensor leaf(double value = 1) { return torch::full({}, value).requires_grad_(); }
Tensor chain(Tensor x, int n) {
  for (int i = 0; i < n; ++i) x = x + 1;
  return x;
}

struct Bottom : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The identity, whose backward pass calls `inner` with the level below.
struct Nest : torch::autograd::Function<Nest> {
  using Inner = std::function<void(int64_t)>;
  static inline thread_local const Inner* inner = nullptr;
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int64_t depth) {
    ctx->saved_data["depth"] = depth;
    return x.clone();
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    (*inner)(ctx->saved_data["depth"].toInt() - 1);
    return {grads[0], Tensor()};
  }
};

void nest(int64_t depth, const std::function<void()>& at_bottom) {
  const Nest::Inner inner = [&](int64_t left) {
    if (left == 0) return at_bottom();
    torch::AutoGradMode on(true);
    Tensor x = leaf(static_cast<double>(left));
    Nest::apply(x, left).backward();
    ASSERT_EQ(x.grad().item<float>(), 1.0f);
  };
  Nest::inner = &inner;
  inner(depth);
  Nest::inner = nullptr;
}

TEST(Depth, ChainsOfAMillion) {
  Tensor x = leaf();
  chain(x, kChain).backward();
  EXPECT_EQ(x.grad().item<float>(), 1.0f);
  chain(x, kChain);  // never run backward
  Tensor y = x;
  for (int i = 0; i < kChain; ++i) y = y * y;  // each node keeps tensors that keep nodes
  y.backward({}, /*retain_graph=*/true);
  EXPECT_EQ(y.item<float>(), 1.0f);
}

TEST(Depth, NestedPassesBeginAndEnd) {
  int reached = 0;
  nest(kNested, [&] { ++reached; });
  EXPECT_EQ(reached, 1);
}

TEST(Depth, ExceptionsRiseFromTheBottom) {
  try {
    nest(kNested, [] { throw Bottom("from below"); });
    FAIL() << "nothing arrived";
  } catch (const Bottom& e) {
    EXPECT_STREQ(e.what(), "from below");
  }
  EXPECT_THROW(nest(kNested, [] { throw 7; }), int);
  int reached = 0;
  nest(kNested, [&] { ++reached; });
  EXPECT_EQ(reached, 1);
}

TEST(Depth, TheBottomSeesTheThreadThatBegan) {
  const auto caller = std::this_thread::get_id();
  at::autocast::set_autocast_enabled(at::kCPU, true);
  torch::autograd::DetectAnomalyGuard anomaly;
  nest(kNested, [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_FALSE(torch::GradMode::is_enabled());
    EXPECT_TRUE(torch::autograd::AnomalyMode::is_enabled());
    c10::InferenceMode inference;
    EXPECT_TRUE(torch::ones({1}).is_inference());
  });
  EXPECT_TRUE(torch::GradMode::is_enabled());
  EXPECT_TRUE(at::autocast::is_autocast_enabled(at::kCPU));
  at::autocast::set_autocast_enabled(at::kCPU, false);
}

TEST(Depth, HooksThatRunPasses) {
  int reached = 0;
  std::function<void(int)> run = [&](int depth) {
    if (depth == 0) return void(++reached);
    torch::AutoGradMode on(true);
    Tensor x = leaf(), y = x * 2;
    y.register_hook([&run, depth](const Tensor&) { run(depth - 1); });
    y.backward();
  };
  run(kNested);
  EXPECT_EQ(reached, 1);
}

TEST(Depth, GradientsOfGradientsOfGradients) {
  Tensor x = torch::full({}, 2.0, torch::kDouble).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < 3000; ++i) y = y.sin();
  Tensor first = torch::autograd::grad({y}, {x}, {}, true, /*create_graph=*/true)[0];
  Tensor second = torch::autograd::grad({first}, {x}, {}, true, true)[0];
  EXPECT_TRUE(std::isfinite(second.item<double>()));
}

TEST(Depth, CheckpointsWithinCheckpoints) {
  std::function<Tensor(Tensor, int)> run = [&](Tensor x, int depth) -> Tensor {
    if (depth == 0) return x.exp();
    return torch::checkpoint([&run, depth](Tensor t) { return run(t, depth - 1) * 1.0; }, x);
  };
  Tensor x = leaf(0.5);
  run(x, 12).backward();
  EXPECT_FLOAT_EQ(x.grad().item<float>(), std::exp(0.5f));
}

// Owners that no edge leads through: each is freed by the one before.
TEST(Depth, WhatOwnsWhatIsFreedInTurn) {
  Tensor x = leaf();
  for (int i = 0; i < kChain / 4; ++i) {  // gradients of gradients
    Tensor y = leaf();
    y.mutable_grad() = std::move(x);
    x = std::move(y);
  }
  x = leaf();
  for (int i = 0; i < kChain / 4; ++i) {  // hooks of leaves
    Tensor y = leaf();
    y.register_hook([held = std::move(x)](const Tensor& g) { return g; });
    x = std::move(y);
  }
  x = leaf();
  for (int i = 0; i < kChain / 4; ++i) {  // hooks of nodes
    Tensor y = leaf() * 2;
    y.register_hook([held = std::move(x)](const Tensor& g) { return g; });
    x = std::move(y);
  }
  x = leaf();
  for (int i = 0; i < kChain / 4; ++i) {  // tensors that a function keeps without an edge
    struct Keep : torch::autograd::Function<Keep> {
      static Tensor forward(AutogradContext* ctx, const Tensor& a, c10::IValue kept) {
        ctx->saved_data["kept"] = std::move(kept);
        return a.clone();
      }
      static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0], Tensor()}; }
    };
    x = Keep::apply(leaf(), c10::IValue(std::move(x)));
  }
}

TEST(Depth, NestedListsAreFreedPrintedAndCompared) {
  const auto nested = [](int depth) {
    c10::IValue value(int64_t{1});
    for (int i = 0; i < depth; ++i) {
      c10::impl::GenericList list(c10::AnyType::get());
      list.push_back(std::move(value));
      value = c10::IValue(std::move(list));
    }
    return value;
  };
  { const c10::IValue deep = nested(kChain); }
  const c10::IValue a = nested(100000), b = nested(100000);
  std::ostringstream out;
  out << a;
  EXPECT_EQ(out.str().size(), 200001u);
  EXPECT_TRUE(a == b);
}

TEST(Depth, NestedModules) {
  const auto nested = [](int depth) {
    std::shared_ptr<torch::nn::Module> inner = torch::nn::Linear(1, 1).ptr();
    for (int i = 0; i < depth; ++i) {
      torch::nn::ModuleList outer;
      outer->push_back(inner);
      inner = outer.ptr();
    }
    return inner;
  };
  const auto deep = nested(3000);
  deep->eval();
  deep->to(torch::kDouble);
  deep->zero_grad();
  EXPECT_EQ(deep->parameters().size(), 2u);
  std::ostringstream out;
  out << *deep;
  EXPECT_NE(out.str().find("Linear"), std::string::npos);
  EXPECT_EQ(deep->clone()->parameters().size(), 2u);
  nested(100000);  // freed
}

void on_small_thread(size_t stack_bytes, const std::function<void()>& f) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, stack_bytes), 0);
  pthread_t thread;
  const auto call = [](void* g) -> void* { return (*static_cast<const std::function<void()>*>(g))(), nullptr; };
  ASSERT_EQ(pthread_create(&thread, &attributes, call, const_cast<void*>(static_cast<const void*>(&f))), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Depth, SmallThreads) {
  int reached = 0;
  on_small_thread(256 << 10, [&] {
    Tensor x = leaf();
    chain(x, 100000).backward();
    torch::nn::Conv2d conv(3, 8, 3);
    conv->forward(torch::ones({2, 3, 16, 16})).tanh().sum().backward();
    EXPECT_TRUE(conv->weight.grad().defined());
    nest(2000, [&] { ++reached; });
    EXPECT_THROW(nest(2000, [] { throw Bottom("small"); }), Bottom);
  });
  EXPECT_EQ(reached, 1);
}

TEST(Depth, ThreadsAtTheSameTime) {
  std::atomic<int> reached{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) nest(2000, [&] { ++reached; });
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(reached, 12);
}

}  // namespace
