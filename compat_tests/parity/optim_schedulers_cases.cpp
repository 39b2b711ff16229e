#include "parity/case.h"

using torch::Tensor;
namespace optim = torch::optim;

PARITY_CASE(optim_schedulers, errors) {
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

PARITY_CASE(optim_schedulers, step_lr) {
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

PARITY_CASE(optim_schedulers, reduce_on_plateau) {
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
