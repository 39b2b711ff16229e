#include <sstream>

#include "parity/case.h"

using parity::Tensors;
using torch::Tensor;
namespace optim = torch::optim;

namespace {

void record(parity::Case& c, const std::string& name, const Tensors& params) {
  for (size_t i = 0; i < params.size(); ++i) c.out(name + ".p" + std::to_string(i), params[i].detach().clone());
}

}  // namespace

PARITY_CASE(optim_states, groups) {
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

PARITY_CASE(optim_states, states) {
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

// Numbers of steps are what C++ takes an int64_t for.
PARITY_CASE(optim_states, step_is_a_number) {
  auto x = c.leaf({2});
  optim::AdamW adam({x}, optim::AdamWOptions(0.1));
  x.mutable_grad() = c.randn({2});
  adam.step();
  auto& s = static_cast<optim::AdamWParamState&>(*adam.state().at(x.unsafeGetTensorImpl()));
  c.value("adam", dynamic_cast<optim::AdamParamState*>(adam.state().at(x.unsafeGetTensorImpl()).get()) != nullptr);
  adam.step();
  int64_t& step = s.step();
  c.value("seen", step);
  c.out("tensor", torch::tensor({s.step()}));
  c.out("full", torch::full({2}, s.step()));
  c.out("scaled", torch::ones({2}) * s.step());
  c.value("scalar", torch::Scalar(s.step()).to<int64_t>());
  c.value("value", c10::IValue(s.step()).toInt());
  c.value("largest", std::max(s.step(), int64_t{5}));
  c.value("either", step > 1 ? s.step() : 0);
  step -= 1;
  --s.step();
  s.step() *= 4;
  s.step() += 100;
  adam.step();
  c.out("x", x.detach().clone());
  s.step(7);
  c.value("set", s.step());
  adam.step();
  c.out("later", x.detach().clone());
}

PARITY_CASE(optim_states, layouts) {
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

PARITY_CASE(optim_states, special_values) {
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

PARITY_CASE(optim_states, zero_grad) {
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

PARITY_CASE(optim_states, save_load) {
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
