#include <sstream>

#include "parity/case.h"

using parity::Tensors;
using torch::Tensor;
namespace optim = torch::optim;

namespace {

// In the half types LibTorch rounds factors such as a momentum to half where its loops are vectorised and does not
// where they end: tensors that its vectors fill can be compared bit for bit, others not at all closely.
Tensors make_params(parity::Case& c, torch::Dtype dtype) {
  const bool half = dtype == torch::kHalf || dtype == torch::kBFloat16;
  const std::vector<parity::Shape> shapes = half ? std::vector<parity::Shape>{{64, 32}, {512}, {128, 256}}
                                                 : std::vector<parity::Shape>{{37, 5}, {5}, {}, {130, 260}};
  Tensors params;
  for (const auto& shape : shapes) params.push_back(c.randn(shape, dtype));
  for (auto& p : params) p.requires_grad_();
  return params;
}

// Gradients of seven steps, which repeat; the second parameter has none in the third and fourth.
struct Gradients {
  std::vector<Tensors> steps;
  Gradients(parity::Case& c, const Tensors& params) {
    for (int i = 0; i < 7; ++i) {
      steps.emplace_back();
      for (const auto& p : params) {
        const std::vector<int64_t> shape = p.sizes().vec();
        steps.back().push_back(c.randn(shape, p.scalar_type()));
      }
    }
  }
  void set(Tensors& params, int step) const {
    for (size_t i = 0; i < params.size(); ++i) {
      const bool none = i == 1 && (step == 2 || step == 3);
      params[i].mutable_grad() = none ? Tensor() : steps[step % 7][i].clone();
    }
  }
};

void record(parity::Case& c, const std::string& name, const Tensors& params) {
  for (size_t i = 0; i < params.size(); ++i) c.out(name + ".p" + std::to_string(i), params[i].detach().clone());
}

// 100 steps; `state` records what the optimizer remembers.
template <class Optimizer, class Options>
void trajectory(parity::Case& c, const std::string& name, Options options, torch::Dtype dtype = torch::kFloat) {
  c.scope(name, [&] {
    auto params = make_params(c, dtype);
    const Gradients gradients(c, params);
    Optimizer optimizer(params, options);
    for (int step = 0; step < 100; ++step) {
      gradients.set(params, step);
      optimizer.step();
      if (step == 0 || step == 9) record(c, "step" + std::to_string(step + 1), params);
    }
    record(c, "step100", params);
    c.value("states", static_cast<int64_t>(optimizer.state().size()));
  });
}

// Within 1e-6 of each other after 100 steps, the half types bit for bit.
void tight(parity::Case& c) {
  c.tolerance(1e-6, 1e-6);
  c.tolerance(torch::kDouble, 1e-12, 1e-12);
  c.tolerance(torch::kBFloat16, 0, 0);
  c.tolerance(torch::kHalf, 0, 0);
}

template <class Optimizer, class Options>
void every_dtype(parity::Case& c, const std::string& name, Options options) {
  for (auto dtype : parity::kFloats) trajectory<Optimizer>(c, name + "_" + parity::dtype_name(dtype), options, dtype);
}

}  // namespace

PARITY_CASE(optim, sgd) {
  tight(c);
  every_dtype<optim::SGD>(c, "plain", optim::SGDOptions(0.01));
  every_dtype<optim::SGD>(c, "momentum", optim::SGDOptions(0.01).momentum(0.9));
  every_dtype<optim::SGD>(c, "decay", optim::SGDOptions(0.01).weight_decay(0.1));
  trajectory<optim::SGD>(c, "dampening", optim::SGDOptions(0.01).momentum(0.9).dampening(0.3));
  trajectory<optim::SGD>(c, "nesterov", optim::SGDOptions(0.01).momentum(0.9).nesterov(true));
  every_dtype<optim::SGD>(c, "all", optim::SGDOptions(0.02).momentum(0.8).weight_decay(0.05).nesterov(true));
}

PARITY_CASE(optim, adam) {
  tight(c);
  every_dtype<optim::Adam>(c, "plain", optim::AdamOptions(1e-2));
  trajectory<optim::Adam>(c, "default", optim::AdamOptions());
  trajectory<optim::Adam>(c, "decay", optim::AdamOptions(1e-2).weight_decay(0.1));
  every_dtype<optim::Adam>(c, "amsgrad", optim::AdamOptions(1e-2).amsgrad(true).eps(1e-4));
  every_dtype<optim::Adam>(c, "all",
                           optim::AdamOptions(1e-2).betas({0.5, 0.9}).weight_decay(0.02).eps(1e-3).amsgrad(true));
}

PARITY_CASE(optim, adamw) {
  tight(c);
  every_dtype<optim::AdamW>(c, "plain", optim::AdamWOptions(1e-2));
  trajectory<optim::AdamW>(c, "no_decay", optim::AdamWOptions(1e-2).weight_decay(0));
  every_dtype<optim::AdamW>(c, "all",
                            optim::AdamWOptions(1e-2).betas({0.8, 0.95}).weight_decay(0.1).eps(1e-3).amsgrad(true));
}

PARITY_CASE(optim, rmsprop) {
  tight(c);
  every_dtype<optim::RMSprop>(c, "plain", optim::RMSpropOptions(1e-2).eps(1e-4));
  trajectory<optim::RMSprop>(c, "default", optim::RMSpropOptions());
  trajectory<optim::RMSprop>(c, "decay", optim::RMSpropOptions(1e-2).weight_decay(0.1));
  trajectory<optim::RMSprop>(c, "momentum", optim::RMSpropOptions(1e-2).momentum(0.9));
  every_dtype<optim::RMSprop>(c, "centered", optim::RMSpropOptions(1e-2).centered(true).eps(1e-2));
  every_dtype<optim::RMSprop>(
      c, "all", optim::RMSpropOptions(1e-2).alpha(0.9).momentum(0.5).centered(true).weight_decay(0.01).eps(1e-2));
}

PARITY_CASE(optim, adagrad) {
  tight(c);
  every_dtype<optim::Adagrad>(c, "plain", optim::AdagradOptions(0.1));
  trajectory<optim::Adagrad>(c, "default", optim::AdagradOptions());
  every_dtype<optim::Adagrad>(
      c, "all", optim::AdagradOptions(0.1).lr_decay(0.01).weight_decay(0.01).initial_accumulator_value(0.5).eps(1e-3));
}

namespace {
// A quartic valley with its lowest point at (1, 1).
Tensor rosenbrock(const Tensor& x) {
  auto a = 1 - x.select(0, 0), b = x.select(0, 1) - x.select(0, 0) * x.select(0, 0);
  return a * a + 100 * b * b;
}
}  // namespace

PARITY_CASE(optim, lbfgs) {
  for (bool search : {false, true}) {
    c.scope(search ? "strong_wolfe" : "fixed", [&] {
      auto x = c.values({-1.2, 1.0}, torch::kDouble).requires_grad_();
      auto options = optim::LBFGSOptions(search ? 1 : 1e-3).max_iter(4);
      if (search) options.line_search_fn("strong_wolfe").history_size(3);
      optim::LBFGS optimizer({x}, options);
      int calls = 0;
      for (int step = 0; step < 5; ++step) {
        auto loss = optimizer.step([&] {
          ++calls;
          optimizer.zero_grad();
          auto l = rosenbrock(x);
          l.backward();
          return l;
        });
        c.out("loss" + std::to_string(step), loss.detach());
      }
      c.out("x", x.detach().clone());
      c.value("calls", calls);
      const auto& state = static_cast<optim::LBFGSParamState&>(*optimizer.state().at(x.unsafeGetTensorImpl()));
      c.value("func_evals", state.func_evals());
      c.value("n_iter", state.n_iter());
      c.value("history", static_cast<int64_t>(state.old_dirs().size()));
    });
  }
  c.throws("no_closure", [&] { optim::LBFGS({c.leaf({2})}).step(nullptr); });
  c.throws("groups", [&] { optim::LBFGS(std::vector<optim::OptimizerParamGroup>{{{c.leaf({2})}}, {{c.leaf({2})}}}); });
  c.throws("line_search", [&] {
    auto x = c.leaf({2});
    optim::LBFGS optimizer({x}, optim::LBFGSOptions().line_search_fn("none"));
    optimizer.step([&] {
      auto l = (x * x).sum();
      l.backward();
      return l;
    });
  });
}

PARITY_CASE(optim, closure) {
  auto x = c.leaf({4, 3});
  optim::Adam optimizer({x}, optim::AdamOptions(0.1));
  torch::NoGradGuard no_grad;  // a closure computes with gradients all the same
  for (int i = 0; i < 5; ++i) {
    auto loss = optimizer.step([&] {
      optimizer.zero_grad();
      auto l = (x * x).sum();
      l.backward();
      return l;
    });
    c.out("loss" + std::to_string(i), loss.detach());
  }
  c.out("x", x.detach().clone());
  c.check(!optim::SGD({x}, 0.1).step().defined(), "a step without a closure gives no loss");
}

PARITY_CASE(optim, groups) {
  auto a = c.leaf({3}), b = c.leaf({2, 2}), d = c.leaf({4});
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(Tensors{a});
  groups.emplace_back(Tensors{b}, std::make_unique<optim::SGDOptions>(optim::SGDOptions(0.5).momentum(0.1)));
  optim::SGD optimizer(groups, optim::SGDOptions(0.1).weight_decay(0.1));
  optimizer.add_param_group(optim::OptimizerParamGroup({d}));
  c.value("groups", static_cast<int64_t>(optimizer.param_groups().size()));
  c.value("size", static_cast<int64_t>(optimizer.size()));
  for (int i = 0; i < 3; ++i) {
    auto& group = optimizer.param_groups()[i];
    c.check(group.has_options(), "a group of an optimizer has options");
    c.value("lr" + std::to_string(i), group.options().get_lr());
    c.value("decay" + std::to_string(i), static_cast<optim::SGDOptions&>(group.options()).weight_decay());
  }
  static_cast<optim::SGDOptions&>(optimizer.param_groups()[0].options()).lr(0.25);
  optimizer.param_groups()[2].options().set_lr(0.75);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    ((a * a).sum() + (b * b * b).sum() + d.sin().sum()).backward();
    optimizer.step();
  }
  record(c, "params", {a, b, d});
  c.value("states", static_cast<int64_t>(optimizer.state().size()));
  const auto& state = static_cast<optim::SGDParamState&>(*optimizer.state().at(b.unsafeGetTensorImpl()));
  c.out("momentum_buffer", state.momentum_buffer());
}

PARITY_CASE(optim, states) {
  auto x = c.leaf({3, 2});
  const Tensor grad = c.randn({3, 2});
  auto step = [&](optim::Optimizer& optimizer) {
    x.mutable_grad() = grad.clone();
    optimizer.step();
    return optimizer.state().at(x.unsafeGetTensorImpl())->clone();
  };
  optim::Adam adam({x}, optim::AdamOptions(0.1).amsgrad(true));
  for (int i = 0; i < 3; ++i) step(adam);
  const auto a = step(adam);
  const auto& s = static_cast<optim::AdamParamState&>(*a);
  c.value("adam.step", s.step());
  c.out("adam.exp_avg", s.exp_avg());
  c.out("adam.exp_avg_sq", s.exp_avg_sq());
  c.out("adam.max_exp_avg_sq", s.max_exp_avg_sq());
  optim::RMSprop rmsprop({x}, optim::RMSpropOptions(0.1).centered(true).momentum(0.5));
  step(rmsprop);
  const auto b = step(rmsprop);
  const auto& r = static_cast<optim::RMSpropParamState&>(*b);
  c.value("rmsprop.step", r.step());
  c.out("rmsprop.square_avg", r.square_avg());
  c.out("rmsprop.grad_avg", r.grad_avg());
  c.out("rmsprop.momentum_buffer", r.momentum_buffer());
  optim::Adagrad adagrad({x}, optim::AdagradOptions(0.1).initial_accumulator_value(0.25));
  c.value("adagrad.states_before", static_cast<int64_t>(adagrad.state().size()));
  const auto g = step(adagrad);
  c.out("adagrad.sum", static_cast<optim::AdagradParamState&>(*g).sum());
  c.out("x", x.detach().clone());
}

PARITY_CASE(optim, layouts) {
  // Parameters and gradients that do not lie contiguous.
  auto run = [&](const std::string& name, Tensor p, const Tensor& grad) {
    c.scope(name, [&] {
      p.requires_grad_();
      optim::AdamW optimizer({p}, optim::AdamWOptions(0.1).amsgrad(true));
      for (int i = 0; i < 3; ++i) {
        p.mutable_grad() = grad;
        optimizer.step();
      }
      c.out("p", p.detach().clone());
      const auto& state = static_cast<optim::AdamWParamState&>(*optimizer.state().at(p.unsafeGetTensorImpl()));
      c.out("exp_avg", state.exp_avg());
      c.out("exp_avg_sq", state.exp_avg_sq());
    });
  };
  run("transposed", c.randn({4, 3}).t(), c.randn({3, 4}));
  run("transposed_grad", c.randn({3, 4}), c.randn({4, 3}).t());
  run("both", c.randn({4, 3}).t(), c.randn({4, 3}).t());
  run("expanded_grad", c.randn({3, 4}), c.randn({1, 4}).expand({3, 4}));
  auto whole = c.randn({6, 4});
  run("strided", whole.slice(0, 0, 6, 2), c.randn({3, 4}));
  c.out("whole", whole.detach());
  run("channels_last", c.randn({2, 3, 4, 5}).contiguous(torch::MemoryFormat::ChannelsLast), c.randn({2, 3, 4, 5}));
  run("empty", c.randn({0, 3}), c.randn({0, 3}));
  run("0d", c.randn({}), c.randn({}));
}

PARITY_CASE(optim, special_values) {
  auto p = c.special().requires_grad_();
  const auto grad = c.special().flip({0}).contiguous();
  optim::Adam adam({p}, optim::AdamOptions(0.1));
  optim::SGD sgd({p}, optim::SGDOptions(0.1).momentum(0.5));
  p.mutable_grad() = grad;
  adam.step();
  c.out("adam", p.detach().clone());
  sgd.step();
  c.out("sgd", p.detach().clone());
}

PARITY_CASE(optim, zero_grad) {
  auto x = c.leaf({3}), unused = c.leaf({2});
  optim::SGD optimizer({x, unused}, 0.1);
  (x * x).sum().backward();
  c.out("grad", x.grad());
  optimizer.zero_grad(/*set_to_none=*/false);
  c.out("zeros", x.grad());
  c.check(!unused.grad().defined(), "no gradient appears");
  optimizer.zero_grad();
  c.check(!x.grad().defined(), "the gradient is gone");
}

PARITY_CASE(optim, save_load) {
  auto make = [&](Tensors& params) {
    return optim::Adam({optim::OptimizerParamGroup({params[0]}),
                        optim::OptimizerParamGroup({params[1]}, std::make_unique<optim::AdamOptions>(0.3))},
                       optim::AdamOptions(0.1).amsgrad(true).betas({0.8, 0.9}));
  };
  auto train = [&](Tensors& params, optim::Optimizer& optimizer) {
    for (int i = 0; i < 4; ++i) {
      optimizer.zero_grad();
      ((params[0] * params[0]).sum() + params[1].sin().sum()).backward();
      optimizer.step();
    }
  };
  Tensors one{c.leaf({3, 2}), c.leaf({4})};
  auto first = make(one);
  train(one, first);
  std::stringstream stream;
  torch::save(first, stream);

  Tensors two{one[0].detach().clone().requires_grad_(), one[1].detach().clone().requires_grad_()};
  auto second = make(two);
  static_cast<optim::AdamOptions&>(second.param_groups()[0].options()).lr(77);
  torch::load(second, stream);
  c.value("lr", second.param_groups()[0].options().get_lr());
  c.value("beta", std::get<0>(static_cast<optim::AdamOptions&>(second.param_groups()[0].options()).betas()));
  train(one, first);
  train(two, second);
  c.check(one[0].equal(two[0]) && one[1].equal(two[1]), "training goes on as if it had not been interrupted");
  record(c, "params", two);

  Tensors three{c.leaf({3, 2})};
  c.throws("groups", [&] {
    optim::Adam other(three, 0.1);
    stream.clear();
    stream.seekg(0);
    torch::load(other, stream);
  });
}

PARITY_CASE(optim, errors) {
  auto x = c.leaf({3});
  c.throws("sgd_lr", [&] { optim::SGD({x}, -1); });
  c.throws("sgd_momentum", [&] { optim::SGD({x}, optim::SGDOptions(1).momentum(-1)); });
  c.throws("sgd_decay", [&] { optim::SGD({x}, optim::SGDOptions(1).weight_decay(-1)); });
  c.throws("sgd_nesterov", [&] { optim::SGD({x}, optim::SGDOptions(1).nesterov(true)); });
  c.throws("sgd_nesterov_dampening",
           [&] { optim::SGD({x}, optim::SGDOptions(1).momentum(0.5).dampening(0.5).nesterov(true)); });
  c.throws("adam_lr", [&] { optim::Adam({x}, -1); });
  c.throws("adam_eps", [&] { optim::Adam({x}, optim::AdamOptions(1).eps(-1)); });
  c.throws("adam_beta0", [&] { optim::Adam({x}, optim::AdamOptions(1).betas({1.0, 0.5})); });
  c.throws("adam_beta1", [&] { optim::Adam({x}, optim::AdamOptions(1).betas({0.5, -0.1})); });
  c.throws("adamw_decay", [&] { optim::AdamW({x}, optim::AdamWOptions(1).weight_decay(-1)); });
  c.throws("rmsprop_alpha", [&] { optim::RMSprop({x}, optim::RMSpropOptions(1).alpha(-1)); });
  c.throws("rmsprop_momentum", [&] { optim::RMSprop({x}, optim::RMSpropOptions(1).momentum(-1)); });
  c.throws("adagrad_lr_decay", [&] { optim::Adagrad({x}, optim::AdagradOptions(1).lr_decay(-1)); });
  c.throws("adagrad_initial", [&] { optim::Adagrad({x}, optim::AdagradOptions(1).initial_accumulator_value(-1)); });
  c.throws("no_leaf", [&] { optim::SGD({x * 2}, 0.1); });
  c.throws("undefined", [&] { optim::SGD({Tensor()}, 0.1); });
  c.throws("twice", [&] {
    optim::SGD optimizer({x}, optim::SGDOptions(0.1).momentum(0.9));
    x.sum().backward();
    optimizer.step();
    optimizer.add_param_group(optim::OptimizerParamGroup({x}));
  });
  c.throws("base_get_lr", [&] { optim::OptimizerOptions().get_lr(); });
  c.throws("base_clone", [&] { optim::OptimizerOptions().clone(); });
}

PARITY_CASE(optim, step_lr) {
  auto x = c.leaf({2}), y = c.leaf({2});
  optim::SGD optimizer(
      {optim::OptimizerParamGroup({x}), optim::OptimizerParamGroup({y}, std::make_unique<optim::SGDOptions>(2.0))},
      optim::SGDOptions(1.0));
  optim::StepLR scheduler(optimizer, 3, 0.5);
  for (int i = 0; i < 12; ++i) {
    scheduler.step();
    for (size_t g = 0; g < 2; ++g)
      c.value("lr" + std::to_string(g) + "_" + std::to_string(i), optimizer.param_groups()[g].options().get_lr());
  }
}

PARITY_CASE(optim, reduce_on_plateau) {
  using Scheduler = optim::ReduceLROnPlateauScheduler;
  auto metrics = c.rand({60}, torch::kFloat, 0.5, 1.0);
  double offset = 0;
  auto run = [&](const std::string& name, auto... arguments) {
    auto x = c.leaf({2});
    optim::Adam optimizer({x}, 1.0);
    Scheduler scheduler(optimizer, arguments...);
    auto lrs = torch::empty({60}, torch::kDouble);
    for (int i = 0; i < 60; ++i) {
      scheduler.step(static_cast<float>(metrics[i].item<float>() + offset));
      lrs[i] = optimizer.param_groups()[0].options().get_lr();
    }
    c.out(name, lrs);
  };
  run("default");
  run("max", Scheduler::max, 0.5f, 3);
  run("rel", Scheduler::min, 0.5f, 2, 0.1, Scheduler::rel, 2);
  run("abs", Scheduler::max, 0.9f, 1, 0.05, Scheduler::abs, 1, std::vector<float>{0.2f});
  run("eps", Scheduler::min, 0.5f, 0, 1e-4, Scheduler::rel, 0, std::vector<float>(), 0.01);
  offset = -0.75;
  run("negative", Scheduler::max, 0.5f, 3);
  c.throws("factor", [&] { run("bad", Scheduler::min, 1.0f); });
  c.throws("min_lrs", [&] {
    run("bad", Scheduler::min, 0.5f, 2, 0.1, Scheduler::rel, 2, std::vector<float>{0.1f, 0.2f});
  });
}
