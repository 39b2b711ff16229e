// Options by their Python names, state dicts, Python's switches.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <sstream>

namespace optim = torch::optim;
using torch::Tensor;

namespace {
Tensor leaf() { return torch::ones({2, 3}).requires_grad_(); }

std::string error_of(const std::function<void()>& fn) {
  try {
    fn();
  } catch (const c10::Error& e) {
    return e.what();
  }
  return "";
}
void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}
}  // namespace

TEST(OptionsByName, ReadAndAssign) {
  optim::AdamW optimizer({leaf()}, optim::AdamWOptions(0.1).amsgrad(true));
  auto& group = optimizer.param_groups()[0];
  const double lr = group["lr"];
  EXPECT_EQ(lr, 0.1);
  group["lr"] = 0.25;
  group["weight_decay"] = 1;  // a whole number does
  group["betas"] = std::make_tuple(0.5, 0.75);
  group["amsgrad"] = false;
  const auto& options = static_cast<const optim::AdamWOptions&>(group.options());
  EXPECT_EQ(options.lr(), 0.25);
  EXPECT_EQ(options.weight_decay(), 1.0);
  EXPECT_EQ(options.betas(), std::make_tuple(0.5, 0.75));
  EXPECT_FALSE(options.amsgrad());
  for (auto& g : optimizer.param_groups()) g["lr"] = g["lr"] * 0.5;
  EXPECT_EQ(options.lr(), 0.125);
  group["lr"] *= 2;
  EXPECT_TRUE(group["lr"] == 0.25);
  EXPECT_TRUE(group.options().has("eps") && !group.options().has("momentum") && !group.options().has("initial_lr"));
  group["initial_lr"] = 3.0;
  EXPECT_EQ(*group.options().initial_lr(), 3.0);
}

TEST(OptionsByName, Errors) {
  optim::SGD optimizer({leaf()}, 0.1);
  auto& group = optimizer.param_groups()[0];
  expect_contains(error_of([&] { group["betas"].value(); }), "'lr', 'momentum'");
  expect_contains(error_of([&] { group["betas"] = 0.5; }), "got 'betas'");
  expect_contains(error_of([&] { group["lr"] = "high"; }), "expected a number for 'lr', got String");
  expect_contains(error_of([&] { group["nesterov"] = 1.0; }), "expected a bool for 'nesterov'");
  expect_contains(error_of([&] { group["initial_lr"].value(); }), "initial_lr");
  EXPECT_EQ(static_cast<const optim::SGDOptions&>(group.options()).lr(), 0.1);
}

namespace {
struct OwnOptions : public optim::OptimizerCloneableOptions<OwnOptions> {
  explicit OwnOptions(double lr) : lr_(lr) {}
  double get_lr() const override { return lr_; }
  void set_lr(const double lr) override { lr_ = lr; }
  double lr_;
};
}  // namespace

TEST(OptionsByName, OptionsOfOnesOwnHaveTheLearningRate) {
  OwnOptions options(0.5);
  optim::OptimizerParamGroup group({leaf()}, std::make_unique<OwnOptions>(options));
  group["lr"] = 0.75;
  EXPECT_EQ(group.options().get_lr(), 0.75);
  EXPECT_THROW(group["momentum"] = 1.0, c10::Error);
}

TEST(PythonSwitches, TakenOrRefused) {
  optim::Adam({leaf()}, optim::AdamOptions(0.1).foreach (true).fused(true).capturable(true).differentiable(false));
  optim::ASGD({leaf()}, optim::ASGDOptions(0.1).foreach (std::nullopt));
  EXPECT_THROW(optim::RAdamOptions(0.1).differentiable(true), c10::Error);
}

TEST(StateDicts, PythonsLayout) {
  Tensor x = leaf(), y = leaf();
  optim::Adam optimizer({optim::OptimizerParamGroup({x}), optim::OptimizerParamGroup({y})}, 0.1);
  optimizer.step({torch::ones({2, 3}), Tensor()});
  const auto dict = optimizer.state_dict().toGenericDict();
  const auto state = dict.at("state").toGenericDict();
  ASSERT_EQ(state.size(), 1u);
  const auto first = state.at(int64_t{0}).toGenericDict();
  EXPECT_EQ(first.at("step").toTensor().item<float>(), 1.0f);
  EXPECT_EQ(first.at("step").toTensor().scalar_type(), torch::kFloat);
  EXPECT_FLOAT_EQ(first.at("exp_avg").toTensor()[1][2].item<float>(), 0.1f);
  const auto& groups = dict.at("param_groups").toListRef();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].toGenericDict().at("lr").toDouble(), 0.1);
  EXPECT_EQ(groups[1].toGenericDict().at("params").toIntVector(), std::vector<int64_t>{1});
}

TEST(StateDicts, ThroughAFile) {
  Tensor x = leaf(), y = leaf();
  optim::SGD one({x}, optim::SGDOptions(0.1).momentum(0.9)), two({y}, optim::SGDOptions(0.5));
  for (int i = 0; i < 3; ++i) one.step({torch::full({2, 3}, 1.0f + static_cast<float>(i))});
  y.detach().copy_(x.detach());
  const auto bytes = torch::pickle_save(one.state_dict());
  two.load_state_dict(torch::pickle_load(bytes));
  one.step({torch::ones({2, 3})});
  two.step({torch::ones({2, 3})});
  EXPECT_TRUE(x.equal(y));
}

TEST(StateDicts, ABadOneChangesNothing) {
  Tensor x = leaf(), y = leaf();
  optim::Adam one({x}, 0.1), two({optim::OptimizerParamGroup({x}), optim::OptimizerParamGroup({y})}, 0.2),
      three({x, y}, 0.3);
  one.step({torch::ones({2, 3})});
  EXPECT_THROW(two.load_state_dict(one.state_dict()), c10::Error);
  EXPECT_THROW(three.load_state_dict(one.state_dict()), c10::Error);
  EXPECT_THROW(one.load_state_dict(c10::IValue(3)), c10::Error);
  EXPECT_THROW(one.load_state_dict(torch::Dict<std::string, c10::IValue>()), c10::Error);
  EXPECT_TRUE(two.state().empty() && three.state().empty());
  EXPECT_EQ(one.state().size(), 1u);
}

TEST(StateDicts, LoadingCopies) {
  Tensor x = leaf(), y = torch::ones({2, 3}, torch::kDouble).requires_grad_();
  optim::Adam one({x}, 0.1), two({y}, 0.1);
  one.step({torch::ones({2, 3})});
  two.load_state_dict(one.state_dict());
  one.step({torch::ones({2, 3})});
  const auto& state = static_cast<optim::AdamParamState&>(*two.state().at(y.unsafeGetTensorImpl()));
  EXPECT_EQ(state.exp_avg().scalar_type(), torch::kDouble);
  EXPECT_NEAR(state.exp_avg()[0][0].item<double>(), 0.1, 1e-7);
  EXPECT_EQ(state.step(), 1);
}

TEST(StepCounters, AreNumbers) {
  optim::AdamParamState state;
  state.step(state.step() + 2);
  state.step() += 1;
  EXPECT_EQ(state.step()++, 3);
  EXPECT_EQ(state.step(), 4);
  int64_t& step = state.step();
  EXPECT_EQ(step, 4);
  *state.step_counter().data(torch::kCPU) = 7;
  EXPECT_EQ(step, 7);
  optim::StepCounter copy = state.step_counter();
  *state.step_counter().data(torch::kCPU) = 8;
  EXPECT_EQ(copy, 7);
  EXPECT_EQ(std::as_const(state).step(), 8);
  state.step(5);
  EXPECT_EQ(step, 5);
}
