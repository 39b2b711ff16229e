// 100 epochs of every scheduler beside what Python PyTorch 2.11 did: recorded_optim/record.py, whose cases these are.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <sstream>

#include "optim/recorded/recorded.h"

using namespace recorded_optim;
namespace lr_scheduler = torch::optim::lr_scheduler;

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
