// More ways to make a captured step silently wrong: memory that changes behind a tensor, optimizers whose parts are
// replaced, errors in the middle of a replay, and what the step does without a function.
#include <thread>

#include "graph/ways.h"

using namespace steps;

namespace {

/// A step of one optimizer, in which something changes before the sixth call.
template <class F>
auto optimizing(const F& change) {
  return [change](const Wrap& wrap) {
    Tensor w = torch::ones({8}, torch::requires_grad()), v = torch::ones({8}, torch::requires_grad());
    torch::optim::Adam adam({w}, 0.1);
    std::vector<Tensor> held;
    Step step = wrap([&](Tensor x) {
      w.mutable_grad() = Tensor();
      Tensor loss = (w * x).pow(2).sum() + v.detach().sum();
      loss.backward();
      adam.step();
      return loss.detach();
    });
    Seen seen;
    for (int i = 0; i < 8; ++i) {
      if (i == 5) change(adam, w, v, held);
      seen.push_back(step(torch::randn({4, 8})).clone());
      seen.push_back(w.detach().clone());
      seen.push_back(v.detach().clone());
    }
    return seen;
  };
}
torch::optim::AdamParamState& state_of(torch::optim::Adam& adam, const Tensor& w) {
  return static_cast<torch::optim::AdamParamState&>(*adam.state().at(w.unsafeGetTensorImpl()));
}

/// An update apart, which takes the gradient that it finds.
template <class F>
auto updating(const F& change) {
  return [change](const Wrap& wrap) {
    Tensor w = torch::ones({8}, torch::requires_grad());
    w.mutable_grad() = torch::ones({8});
    const Tensor held = w.grad();
    torch::optim::SGD sgd({w}, 0.1);
    Step step = wrap([&](Tensor x) { return sgd.step(), x + 1; });
    Seen seen;
    for (int i = 0; i < 8; ++i) {
      if (i == 5) change(w);
      seen.push_back(step(torch::randn({4})).clone());
      seen.push_back(w.detach().clone());
    }
    return seen;
  };
}

/// `f` of a table and an index throws at the sixth call, behind the backward pass and before the update of weights
/// that would be updated as soon as their gradients are there.
template <class F>
auto throws_before_an_update(const F& f, bool optimizes_at_batch_1 = false) {
  return [f, optimizes_at_batch_1](const Wrap& wrap) {
    const int64_t batch = optimizes_at_batch_1 ? 1 : 4;
    nn::Linear a(8, 4096), b(4096, 32);
    std::vector<Tensor> all = a->parameters();
    for (const Tensor& p : b->parameters()) all.push_back(p);
    torch::optim::Adam adam(all, 0.01);
    Tensor index = torch::ones({1}, torch::kLong), table = torch::randn({5, 3});
    Step step = wrap([&](Tensor x) {
      adam.zero_grad();
      Tensor loss = b(torch::relu(a(x))).pow(2).mean();
      loss.backward();
      Tensor y = f(table, index);
      adam.step();
      return loss.detach() + y.sum();
    });
    Seen seen;
    for (int i = 0; i < 8; ++i) {
      index.fill_(i == 5 ? 9 : 1);
      try {
        seen.push_back(step(torch::randn({batch, 8})).clone());
      } catch (const c10::Error&) {
        seen.push_back(torch::full({1}, 77.0));
      }
      for (const Tensor& p : all) {
        seen.push_back(p.detach().clone());
        if (i > 4) seen.push_back(p.grad().clone());
      }
    }
    return seen;
  };
}

/// An argument that the step takes from the program, too, until it gets another one.
template <class F>
auto an_argument_of_the_program(const F& f) {
  return [f](const Wrap& wrap) {
    Tensor known = torch::zeros({8});
    Step step = wrap([&](Tensor x) { return f(known, x); });
    Seen seen;
    for (int i = 0; i < 12; ++i) {
      Tensor x = torch::randn({8});
      seen.push_back(step(i < 5 || i == 8 ? known : x).clone());
      seen.push_back(known.clone());
      seen.push_back(x);
    }
    return seen;
  };
}

/// A setting of Context that changes while a step is replayed.
template <class F>
auto attention_with(const F& set) {
  return [set](const Wrap& wrap) {
    Step step = wrap([](Tensor x) { return torch::scaled_dot_product_attention(x, x, x); });
    Seen seen;
    for (int i = 0; i < 12; ++i) {
      set(at::globalContext(), i % 4 < 2);
      seen.push_back(step(torch::randn({2, 16, 8}).to(torch::kBFloat16)));
    }
    at::globalContext().setSDPUseFlash(true);
    at::globalContext().setAllowFP16BF16ReductionMathSDP(false);
    return seen;
  };
}

/// A step of two updates, before each of which it sets an option.
template <class Optimizer, class Options, class F>
auto setting_options(const Options& options, const F& set) {
  return [options, set](const Wrap& wrap) {
    Tensor w = torch::ones({8}, torch::requires_grad());
    Optimizer optimizer(Seen{w}, options);
    Step step = wrap([&](Tensor x) {
      optimizer.zero_grad();
      (w * x).square().sum().backward();
      for (const double number : {0.9, 0.5}) {
        set(static_cast<Options&>(optimizer.param_groups()[0].options()), number);
        optimizer.step();
      }
      return w.detach() + 0;
    });
    Seen seen;
    for (int i = 0; i < 8; ++i) seen.push_back(step(torch::randn({8})).clone());
    return seen;
  };
}

/// A tensor that autograd keeps for a backward pass, which has to throw if the step changes it.
template <class F>
auto saved_before(const F& make) {
  return [make](const Wrap& wrap) {
    Seen seen;
    const auto [step, kept] = make(wrap);
    for (int i = 0; i < 7; ++i) {
      Tensor w = torch::ones({8}, torch::requires_grad()), x = torch::randn({8});
      Tensor loss = (w * (kept.defined() ? kept : x)).sum();
      step(x);
      try {
        loss.backward();
        seen.push_back(w.grad());
      } catch (const c10::Error&) {
        seen.push_back(torch::zeros({1}));
      }
    }
    return seen;
  };
}

const Way kWays[] = {
    {"set_data to another place", PROGRAM(Tensor all = torch::randn({16}); Tensor k = all.slice(0, 0, 8); void between(int i) override { if (i == 5) k.set_data(all.slice(0, 8, 16)); } Tensor step(Tensor x) override { return x * k; })},
    {"set_data to another dtype", PROGRAM(Tensor k = torch::arange(1, 9).to(torch::kFloat); void between(int i) override { if (i == 5) k.set_data(k.detach().view(torch::kInt)); } Tensor step(Tensor x) override { return x * k; })},
    {"another block behind a storage", PROGRAM(Tensor k = torch::ones({8}), other = torch::full({8}, 5.0); void between(int i) override { if (i == 5) k.storage().set_data_ptr(c10::DataPtr(other.data_ptr(), c10::kCPU)); } Tensor step(Tensor x) override { return x * k; })},
    {"resize_() there and back", PROGRAM(Tensor k = torch::ones({4, 8}); void between(int i) override { if (i == 5) k.resize_({1000, 1000}).resize_({4, 8}).fill_(3); } Tensor step(Tensor x) override { return x * k; })},
    {"set_data of what the step uses by a view", PROGRAM(Tensor k = torch::ones({2, 8}), held; void between(int i) override { if (i == 5) { held = k.detach(); k.set_data(torch::full({2, 8}, 4.0)); } } Tensor step(Tensor x) override { return x * k[0]; })},
    {"set_data of what the step uses by data()", PROGRAM(Tensor k = torch::ones({8}), held; void between(int i) override { if (i == 5) { held = k.detach(); k.set_data(torch::full({8}, 4.0)); } } Tensor step(Tensor x) override { return x * k.data(); })},
    {"a hook of a leaf that is removed", PROGRAM(Tensor w = torch::ones({8}, torch::requires_grad()); unsigned hook = w.register_hook([](Tensor g) { return g * 2; }); void between(int i) override { if (i == 5) w.remove_hook(hook); } Tensor step(Tensor x) override { w.mutable_grad() = Tensor(); (x * w).sum().backward(); return w.grad().clone(); })},
    {"another thread that changes a tensor", PROGRAM(Tensor k = torch::ones({8}); Tensor step(Tensor x) override { Tensor y = x * k; std::thread([&] { k.copy_(x[0]); }).join(); return y * k; })},
    {"the address of an argument", PROGRAM(Tensor step(Tensor x) override { return x.data_ptr<float>()[0] > 0 ? x + 1 : x - 1; })},
    {"an accessor of an argument", PROGRAM(Tensor step(Tensor x) override { x.accessor<float, 2>()[0][0] = 3; return x + 1; })},
    {"the address of the same argument at each call", [](const Wrap& wrap) {
       Seen seen;
       const Tensor x = torch::ones({8});
       Step step = wrap([](Tensor t) { return t * (t.data_ptr<float>()[0] > 4 ? 2 : 3); });
       for (int i = 0; i < 8; ++i) seen.push_back(step(x).clone()), x.add_(1);
       return seen;
     }},
    {"an index that fills", PROGRAM(Tensor k = torch::ones({}), index = torch::ones({2}, torch::kLong); void between(int i) override { k.fill_(i), index.fill_(i % 4); } Tensor step(Tensor x) override { return x.index_fill(0, index, k); })},
    {"memory of a parameter as an argument", [](const Wrap& wrap) {
       Seen seen;
       Tensor w = torch::ones({8});
       Step step = wrap([&](Tensor x) { Tensor y = x * 2; w.add_(1); return y + x * 2; });
       for (int i = 0; i < 8; ++i) seen.push_back(step(i < 5 ? torch::randn({8}) : torch::from_blob(w.data_ptr(), {8})).clone());
       return seen;
     }},
    {"a parameter more", optimizing([](auto& adam, Tensor&, Tensor& v, Seen&) { v.mutable_grad() = torch::ones({8}); adam.param_groups()[0].params().push_back(v); })},
    {"a group more, with a gradient", optimizing([](auto& adam, Tensor&, Tensor& v, Seen&) { v.mutable_grad() = torch::ones({8}); adam.add_param_group({{v}}); })},
    {"a parameter less", optimizing([](auto& adam, Tensor&, Tensor&, Seen&) { adam.param_groups()[0].params().clear(); })},
    {"another parameter in its place", optimizing([](auto& adam, Tensor&, Tensor& v, Seen&) { v.mutable_grad() = torch::ones({8}); adam.param_groups()[0].params()[0] = v; })},
    {"options that are another object", optimizing([](auto& adam, Tensor&, Tensor&, Seen&) { adam.param_groups()[0].set_options(std::make_unique<torch::optim::AdamOptions>(0.5)); })},
    {"a state's tensor that is another one", optimizing([](auto& adam, Tensor& w, Tensor&, Seen& held) { held.push_back(state_of(adam, w).exp_avg()); state_of(adam, w).exp_avg(torch::zeros({8})); })},
    {"states that are gone, their tensors held", optimizing([](auto& adam, Tensor& w, Tensor&, Seen& held) { held.push_back(state_of(adam, w).exp_avg()); held.push_back(state_of(adam, w).exp_avg_sq()); adam.state().clear(); })},
    {"a loaded state, the former one held", optimizing([](auto& adam, Tensor& w, Tensor&, Seen& held) { const auto dict = adam.state_dict(); held.push_back(state_of(adam, w).exp_avg()); held.push_back(state_of(adam, w).exp_avg_sq()); adam.load_state_dict(dict); state_of(adam, w).exp_avg().zero_(); })},
    {"another optimizer in the variable", optimizing([](auto& adam, Tensor& w, Tensor&, Seen&) { adam = torch::optim::Adam({w}, 0.5); })},
    {"another gradient, the former one held", updating([](Tensor& w) { w.mutable_grad() = torch::full({8}, 5.0); })},
    {"a gradient dropped, yet held", updating([](Tensor& w) { w.mutable_grad().reset(); })},
    {"an argument that the step changes by itself, too", an_argument_of_the_program([](Tensor& known, Tensor x) { known.mul_(0.9).add_(x, 0.1); return known * 2; })},
    {"an argument that the step reads by itself, too", an_argument_of_the_program([](Tensor& known, Tensor x) { return x * 2 + known; })},
    {"a way of computing attention", attention_with([](auto& context, bool on) { context.setSDPUseFlash(on); })},
    {"attention's formula in half", attention_with([](auto& context, bool on) { context.setSDPUseFlash(false), context.setAllowFP16BF16ReductionMathSDP(on); })},
    {"betas that the step sets", setting_options<torch::optim::Adam>(torch::optim::AdamOptions(0.1), [](auto& o, double number) { o.betas({number, 0.99}); })},
    {"a weight decay that the step sets", setting_options<torch::optim::SGD>(torch::optim::SGDOptions(0.1).weight_decay(0.5), [](auto& o, double number) { o.weight_decay(number); })},
    {"a group more, whose states begin at a number", [](const Wrap& wrap) {
       Seen seen;
       Tensor a = torch::ones({8}, torch::requires_grad()), b = torch::ones({8}, torch::requires_grad());
       torch::optim::Adagrad adagrad(Seen{a}, torch::optim::AdagradOptions(0.1).initial_accumulator_value(0.5));
       Step step = wrap([&](Tensor x) { adagrad.zero_grad(); b.mutable_grad().reset(); ((a + b) * x).square().sum().backward(); adagrad.step(); return a.detach() + b.detach(); });
       for (int i = 0; i < 10; ++i) {
         if (i == 5) adagrad.add_param_group({{b}});
         seen.push_back(step(torch::randn({8})).clone());
       }
       return seen;
     }},
    {"an optimizer that has gone", [](const Wrap& wrap) {
       Seen seen;
       Tensor w = torch::ones({8}, torch::requires_grad());
       auto sgd = std::make_unique<torch::optim::SGD>(std::vector<Tensor>{w}, 0.1);
       Step step = wrap([&](Tensor x) { sgd->zero_grad(); (w * x).sum().backward(); sgd->step(); return w.detach() + 0; });
       for (int i = 0; i < 8; ++i) {
         if (i == 5) sgd.reset(), sgd = std::make_unique<torch::optim::SGD>(std::vector<Tensor>{w}, 0.5);
         seen.push_back(step(torch::randn({8})).clone());
       }
       return seen;
     }},
    {"index_select out of range", throws_before_an_update([](Tensor t, Tensor i) { return t.index_select(0, i); })},
    {"gather out of range", throws_before_an_update([](Tensor t, Tensor i) { return t[0].expand({5, 3}).gather(0, i.view({1, 1})); })},
    {"a class out of range", throws_before_an_update([](Tensor t, Tensor i) { return torch::cross_entropy_loss(t.slice(0, 0, 1), i); })},
    {"an embedding out of range", throws_before_an_update([](Tensor t, Tensor i) { return torch::embedding(t, i); })},
    {"index_add out of range", throws_before_an_update([](Tensor t, Tensor i) { return t.index_add(0, i, torch::ones({1, 3})); })},
    {"scatter out of range", throws_before_an_update([](Tensor t, Tensor i) { return t.scatter(0, i.view({1, 1}), 2.0); })},
    {"an error before gradients are used", throws_before_an_update([](Tensor t, Tensor i) { return t.index_select(0, i); }, true)},
    {"an index out of range for nobody", throws_before_an_update([](Tensor t, Tensor i) { torch::nll_loss(t.slice(0, 0, 1), i); return t; })},
    {"an argument that was saved", saved_before([](const Wrap& wrap) { return std::pair(wrap([](Tensor x) { x.mul_(2); return x.sum(); }), Tensor()); })},
    {"a view that was saved", saved_before([](const Wrap& wrap) { Tensor k = torch::ones({2, 8}); return std::pair(wrap([k](Tensor x) { k[0].mul_(2); return x + 1; }), k); })},
};

}  // namespace

TEST(GraphGuards, StateThatChangesIsNotSilentlyWrong) {
  EXPECT_GE(expect_no_way_is_silently_wrong(kWays, std::size(kWays)), 37);
}

// Arguments of a function object whose types differ from call to call.
TEST(GraphGuards, KindsOfArgumentsAreCompared) {
  torch::NoGradGuard no_grad;
  auto times = hb::graph::compile([](Tensor x, auto k) { return x * k; });
  const Tensor x = torch::ones({4}, torch::kInt);
  for (int i = 0; i < 5; ++i) times(x, 2);
  EXPECT_GT(times.counts().replayed, 0);
  EXPECT_EQ(times(x, 2.0).scalar_type(), torch::kFloat);

  auto plus = hb::graph::compile([](Tensor x, int64_t k) { return x + k; });
  const int64_t big = int64_t(1) << 53;
  const Tensor zero = torch::zeros({1}, torch::kLong);
  for (int i = 0; i < 5; ++i) plus(zero, big);
  EXPECT_GT(plus.counts().replayed, 0);
  EXPECT_EQ(plus(zero, big + 1).item<int64_t>(), big + 1);
}

// A variable that names another generator is found when the graph is compared with the step.
TEST(GraphGuards, AnotherGeneratorIsFound) {
  torch::NoGradGuard no_grad;
  auto a = torch::make_generator<torch::CPUGeneratorImpl>(5), b = torch::make_generator<torch::CPUGeneratorImpl>(5);
  hb::graph::CompileOptions options;
  options.compare_every = 4;
  torch::Generator in_use = a;
  auto step = hb::graph::compile([&](Tensor x) { return x + torch::rand({4}, in_use); }, options);
  for (int i = 0; i < 25; ++i) step(torch::ones({4}));
  EXPECT_GT(step.counts().compared, 0);
  in_use = b;
  for (int i = 0; i < 5; ++i) step(torch::ones({4}));
  EXPECT_EQ(step.counts().recorded, 2);
}
