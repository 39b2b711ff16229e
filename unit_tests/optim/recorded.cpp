// 100 steps of every optimizer beside what Python PyTorch 2.11 did: recorded_optim/record.py, whose cases these are.
#include <gtest/gtest.h>

#include <memory>

#include "optim/recorded/recorded.h"

using namespace recorded_optim;

namespace {

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
