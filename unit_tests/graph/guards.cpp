// Ways to make a captured step differ from the eager one: each is run eagerly and captured, and has to leave the same
// bits, or to end capture with an error.
#include "graph/ways.h"

using namespace steps;

namespace {

/// A small network with a training step.
struct Fixture {
  nn::Linear a{8, 16}, b{16, 4};
  nn::Dropout drop{0.5};
  nn::BatchNorm1d norm{16};
  torch::optim::Adam optimizer;
  Fixture() : optimizer(parameters(), torch::optim::AdamOptions(0.01)) {}
  std::vector<Tensor> parameters() {
    std::vector<Tensor> all;
    for (auto& list : {a->parameters(), b->parameters(), norm->parameters()})
      all.insert(all.end(), list.begin(), list.end());
    return all;
  }
  Tensor forward(Tensor x) { return b(drop(torch::relu(norm(a(x))))); }
  Tensor backward(Tensor x) {
    Tensor loss = forward(x).pow(2).mean();
    loss.backward();
    return loss;
  }
  Tensor train(Tensor x) {
    optimizer.zero_grad();
    Tensor loss = backward(x);
    optimizer.step();
    return loss;
  }
  void see(Seen& seen) {
    for (const Tensor& p : parameters()) {
      seen.push_back(p.detach().clone());
      seen.push_back(p.grad().defined() ? p.grad().clone() : Tensor());
    }
    for (const Tensor& t : norm->buffers()) seen.push_back(t.clone());
  }
};

Tensor batch(int64_t n = 6) { return torch::randn({n, 8}); }

/// Calls a training step often enough to be replayed, breaks something, and calls it again.
template <class Break>
Seen training(const Wrap& wrap, const Break& breaks, Step inner = nullptr) {
  Fixture f;
  Seen seen;
  Step step = wrap([&](Tensor x) { return f.train(inner ? inner(x) : x); });
  for (int i = 0; i < 5; ++i) seen.push_back(step(batch()).detach());
  for (int i = 0; i < 4; ++i) {
    breaks(f, step, seen, i);
    f.see(seen);
  }
  return seen;
}
/// Only what happens between the steps differs.
template <class F>
auto between(const F& change) {
  return [change](const Wrap& wrap) {
    return training(wrap, [&](Fixture& f, Step& step, Seen& seen, int i) {
      change(f, i);
      seen.push_back(step(batch()).detach());
    });
  };
}
template <class F>
auto of_batches(const F& make) {
  return [make = F(make)](const Wrap& wrap) mutable {
    return training(wrap, [&](Fixture&, Step& step, Seen& seen, int i) { seen.push_back(step(make(i)).detach()); });
  };
}
const Way kWays[] = {
    {"another batch size", of_batches([](int i) { return batch(5 + i % 2); })},
    {"an argument of another layout", of_batches([](int) { return torch::randn({8, 6}).t(); })},
    {"an argument with an offset", of_batches([](int) { return torch::randn({9, 8}).slice(0, 3); })},
    {"an argument with steps", of_batches([](int) { return torch::randn({12, 8}).slice(0, 0, 12, 2); })},
    {"an argument of a convolution's layout", of_batches([](int) { return torch::conv2d(torch::randn({6, 2, 4, 4}), torch::randn({8, 2, 4, 4})).flatten(1); })},
    {"an expanded argument", of_batches([](int) { return torch::randn({1, 8}).expand({6, 8}); })},
    {"the same argument again", of_batches([](int) {
       static const Tensor x = torch::arange(48, torch::kFloat).view({6, 8}) / 48;
       return x;
     })},
    {"eval() and train()", between([](Fixture& f, int i) { f.drop->train(i % 2); })},
    {"eval() of the normalisation", between([](Fixture& f, int) { f.norm->eval(); })},
    {"another probability", between([](Fixture& f, int i) { f.drop->options.p(0.1 * i); })},
    {"another probability by reference", between([](Fixture& f, int) { f.drop->options.p() *= 0.5; })},
    {"another momentum of statistics", between([](Fixture& f, int i) { f.norm->options.momentum(0.3 * i); })},
    {"another eps", between([](Fixture& f, int i) { if (i == 2) f.norm->options.eps(0.5); })},
    {"a weight that is another tensor", between([](Fixture& f, int i) { if (i == 1) f.a->weight = (f.a->weight * 2).detach().requires_grad_(); })},
    {"a module that is another one", between([](Fixture& f, int i) { if (i == 1) f.drop = nn::Dropout(0.9); })},
    {"a hook of a module that comes later", between([](Fixture& f, int i) { if (i == 1) f.a->register_forward_hook([](nn::Module&, const Seen&, const Seen& out) { return Seen{out[0] * 2}; }); })},
    {"another learning rate", between([](Fixture& f, int i) { f.optimizer.param_groups()[0].options().set_lr(0.1 / (i + 1)); })},
    {"another beta", between([](Fixture& f, int) { static_cast<torch::optim::AdamOptions&>(f.optimizer.param_groups()[0].options()).betas(std::make_tuple(0.5, 0.6)); })},
    {"another weight decay", between([](Fixture& f, int) { static_cast<torch::optim::AdamOptions&>(f.optimizer.param_groups()[0].options()).weight_decay(0.1); })},
    {"amsgrad from now on", between([](Fixture& f, int) { static_cast<torch::optim::AdamOptions&>(f.optimizer.param_groups()[0].options()).amsgrad(true); })},
    {"a parameter changed in place", between([](Fixture& f, int) { torch::NoGradGuard guard; f.a->weight.mul_(0.5); })},
    {"a parameter with other memory", between([](Fixture& f, int) { f.a->weight.set_data(f.a->weight.detach() * 2); })},
    {"a frozen parameter", between([](Fixture& f, int i) { f.a->weight.requires_grad_(i != 1); })},
    {"gradients that the program changes", between([](Fixture& f, int) { f.a->weight.mutable_grad().fill_(7); })},
    {"gradients that the program drops", between([](Fixture& f, int) { f.optimizer.zero_grad(); })},
    {"gradients that are zeros", between([](Fixture& f, int) { f.optimizer.zero_grad(false); })},
    {"gradients that the program sets", between([](Fixture& f, int) { f.b->bias.mutable_grad() = torch::ones({4}); })},
    {"one more parameter group", between([](Fixture& f, int i) { if (i == 1) f.optimizer.add_param_group({{torch::ones({3}, torch::requires_grad())}}); })},
    {"the optimizer's state is loaded", between([](Fixture& f, int) { f.optimizer.load_state_dict(f.optimizer.state_dict()); })},
    {"a seed", between([](Fixture&, int) { torch::manual_seed(3); })},
    {"random numbers between the steps", between([](Fixture&, int i) { torch::rand({i + 1}); })},
    {"another number of threads", between([](Fixture&, int i) { torch::set_num_threads(1 + i % 2); })},
    {"another default dtype", [](const Wrap& wrap) {
       return training(wrap, [](Fixture&, Step& step, Seen& seen, int) {
         Tensor x = batch();
         torch::set_default_dtype(torch::kDouble);
         seen.push_back(step(x).detach());
         torch::set_default_dtype(torch::kFloat);
       });
     }},
    {"autocast", [](const Wrap& wrap) {
       return training(wrap, [](Fixture&, Step& step, Seen& seen, int i) {
         torch::autocast guard(torch::kCPU, torch::kBFloat16, i % 2 == 0);
         seen.push_back(step(batch()).detach());
       });
     }},
    {"held gradients and results", [](const Wrap& wrap) {
       std::vector<Tensor> held;
       Seen seen = training(wrap, [&](Fixture& f, Step& step, Seen&, int) {
         held.push_back(step(batch()));
         held.push_back(f.a->weight.grad());
         held.push_back(f.a->weight.grad().t());
       });
       for (const Tensor& t : held) seen.push_back(t.detach().clone());
       return seen;
     }},
    {"no grad mode", [](const Wrap& wrap) {
       Fixture f;
       Seen seen;
       Step step = wrap([&](Tensor x) {
         Tensor y = f.forward(x);
         if (y.requires_grad()) y.sum().backward();
         return y.detach();
       });
       for (int i = 0; i < 8; ++i) {
         torch::AutoGradMode mode(i % 4 < 2);
         seen.push_back(step(batch()));
       }
       return seen;
     }},
    {"gradients that add up", [](const Wrap& wrap) {
       Fixture f;
       Seen seen;
       Step step = wrap([&](Tensor x) { return f.backward(x); });
       for (int i = 0; i < 9; ++i) {
         if (i == 7) f.optimizer.zero_grad();
         seen.push_back(step(batch()).detach());
         f.see(seen);
       }
       return seen;
     }},
    {"an update apart", [](const Wrap& wrap) {
       Fixture f;
       Seen seen;
       Step step = wrap([&](Tensor x) { return f.backward(x); });
       Step update = wrap([&](Tensor x) { return f.optimizer.step(), x; });
       for (int i = 0; i < 9; ++i) {
         f.optimizer.zero_grad(i < 5);
         seen.push_back(step(batch()).detach());
         update(torch::ones({1}));
         f.see(seen);
       }
       return seen;
     }},
    {"gradients by value", [](const Wrap& wrap) {
       return [&] {
         Fixture f;
         Seen seen;
         Step step = wrap([&](Tensor x) {
           auto grads = torch::autograd::grad({f.forward(x).square().sum()}, f.parameters());
           f.optimizer.step(grads);
           return grads[0];
         });
         for (int i = 0; i < 8; ++i) seen.push_back(step(batch()));
         f.see(seen);
         return seen;
       }();
     }},
    {"item()", PROGRAM(Tensor step(Tensor x) override { return x * x.sum().item<float>(); })},
    {"a branch on a value", PROGRAM(Tensor step(Tensor x) override { return x.sum().gt(0).item<bool>() ? x * 2 : x - 1; })},
    {"a size that depends on values", PROGRAM(Tensor step(Tensor x) override { return x.masked_select(x > 0).sum(); })},
    {"nonzero()", PROGRAM(Tensor step(Tensor x) override { return torch::nonzero(x > 0).to(torch::kFloat).mean(); })},
    {"equal()", PROGRAM(Tensor last; Tensor step(Tensor x) override { return torch::equal(x, x.abs()) ? x : -x; })},
    {"data_ptr() of a tensor of the program's, which had it before", PROGRAM(Tensor k = torch::ones({8}); Tensor step(Tensor x) override { return x * k.data_ptr<float>()[0]; })},
    {"accessor() of a tensor that the step only looks at so", PROGRAM(Tensor k = torch::ones({8}); Tensor step(Tensor x) override { return x * k.accessor<float, 1>()[1]; })},
    {"storage() of an argument", PROGRAM(Tensor step(Tensor x) override { return x * static_cast<float*>(x.storage().mutable_data())[0]; })},
    {"data_ptr() of a value", PROGRAM(Tensor step(Tensor x) override { Tensor y = x * 2; return x * y.data_ptr<float>()[0]; })},
    {"an accessor that writes", PROGRAM(Tensor step(Tensor x) override { Tensor y = torch::zeros({4, 8}); y.accessor<float, 2>()[0][0] = x.sum().item<float>(); return y + x; })},
    {"from_blob()", PROGRAM(float number = 0; void between(int i) override { number = float(i); } Tensor step(Tensor x) override { return x + torch::from_blob(&number, {1}); })},
    {"numbers of a list", PROGRAM(float number = 0; void between(int i) override { number = float(i); } Tensor step(Tensor x) override { return x + torch::tensor({number, number})[0]; })},
    {"a value in a variable", PROGRAM(Tensor last; Tensor step(Tensor x) override { last = x * 2; return last + 1; } Seen state() override { return {last}; })},
    {"values in a list", PROGRAM(Seen all; Tensor step(Tensor x) override { all.push_back(x * 2); return x + 1; } Seen state() override { return all; })},
    {"a view of a result in a variable", PROGRAM(Tensor last; Tensor step(Tensor x) override { Tensor y = x * 2; last = y[0]; return y; } Seen state() override { return {last}; })},
    {"a recurrent value", PROGRAM(Tensor h = torch::zeros({4, 8}); Tensor step(Tensor x) override { h = torch::tanh(h + x); return h.sum(); } Seen state() override { return {h}; })},
    {"a recurrent value in place", PROGRAM(Tensor h = torch::zeros({4, 8}); Tensor step(Tensor x) override { h.add_(x).tanh_(); return h.sum(); } Seen state() override { return {h}; })},
    {"a tensor of the program changes", PROGRAM(Tensor k = torch::ones({8}); void between(int i) override { k.fill_(i); } Tensor step(Tensor x) override { return x * k; })},
    {"a variable names another tensor", PROGRAM(Tensor k = torch::ones({8}); void between(int i) override { if (i == 5) k = torch::full({8}, 5.0); } Tensor step(Tensor x) override { return x * k; })},
    {"a tensor of the program is gone", PROGRAM(Tensor k = torch::ones({8}); void between(int i) override { if (i == 5) k.reset(); } Tensor step(Tensor x) override { return k.defined() ? x * k : x; })},
    {"a tensor of the program has another shape", PROGRAM(Tensor k = torch::ones({4, 8}); void between(int i) override { if (i == 5) { k.resize_({8, 4}); k.fill_(2); k.t_(); } } Tensor step(Tensor x) override { return x * k; })},
    {"the argument is changed in place", PROGRAM(Tensor step(Tensor x) override { x.mul_(2); return x.sum(); })},
    {"the argument is returned", PROGRAM(Tensor step(Tensor x) override { return x; })},
    {"a view of the argument is returned", PROGRAM(Tensor step(Tensor x) override { return x.t(); })},
    {"a tensor of the program is returned", PROGRAM(Tensor k = torch::ones({8}); Tensor step(Tensor x) override { k.add_(x[0]); return k; })},
    {"an undefined result", PROGRAM(Tensor step(Tensor) override { return {}; })},
    {"a hook of a tensor", PROGRAM(int n = 0; Tensor w = torch::ones({8}, torch::requires_grad()); Tensor step(Tensor x) override { Tensor y = x * w; y.register_hook([this](Tensor g) { return g * ++n; }); y.sum().backward(); return w.grad().clone(); })},
    {"a hook of a leaf", PROGRAM(int n = 0; Tensor w = torch::ones({8}, torch::requires_grad()); Own() { w.register_hook([this](Tensor g) { return g * ++n; }); } Tensor step(Tensor x) override { (x * w).sum().backward(); return w.grad().clone(); })},
    {"a hook of a module", PROGRAM(nn::Linear net{8, 2}; Own() { net->register_forward_hook([n = 0](nn::Module&, const Seen&, const Seen& out) mutable { return Seen{out[0] * ++n}; }); } Tensor step(Tensor x) override { torch::NoGradGuard guard; return net(x); })},
    {"a hook that comes later", PROGRAM(Tensor w = torch::ones({8}, torch::requires_grad()); void between(int i) override { if (i == 5) w.register_hook([](Tensor g) { return g * 3; }); } Tensor step(Tensor x) override { w.mutable_grad() = Tensor(); (x * w).sum().backward(); return w.grad().clone(); })},
    {"a scheduler within the step", PROGRAM(Tensor w = torch::ones({8}, torch::requires_grad()); torch::optim::SGD sgd{{w}, 0.1}; torch::optim::StepLR lr{sgd, 1, 0.5}; Tensor step(Tensor x) override { sgd.zero_grad(); (x * w).sum().backward(); sgd.step(); lr.step(); return w.detach().clone(); } Seen state() override { return {w}; })},
    {"a graph from before that saved a weight of SGD", PROGRAM(Tensor w = torch::ones({8}, torch::requires_grad()); Tensor v = torch::ones({8}, torch::requires_grad()); torch::optim::SGD sgd{{w}, 0.1}; Tensor other = (v * w.detach()).sum(); void between(int) override { other.backward({}, true); } Tensor step(Tensor x) override { sgd.zero_grad(); (x * w).sum().backward(); sgd.step(); return w.detach().clone(); } Seen state() override { return {w, v.grad().clone(), torch::tensor(w._version())}; })},
    {"an optimizer that reads its loss", PROGRAM(Tensor w = torch::ones({8}, torch::requires_grad()); torch::optim::LBFGS o{{w}}; Tensor step(Tensor x) override { return o.step([&] { o.zero_grad(); Tensor l = (x * w).square().sum(); l.backward(); return l; }); } Seen state() override { return {w}; })},
    {"random numbers", PROGRAM(Tensor step(Tensor x) override { return x * torch::rand({8}) + torch::randn({4, 8}) + torch::randperm(8).to(torch::kFloat) + torch::bernoulli(torch::full({4, 8}, 0.5)); })},
    {"a generator of the program's", PROGRAM(torch::Generator g = torch::make_generator<torch::CPUGeneratorImpl>(5); Tensor step(Tensor x) override { return x + torch::randn({8}, g); })},
    {"a seed within the step", PROGRAM(Tensor step(Tensor x) override {
       torch::manual_seed(4);
       return x + torch::rand({8});
     })},
    {"eval() within the step", PROGRAM(
         nn::Dropout drop; void between(int) override { drop->train(); } Tensor step(Tensor x) override {
           Tensor y = drop(x);
           drop->eval();
           return y + drop(x);
         })},
    {"train() and eval() within the step", PROGRAM(nn::Dropout drop; Tensor step(Tensor x) override {
       drop->eval();
       Tensor y = drop(x);
       drop->train();
       return y + drop(x);
     })},
    {"a loss whose backward pass comes after the step", PROGRAM(Tensor w = torch::ones({8}, torch::requires_grad()); Tensor step(Tensor x) override { return (x * w).exp().sum(); })},
    {"an argument that requires a gradient", [](const Wrap& wrap) {
       Seen seen;
       Step step = wrap([](Tensor x) { (x * x).sum().backward(); return x.grad().clone(); });
       for (int i = 0; i < 8; ++i) seen.push_back(step(torch::randn({4}, torch::requires_grad())));
       return seen;
     }},
    {"a step in a step", [](const Wrap& wrap) {
       Seen seen;
       Step inner = wrap([](Tensor x) { return x.exp(); }), outer = wrap([&](Tensor x) { return inner(x) + inner(x + 1); });
       for (int i = 0; i < 9; ++i) seen.push_back(outer(batch()));
       return seen;
     }},
    {"a step that throws", PROGRAM(int n = 0; void between(int i) override { n = i; } Tensor step(Tensor x) override { return torch::embedding(torch::ones({4, 2}), (x.abs() * 0).to(torch::kLong)); })},
    {"an index out of range", [](const Wrap& wrap) {
       Seen seen;
       const Tensor table = torch::randn({5, 3});
       Step step = wrap([&](Tensor i) { return table.index_select(0, i); });
       for (int i = 0; i < 9; ++i) {
         try {
           seen.push_back(step(torch::full({2}, i < 8 ? i % 5 : 9, torch::kLong)));
         } catch (const c10::IndexError&) {
           seen.push_back(torch::ones({1}));
         }
       }
       return seen;
     }},
    {"the memory of a tensor that the step uses", [](const Wrap& wrap) {
       Seen seen;
       Tensor k = torch::ones({4, 8});
       Step step = wrap([&](Tensor x) { k.add_(x); return x + k; });
       for (int i = 0; i < 8; ++i) seen.push_back(step(i < 6 ? torch::randn({4, 8}) : k).clone());
       return seen;
     }},
};

}  // namespace

TEST(GraphGuards, NoWayIsSilentlyWrong) { EXPECT_GE(expect_no_way_is_silently_wrong(kWays, std::size(kWays)), 40); }
