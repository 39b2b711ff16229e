// Schedulers that LibTorch has only in Python, against their closed forms.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <array>
#include <cmath>

namespace optim = torch::optim;
using torch::Tensor;

namespace {

struct Groups {
  Groups()
      : optimizer(
            std::vector<optim::OptimizerParamGroup>{
                optim::OptimizerParamGroup({torch::ones({1}).requires_grad_()}),
                optim::OptimizerParamGroup({torch::ones({1}).requires_grad_()},
                                           std::make_unique<optim::SGDOptions>(0.5))},
            optim::SGDOptions(2.0)) {}
  double lr(size_t group) { return optimizer.param_groups()[group].options().get_lr(); }
  optim::SGD optimizer;
};

/// Checks 40 epochs of both groups against factor(epoch) * base_lr + offset(epoch).
template <class Make>
void check(
    const Make& make, const std::function<double(int)>& factor,
    const std::function<double(int)>& offset = [](int) { return 0.0; }) {
  Groups groups;
  auto scheduler = make(groups.optimizer);
  for (int epoch = 0; epoch < 40; ++epoch) {
    EXPECT_EQ(scheduler.last_epoch(), epoch);
    EXPECT_NEAR(groups.lr(0), 2.0 * factor(epoch) + offset(epoch), 1e-12) << "epoch " << epoch;
    EXPECT_NEAR(groups.lr(1), 0.5 * factor(epoch) + offset(epoch), 1e-12) << "epoch " << epoch;
    EXPECT_EQ(scheduler.get_last_lr()[1], groups.lr(1));
    scheduler.step();
  }
}

const double kPi = std::acos(-1.0);

}  // namespace

TEST(Schedulers, Lambda) {
  check([](auto& o) { return optim::LambdaLR(o, [](int64_t e) { return 1.0 / (1 + e); }); },
        [](int e) { return 1.0 / (1 + e); });
  check([](auto& o) { return optim::MultiplicativeLR(o, [](int64_t) { return 0.95; }); },
        [](int e) { return std::pow(0.95, e); });
  Groups groups;
  optim::LambdaLR two(groups.optimizer,
                      std::vector<optim::LRLambda>{[](int64_t) { return 3.0; }, [](int64_t) { return 4.0; }});
  EXPECT_EQ(groups.lr(0), 6.0);
  EXPECT_EQ(groups.lr(1), 2.0);
  EXPECT_THROW(optim::LambdaLR(groups.optimizer, std::vector<optim::LRLambda>{[](int64_t) { return 1.0; }}),
               c10::Error);
}

TEST(Schedulers, Steps) {
  check(
      [](auto& o) {
        return optim::MultiStepLR(o, {3, 10, 10, 25}, 0.5);
      },
      [](int e) { return std::pow(0.5, (e >= 3) + 2 * (e >= 10) + (e >= 25)); });
  check([](auto& o) { return optim::ExponentialLR(o, 0.9); }, [](int e) { return std::pow(0.9, e); });
  check([](auto& o) { return optim::ConstantLR(o); }, [](int e) { return e < 5 ? 1.0 / 3 : 1.0; });
}

TEST(Schedulers, Lines) {
  check([](auto& o) { return optim::LinearLR(o); }, [](int e) { return e < 5 ? 1.0 / 3 + 2.0 / 3 * e / 5 : 1.0; });
  check([](auto& o) { return optim::LinearLR(o, 1.0, 0.1, 20); },
        [](int e) { return 1.0 - 0.9 * std::min(e, 20) / 20; });
  check([](auto& o) { return optim::PolynomialLR(o, 10, 2.0); },
        [](int e) { return std::pow(1 - std::min(e, 10) / 10.0, 2); });
  Groups groups;
  EXPECT_THROW(optim::LinearLR(groups.optimizer, 0.0), c10::Error);
  EXPECT_THROW(optim::ConstantLR(groups.optimizer, 1.5), c10::Error);
}

TEST(Schedulers, Cosines) {
  for (double low : {0.0, 0.1}) {
    const auto curve = [=](double at) { return (1 + std::cos(kPi * at)) / 2; };
    check([=](auto& o) { return optim::CosineAnnealingLR(o, 7, low); }, [=](int e) { return curve(e / 7.0); },
          [=](int e) { return low * (1 - curve(e / 7.0)); });
    check([=](auto& o) { return optim::CosineAnnealingWarmRestarts(o, 6, 1, low); },
          [=](int e) { return curve(e % 6 / 6.0); }, [=](int e) { return low * (1 - curve(e % 6 / 6.0)); });
    const auto growing = [=](int e) {
      return e < 4 ? e / 4.0 : e < 12 ? (e - 4) / 8.0 : e < 28 ? (e - 12) / 16.0 : (e - 28) / 32.0;
    };
    check([=](auto& o) { return optim::CosineAnnealingWarmRestarts(o, 4, 2, low); },
          [=](int e) { return curve(growing(e)); }, [=](int e) { return low * (1 - curve(growing(e))); });
  }
}

TEST(Schedulers, Chained) {
  Groups groups;
  auto warm_up = std::make_shared<optim::ConstantLR>(groups.optimizer, 0.1, 2);
  auto decay = std::make_shared<optim::ExponentialLR>(groups.optimizer, 0.9);
  optim::ChainedScheduler chained({warm_up, decay});
  for (int epoch = 0; epoch < 6; ++epoch) {
    EXPECT_NEAR(groups.lr(0), 2.0 * (epoch < 2 ? 0.1 : 1.0) * std::pow(0.9, epoch), 1e-12);
    chained.step();
  }
  EXPECT_THROW(optim::ChainedScheduler({}), c10::Error);
}

TEST(Schedulers, OnesOwn) {
  class Halving : public optim::EpochScheduler {
   public:
    explicit Halving(optim::Optimizer& optimizer) : EpochScheduler(optimizer) { start(); }

   protected:
    double get_lr(double, double base_lr, size_t) const override { return base_lr / std::pow(2.0, last_epoch()); }
  };
  check([](auto& o) { return Halving(o); }, [](int e) { return std::pow(0.5, e); });
}

TEST(Schedulers, LastEpochGoesOn) {
  Groups groups;
  EXPECT_THROW(optim::ExponentialLR(groups.optimizer, 0.5, 3), c10::Error);
  optim::ExponentialLR first(groups.optimizer, 0.5);
  for (int i = 0; i < 3; ++i) first.step();
  optim::ExponentialLR second(groups.optimizer, 0.5, first.last_epoch() - 1);
  EXPECT_EQ(second.last_epoch(), 3);
  second.step();
  EXPECT_NEAR(groups.lr(0), 2.0 / 16, 1e-12);
  // To an epoch, by the closed form.
  second.step(1);
  EXPECT_NEAR(groups.lr(1), 0.25, 1e-12);
  EXPECT_THROW(second.step(-1), c10::Error);
}

TEST(Schedulers, MomentaAreCycled) {
  Groups groups;  // SGD without momentum has the option all the same
  optim::OneCycleLR scheduler(groups.optimizer, 1.0, 10, std::nullopt, std::nullopt, 0.5);
  EXPECT_DOUBLE_EQ(groups.optimizer.param_groups()[0]["momentum"], 0.95);
  for (int i = 0; i < 4; ++i) scheduler.step();
  EXPECT_DOUBLE_EQ(groups.optimizer.param_groups()[1]["momentum"], 0.85);
  EXPECT_NEAR(groups.lr(1), 1.0, 1e-12);
  for (int i = 0; i < 6; ++i) scheduler.step();
  EXPECT_THROW(scheduler.step(), c10::Error);
  Tensor x = torch::ones({1}).requires_grad_();
  optim::Adagrad without({x}, 0.1);
  EXPECT_THROW(optim::OneCycleLR(without, 1.0, 10), c10::Error);
  EXPECT_NO_THROW(
      optim::OneCycleLR(without, 1.0, 10, std::nullopt, std::nullopt, 0.3, "cos", /*cycle_momentum=*/false));
  EXPECT_THROW(optim::OneCycleLR(groups.optimizer, 1.0), c10::Error);
  EXPECT_THROW(optim::CyclicLR(groups.optimizer, 0.1, {1.0, 2.0, 3.0}), c10::Error);
  EXPECT_THROW(optim::CyclicLR(groups.optimizer, 0.1, 1.0, 5, 5, "square"), c10::Error);
  EXPECT_THROW(optim::SWALR(groups.optimizer, 0.1, 3, "square"), c10::Error);
  EXPECT_THROW(optim::ReduceLROnPlateau(groups.optimizer, "least"), c10::Error);
  EXPECT_THROW(optim::ReduceLROnPlateau(groups.optimizer, "min", 1.0), c10::Error);
}

TEST(Schedulers, SequencesRefuseWhatTheyCannotStep) {
  Groups groups, others;
  using List = std::vector<std::shared_ptr<optim::LRScheduler>>;
  const auto own = [&] { return std::make_shared<optim::ExponentialLR>(groups.optimizer, 0.9); };
  EXPECT_THROW(optim::SequentialLR(groups.optimizer, List{own(), own()}, {}), c10::Error);
  EXPECT_THROW(optim::SequentialLR(others.optimizer, List{own()}, {}), c10::Error);
  EXPECT_THROW(optim::SequentialLR(groups.optimizer,
                                   List{own(), std::make_shared<optim::ReduceLROnPlateau>(groups.optimizer)}, {3}),
               c10::Error);
  EXPECT_THROW(
      optim::SequentialLR(groups.optimizer, List{own(), std::make_shared<optim::StepLR>(groups.optimizer, 3)}, {3}),
      c10::Error);
}

// LibTorch's StepLR changes one step later than Python's.
TEST(Schedulers, BothCountsOfStepLR) {
  Groups cpp, python;
  optim::StepLR late(cpp.optimizer, 3, 0.5);
  optim::lr_scheduler::StepLR early(python.optimizer, 3, 0.5);
  for (int i = 0; i < 3; ++i) late.step(), early.step();
  EXPECT_EQ(cpp.lr(0), 2.0);
  EXPECT_EQ(python.lr(0), 1.0);
  late.step();
  EXPECT_EQ(cpp.lr(0), 1.0);
}

// What Python 2.11 gives after each batch: within an epoch, into later periods, and back.
TEST(Schedulers, WarmRestartsTakeFractionsOfEpochs) {
  Groups groups;
  optim::CosineAnnealingWarmRestarts restarts(groups.optimizer, 5, 2, 0.01);
  const auto expected = [](double since, double length) {
    return 0.01 + (2.0 - 0.01) * (1 + std::cos(kPi * since / length)) / 2;
  };
  const std::vector<std::array<double, 3>> points{{0.25, 0.25, 5}, {4.75, 4.75, 5},  {5, 0, 10},  {7.5, 2.5, 10},
                                                  {15, 0, 20},     {34.5, 19.5, 20}, {35, 0, 40}, {2.5, 2.5, 5}};
  for (const auto& [epoch, since, length] : points) {
    restarts.step(epoch);
    EXPECT_NEAR(groups.lr(0), expected(since, length), 1e-12) << epoch;
    EXPECT_EQ(restarts.last_epoch(), std::floor(epoch));
  }
  // On from there in whole epochs; its state goes along.
  restarts.step();
  EXPECT_NEAR(groups.lr(0), expected(3.5, 5), 1e-12);
  Groups others;
  optim::CosineAnnealingWarmRestarts resumed(others.optimizer, 5, 2, 0.01);
  resumed.load_state_dict(restarts.state_dict());
  restarts.step(), resumed.step(), restarts.step(), resumed.step();
  EXPECT_NEAR(groups.lr(0), expected(0.5, 10), 1e-12);
  EXPECT_EQ(others.lr(0), groups.lr(0));
  EXPECT_THROW(restarts.step(-1.0), c10::Error);
  optim::ExponentialLR whole(groups.optimizer, 0.9);
  EXPECT_THROW(whole.step(1.5), c10::Error);
}

TEST(Schedulers, PlateauFollowsGroupsThatJoin) {
  for (const bool list : {false, true}) {
    Groups groups;
    optim::ReduceLROnPlateau plateau(groups.optimizer, "min", 0.1, 1, 1e-4, "rel", 0,
                                     list ? optim::GroupValues({0.3, 0.3}) : optim::GroupValues(0.3));
    plateau.step(1.0), plateau.step(1.0);
    groups.optimizer.add_param_group(optim::OptimizerParamGroup({torch::ones({1}).requires_grad_()}));
    if (list) {
      EXPECT_THROW(plateau.step(1.0), c10::Error);
    } else {
      plateau.step(1.0);
      EXPECT_NEAR(groups.lr(2), 0.3, 1e-12);
    }
  }
}

// The phases are part of the state: a cycle of another length goes on as the one that was saved.
TEST(Schedulers, OneCycleTakesOverTheSavedPhases) {
  Groups groups, others;
  optim::OneCycleLR saved(groups.optimizer, 1.0, 40, std::nullopt, std::nullopt, 0.25, "linear", false, 0.85, 0.95,
                          25.0, 1e4, true);
  optim::OneCycleLR loaded(others.optimizer, 1.0, 10, std::nullopt, std::nullopt, 0.5, "cos", false);
  for (int i = 0; i < 7; ++i) saved.step();
  loaded.load_state_dict(saved.state_dict());
  for (int i = 0; i < 32; ++i) {
    saved.step(), loaded.step();
    ASSERT_EQ(others.lr(0), groups.lr(0)) << i;
  }
}
