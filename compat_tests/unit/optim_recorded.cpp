// 100 steps of every optimizer and scheduler beside what Python PyTorch 2.11 did: recorded_optim/record.py, whose cases
// these are.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

namespace optim = torch::optim;
namespace lr_scheduler = torch::optim::lr_scheduler;
using torch::Tensor;
using Tensors = std::vector<Tensor>;
using Dict = c10::Dict<c10::IValue, c10::IValue>;

namespace {

Dict recorded(const std::string& name) {
  std::ifstream file(std::string(HALFBRIDGE_RECORDED_FILES) + "/" + name, std::ios::binary);
  return torch::pickle_load({std::istreambuf_iterator<char>(file), {}}).toGenericDict();
}

Tensors numbers(const std::function<double(int)>& fn, torch::Dtype dtype) {
  int at = 0;
  Tensors tensors;
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{4, 3}, {5}, {2, 2, 2, 2}}) {
    Tensor t = torch::empty(shape, torch::kDouble);
    for (int64_t i = 0; i < t.numel(); ++i) t.data_ptr<double>()[i] = fn(at++);
    tensors.push_back(t.to(dtype));
  }
  return tensors;
}
Tensors params(torch::Dtype dtype) {
  auto all = numbers([](int i) { return std::cos(1.7 * i) + 0.1; }, dtype);
  for (auto& p : all) p.requires_grad_();
  return all;
}
Tensors gradients(int step, torch::Dtype dtype) {
  return numbers([=](int i) { return std::sin(0.37 * step + 0.91 * i) * (1 + 0.5 * std::cos(0.13 * step * (i % 5))); },
                 dtype);
}

/// Largest difference over the largest number.
double difference(const Tensor& got, const Tensor& expected) {
  const Tensor a = got.to(torch::kDouble), b = expected.to(torch::kDouble);
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

constexpr int kKept[] = {1, 10, 50, 100};
using Make = std::function<std::unique_ptr<optim::Optimizer>(Tensors)>;

void check_trajectory(const std::string& name, const Make& make) {
  const Dict cases = recorded("optimizers.pt");
  ASSERT_TRUE(cases.contains(name)) << name;
  for (auto dtype : {torch::kFloat, torch::kDouble}) {
    const Tensor expected = cases.at(name).toGenericDict().at(dtype == torch::kFloat ? "float" : "double").toTensor();
    // Python keeps ASGD's eta and NAdam's product of momenta in float, Halfbridge in double.
    const double in_double = name.find("asgd") == 0 || name.find("nadam") == 0 ? 1e-7 : 1e-12;
    auto own = params(dtype);
    const auto optimizer = make(own);
    int64_t row = 0;
    for (int step = 1; step <= 100; ++step) {
      optimizer->step(gradients(step, dtype));
      if (step != kKept[row]) continue;
      Tensors flat;
      for (const auto& p : own) flat.push_back(p.detach().flatten());
      EXPECT_LE(difference(torch::cat(flat), expected[row]), dtype == torch::kFloat ? 1e-6 : in_double)
          << name << " in " << dtype << " after step " << step;
      ++row;
    }
  }
}

template <class Optimizer, class Options>
void check(const std::string& name, Options options) {
  check_trajectory(name, [=](Tensors p) { return std::make_unique<Optimizer>(std::move(p), options); });
}

}  // namespace

TEST(RecordedOptimizers, Sgd) {
  check<optim::SGD>("sgd", optim::SGDOptions(0.01));
  check<optim::SGD>("sgd_momentum", optim::SGDOptions(0.01).momentum(0.9).dampening(0.3).weight_decay(0.1));
  check<optim::SGD>("sgd_nesterov_maximize",
                    optim::SGDOptions(0.01).momentum(0.8).weight_decay(0.05).nesterov(true).maximize(true));
  check<optim::ASGD>("asgd", optim::ASGDOptions());
  check<optim::ASGD>("asgd_all", optim::ASGDOptions(0.05, 1e-2, 0.6, 20, 0.1).maximize(true));
  check<optim::Rprop>("rprop", optim::RpropOptions());
  check<optim::Rprop>("rprop_all", optim::RpropOptions(0.005, {0.4, 1.3}, {1e-4, 0.02}).maximize(true));
  check<optim::Lion>("lion", optim::LionOptions());
  check<optim::Lion>("lion_all", optim::LionOptions(0.01, {0.8, 0.9}, 0.1));
}

TEST(RecordedOptimizers, Adam) {
  check<optim::Adam>("adam", optim::AdamOptions());
  check<optim::Adam>(
      "adam_all", optim::AdamOptions(0.01).betas({0.8, 0.95}).eps(1e-6).weight_decay(0.1).amsgrad(true).maximize(true));
  check<optim::Adam>("adam_decoupled", optim::AdamOptions(0.01).weight_decay(0.1).decoupled_weight_decay(true));
  check<optim::AdamW>("adamw", optim::AdamWOptions());
  check<optim::AdamW>(
      "adamw_all",
      optim::AdamWOptions(0.02).betas({0.7, 0.9}).eps(1e-5).weight_decay(0.2).amsgrad(true).maximize(true));
  check<optim::Adamax>("adamax", optim::AdamaxOptions());
  check<optim::Adamax>("adamax_all", optim::AdamaxOptions(0.01, {0.8, 0.9}, 1e-4, 0.1).maximize(true));
  check<optim::NAdam>("nadam", optim::NAdamOptions());
  check<optim::NAdam>("nadam_all", optim::NAdamOptions(0.01, {0.8, 0.95}, 1e-6, 0.1, 1e-2).maximize(true));
  check<optim::NAdam>("nadam_decoupled", optim::NAdamOptions(0.01).weight_decay(0.1).decoupled_weight_decay(true));
  check<optim::RAdam>("radam", optim::RAdamOptions());
  check<optim::RAdam>("radam_all", optim::RAdamOptions(0.01, {0.8, 0.95}, 1e-6, 0.1).maximize(true));
  check<optim::RAdam>("radam_decoupled", optim::RAdamOptions(0.01).weight_decay(0.1).decoupled_weight_decay(true));
}

TEST(RecordedOptimizers, Adaptive) {
  check<optim::RMSprop>("rmsprop", optim::RMSpropOptions());
  check<optim::RMSprop>(
      "rmsprop_momentum",
      optim::RMSpropOptions(0.005).alpha(0.9).eps(1e-6).weight_decay(0.1).momentum(0.8).maximize(true));
  check<optim::RMSprop>("rmsprop_centered",
                        optim::RMSpropOptions(0.002).alpha(0.95).eps(1e-3).momentum(0.5).centered(true));
  check<optim::Adagrad>("adagrad", optim::AdagradOptions());
  check<optim::Adagrad>(
      "adagrad_all",
      optim::AdagradOptions(0.1).lr_decay(0.01).weight_decay(0.1).initial_accumulator_value(0.5).eps(1e-6).maximize(
          true));
  check<optim::Adadelta>("adadelta", optim::AdadeltaOptions());
  check<optim::Adadelta>("adadelta_all", optim::AdadeltaOptions(0.5, 0.8, 1e-4, 0.1).maximize(true));
  check<optim::Adafactor>("adafactor", optim::AdafactorOptions());
  check<optim::Adafactor>("adafactor_all", optim::AdafactorOptions(0.05, -0.5, {1e-6, 1e-2}, 1.5, 0.1).maximize(true));
  check<optim::LAMB>("lamb", optim::LAMBOptions());
  check<optim::LAMB>("lamb_all", optim::LAMBOptions(0.02, {0.8, 0.95}, 1e-4, 0.1));
}

TEST(RecordedOptimizers, Lbfgs) {
  const Dict cases = recorded("optimizers.pt");
  for (bool wolfe : {false, true}) {
    Tensor x = torch::tensor({-1.2, 1.0}, torch::kDouble).requires_grad_();
    auto options = optim::LBFGSOptions(wolfe ? 1.0 : 1e-3).max_iter(wolfe ? 2 : 1);
    if (wolfe)
      options.max_eval(100).line_search_fn("strong_wolfe");
    else
      options.history_size(5);
    optim::LBFGS optimizer({x}, options);
    const Tensor expected = cases.at(wolfe ? "lbfgs_wolfe" : "lbfgs").toGenericDict().at("double").toTensor();
    int64_t row = 0;
    for (int step = 1; step <= 100; ++step) {
      optimizer.step([&] {
        optimizer.zero_grad();
        const Tensor a = 1 - x[0], b = x[1] - x[0] * x[0], loss = a * a + 100 * b * b;
        loss.backward();
        return loss;
      });
      if (step != kKept[row]) continue;
      EXPECT_LE(difference(x.detach(), expected[row]), 1e-6) << wolfe << " after step " << step;
      ++row;
    }
  }
}

namespace {

using Scheduler = std::shared_ptr<optim::LRScheduler>;
using MakeScheduler = std::function<Scheduler(optim::Optimizer&)>;

template <class T, class... Args>
MakeScheduler make(Args... args) {
  return [=](optim::Optimizer& o) { return std::make_shared<T>(o, args...); };
}

const std::map<std::string, MakeScheduler>& schedulers() {
  using Lists = std::vector<double>;
  using Lambdas = std::vector<optim::LRLambda>;
  static const std::map<std::string, MakeScheduler> all{
      {"lambda", make<lr_scheduler::LambdaLR>([](int64_t e) { return std::pow(0.95, e); })},
      {"lambda_list", make<lr_scheduler::LambdaLR>(Lambdas{[](int64_t e) { return 1.0 / static_cast<double>(1 + e); },
                                                           [](int64_t e) { return std::pow(0.9, e); }})},
      {"multiplicative", make<lr_scheduler::MultiplicativeLR>([](int64_t e) { return e % 2 ? 0.98 : 0.99; })},
      {"step", make<lr_scheduler::StepLR>(7, 0.8)},
      {"multi_step", make<lr_scheduler::MultiStepLR>(std::vector<int64_t>{5, 30, 30, 80}, 0.5)},
      {"constant", make<lr_scheduler::ConstantLR>()},
      {"constant_all", make<lr_scheduler::ConstantLR>(0.25, 40)},
      {"linear", make<lr_scheduler::LinearLR>()},
      {"linear_all", make<lr_scheduler::LinearLR>(1.0, 0.1, 60)},
      {"exponential", make<lr_scheduler::ExponentialLR>(0.96)},
      {"polynomial", make<lr_scheduler::PolynomialLR>()},
      {"polynomial_all", make<lr_scheduler::PolynomialLR>(70, 2.0)},
      {"cosine", make<lr_scheduler::CosineAnnealingLR>(30)},
      {"cosine_all", make<lr_scheduler::CosineAnnealingLR>(12, 0.05)},
      {"restarts", make<lr_scheduler::CosineAnnealingWarmRestarts>(10)},
      {"restarts_all", make<lr_scheduler::CosineAnnealingWarmRestarts>(7, 2, 0.01)},
      {"cyclic", make<lr_scheduler::CyclicLR>(0.01, 0.1, 15)},
      {"cyclic_2", make<lr_scheduler::CyclicLR>(Lists{0.01, 0.02}, Lists{0.1, 0.3}, 10, 20, "triangular2", 1.0, nullptr,
                                                "cycle", true, 0.7, 0.95)},
      {"cyclic_exp",
       make<lr_scheduler::CyclicLR>(0.01, 0.1, 8, std::nullopt, "exp_range", 0.97, nullptr, "cycle", false)},
      {"cyclic_fn", make<lr_scheduler::CyclicLR>(
                        0.01, 0.1, 8, 12, "triangular", 1.0, [](double x) { return 1 / (1 + x); }, "iterations")},
      {"one_cycle", make<lr_scheduler::OneCycleLR>(0.5, 100)},
      {"one_cycle_all", make<lr_scheduler::OneCycleLR>(Lists{0.5, 0.8}, std::nullopt, 20, 6, 0.4, "linear", true, 0.8,
                                                       0.9, 10.0, 100.0, true)},
      {"swa", make<torch::optim::swa_utils::SWALR>(0.05)},
      {"swa_all", make<torch::optim::swa_utils::SWALR>(Lists{0.05, 0.9}, 40, "linear")},
      {"sequential",
       [](optim::Optimizer& o) {
         return std::make_shared<lr_scheduler::SequentialLR>(
             o,
             std::vector<Scheduler>{std::make_shared<lr_scheduler::LinearLR>(o, 0.1, 1.0, 10),
                                    std::make_shared<lr_scheduler::CosineAnnealingLR>(o, 50, 0.01),
                                    std::make_shared<lr_scheduler::ExponentialLR>(o, 0.9)},
             std::vector<int64_t>{10, 60});
       }},
      {"chained",
       [](optim::Optimizer& o) {
         return std::make_shared<lr_scheduler::ChainedScheduler>(
             std::vector<Scheduler>{std::make_shared<lr_scheduler::ConstantLR>(o, 0.1, 20),
                                    std::make_shared<lr_scheduler::ExponentialLR>(o, 0.97)});
       }},
      {"plateau", make<lr_scheduler::ReduceLROnPlateau>()},
      {"plateau_all", make<lr_scheduler::ReduceLROnPlateau>("max", 0.5, 3, 0.05, "abs", 2, Lists{0.01, 0.001}, 1e-6)},
  };
  return all;
}

template <class Options>
std::vector<optim::OptimizerParamGroup> two_groups(Options second) {
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(Tensors{torch::ones({1}).requires_grad_()});
  groups.emplace_back(Tensors{torch::ones({1}).requires_grad_()}, std::make_unique<Options>(second));
  return groups;
}
std::unique_ptr<optim::Optimizer> sgd() {
  return std::make_unique<optim::SGD>(two_groups(optim::SGDOptions(0.5).momentum(0.6)),
                                      optim::SGDOptions(0.2).momentum(0.6));
}

void step(optim::LRScheduler& scheduler, int epoch) {
  if (auto* plateau = dynamic_cast<lr_scheduler::ReduceLROnPlateau*>(&scheduler))
    plateau->step(std::sin(0.4 * epoch) / epoch);
  else
    scheduler.step();
}

/// Learning rates and momenta of both groups.
std::vector<double> row(optim::Optimizer& optimizer) {
  std::vector<double> values;
  for (auto& group : optimizer.param_groups()) values.push_back(group["lr"]);
  for (auto& group : optimizer.param_groups())
    values.push_back(group.options().has("momentum") ? group["momentum"].toDouble()
                                                     : group["betas"].value().toTupleRef().elements()[0].toDouble());
  return values;
}

void check_schedule(const std::string& name, const MakeScheduler& make, std::unique_ptr<optim::Optimizer> optimizer) {
  const Dict cases = recorded("schedulers.pt");
  ASSERT_TRUE(cases.contains(name)) << name;
  const Tensor expected = cases.at(name).toTensor();
  const auto scheduler = make(*optimizer);
  for (int epoch = 0; epoch <= 100; ++epoch) {
    if (epoch > 0) step(*scheduler, epoch);
    const auto got = row(*optimizer);
    for (size_t i = 0; i < got.size(); ++i) {
      const double wanted = expected[epoch][static_cast<int64_t>(i)].item<double>();
      EXPECT_NEAR(got[i], wanted, 1e-12 + 1e-10 * std::abs(wanted)) << name << " epoch " << epoch << " column " << i;
    }
  }
}

}  // namespace

TEST(RecordedSchedulers, HundredEpochs) {
  for (const auto& [name, make] : schedulers()) check_schedule(name, make, sgd());
  check_schedule("one_cycle_adam", schedulers().at("one_cycle"),
                 std::make_unique<optim::Adam>(two_groups(optim::AdamOptions(0.5)), optim::AdamOptions(0.2)));
}

// Stopped in the middle and gone on with from what was saved, as if nothing had happened.
TEST(RecordedSchedulers, GoOnAfterLoading) {
  for (const auto& [name, make] : schedulers()) {
    const Tensor expected = recorded("schedulers.pt").at(name).toTensor();
    for (bool file : {false, true}) {
      auto optimizer = sgd(), second = sgd();
      auto scheduler = make(*optimizer), other = make(*second);
      for (int epoch = 1; epoch <= 37; ++epoch) step(*scheduler, epoch);
      if (file) {
        std::stringstream scheduler_file, optimizer_file;
        torch::save(*scheduler, scheduler_file);
        torch::save(*optimizer, optimizer_file);
        torch::load(*other, scheduler_file);
        torch::load(*second, optimizer_file);
      } else {
        other->load_state_dict(scheduler->state_dict());
        second->load_state_dict(optimizer->state_dict());
      }
      for (int epoch = 38; epoch <= 100; ++epoch) {
        step(*other, epoch);
        EXPECT_NEAR(row(*second)[1], expected[epoch][1].item<double>(), 1e-10) << name << " epoch " << epoch;
      }
    }
  }
}

// A checkpoint of Python's: optimizer and scheduler go on as they did there.
TEST(RecordedStateDict, FromPython) {
  const Dict file = recorded("state_dict.pt");
  Tensors own;
  for (const auto& p : file.at("params").toListRef()) own.push_back(p.toTensor().clone().requires_grad_());
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(Tensors{own[0]});
  groups.emplace_back(Tensors{own[1], own[2]});
  optim::AdamW optimizer(groups, 1.0);
  lr_scheduler::StepLR scheduler(optimizer, 9, 0.1);
  optimizer.load_state_dict(file.at("optimizer"));
  scheduler.load_state_dict(file.at("scheduler"));
  EXPECT_EQ(scheduler.last_epoch(), 3);
  EXPECT_TRUE(static_cast<optim::AdamWOptions&>(optimizer.param_groups()[1].options()).amsgrad());
  for (int step = 4; step < 8; ++step) {
    optimizer.step(gradients(step, torch::kFloat));
    scheduler.step();
  }
  const auto& after = file.at("after").toListRef();
  for (size_t i = 0; i < own.size(); ++i) EXPECT_LE(difference(own[i].detach(), after[i].toTensor()), 1e-6);
}
