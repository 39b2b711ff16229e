// Mistakes that show in gradients and in steps of optimizers alone.
#include "programs.h"

namespace {

namespace nn = torch::nn;
using hb::layer_diff::Kind;
using torch::Tensor;

template <class Optimizer, class Options>
Program training(const Options& right, const Options& wrong_options) {
  return [=](bool wrong) {
    auto net = std::make_shared<Parts>();
    auto fc = net->add("fc", nn::Linear(12, 10)), last = net->add("last", nn::Linear(10, 3));
    train_a_little(*net);
    Optimizer optimizer(net->parameters(), wrong ? wrong_options : right);
    const Tensor x = torch::randn({16, 12}), y = torch::randint(0, 3, {16}, torch::kLong);
    for (int step = 0; step < 3; ++step) {
      optimizer.zero_grad();
      nn::functional::cross_entropy(last(torch::tanh(fc(x))), y).backward();
      optimizer.step();
    }
  };
}

struct WrongStep {
  const char* name;
  const char* cause;
  int64_t step;  // in which it shows first
  Program program;
};
void PrintTo(const WrongStep& wrong, std::ostream* stream) { *stream << wrong.name; }

std::vector<WrongStep> wrong_steps() {
  using namespace torch::optim;
  const auto sgd = [](SGDOptions right, SGDOptions wrong) { return training<SGD>(right, wrong); };
  const auto adam = [](AdamOptions right, AdamOptions wrong) { return training<Adam>(right, wrong); };
  const auto adamw = [](AdamWOptions right, AdamWOptions wrong) { return training<AdamW>(right, wrong); };
  using Betas = std::tuple<double, double>;
  const SGDOptions looking = SGDOptions(0.1).momentum(0.9);
  return {
      {"sgd_lr", "lr", 0, sgd({1e-4}, {1e-5})},  // far below the tolerance of values
      {"sgd_weight_decay", "weight_decay", 0, sgd({1e-2}, SGDOptions(1e-2).weight_decay(1e-4))},
      {"sgd_momentum", "momentum", 1, sgd(looking, SGDOptions(0.1).momentum(0.99))},
      {"sgd_no_momentum", "momentum", 1, sgd(looking, {0.1})},
      {"sgd_dampening", "dampening", 1, sgd(looking, SGDOptions(0.1).momentum(0.9).dampening(0.5))},
      {"sgd_momentum_and_decay", "weight_decay", 0, sgd(looking, SGDOptions(0.1).momentum(0.9).weight_decay(1e-2))},
      {"sgd_nesterov", "lr", 0, sgd(looking, SGDOptions(0.1).momentum(0.9).nesterov(true))},
      {"adam_lr", "lr", 0, adam({1e-3}, {2e-3})},
      {"adam_beta1", "beta1", 0, adam({1e-3}, AdamOptions(1e-3).betas(Betas{0.8, 0.999}))},
      {"adam_beta2", "beta2", 0, adam({1e-3}, AdamOptions(1e-3).betas(Betas{0.9, 0.99}))},
      {"adam_eps", "eps", 0, adam({1e-3}, AdamOptions(1e-3).eps(1e-4))},
      {"adam_weight_decay", "weight_decay", 0, adam({1e-3}, AdamOptions(1e-3).weight_decay(1e-2))},
      {"adamw_weight_decay", "weight_decay", 0,
       adamw(AdamWOptions(1e-3).weight_decay(1e-2), AdamWOptions(1e-3).weight_decay(0.1))},
      {"amsgrad_lr", "lr", 0, adam(AdamOptions(1e-3).amsgrad(true), AdamOptions(3e-3).amsgrad(true))},
      {"adam_for_adamw", "optimizer", 0,
       [](bool wrong) {
         if (wrong)
           training<Adam>(AdamOptions(1e-2).weight_decay(0.1), AdamOptions(1e-2))(false);
         else
           training<AdamW>(AdamWOptions(1e-2).weight_decay(0.1), AdamWOptions(1e-2))(false);
       }},
      {"sgd_for_adam", "optimizer", 0,
       [](bool wrong) {
         if (wrong)
           training<SGD>(SGDOptions(1e-2), SGDOptions(1e-2))(false);
         else
           training<Adam>(AdamOptions(1e-2), AdamOptions(1e-2))(false);
       }},
  };
}

class OneWrongStep : public testing::TestWithParam<WrongStep> {};

// Every hint of the first step that has one is of the cause: nothing else is claimed.
TEST_P(OneWrongStep, IsNamedWithItsCause) {
  const WrongStep& wrong = GetParam();
  const Report report = compare_programs(std::string("step_of_") + wrong.name, wrong.program);
  ASSERT_FALSE(report.agree());
  ASSERT_TRUE(report.first_state.has_value()) << describe(report);
  EXPECT_EQ(report.state[static_cast<size_t>(*report.first_state)].step, wrong.step) << describe(report);
  int hints = 0;
  for (const auto& state : report.state) {
    if (state.step != wrong.step) continue;
    for (const auto& hint : state.hints) EXPECT_EQ(hint.cause, wrong.cause) << describe(report);
    hints += state.kind == Kind::updated_parameter || state.kind == Kind::optimizer_state ? !state.hints.empty() : 0;
  }
  EXPECT_GT(hints, 0) << describe(report);
}
INSTANTIATE_TEST_SUITE_P(Explain, OneWrongStep, testing::ValuesIn(wrong_steps()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(OneWrongStep, NothingIsNamedWithoutIt) {
  const Program& program = GetParam().program;
  const Report report =
      compare_programs(std::string("right_step_of_") + GetParam().name, [&](bool) { program(false); });
  EXPECT_TRUE(report.agree()) << describe(report);
  for (const auto& state : report.state) EXPECT_TRUE(state.hints.empty()) << describe(report);
}

std::string first_state_cause(const Report& report) {
  if (!report.first_state) return "nothing";
  const auto& state = report.state[static_cast<size_t>(*report.first_state)];
  return state.path + "." + state.name + " " + (state.hints.empty() ? "-" : state.hints[0].cause);
}

TEST(Explain, PaddingIdxShowsInTheGradient) {
  const Report report = compare_programs("padding_idx", [](bool wrong) {
    auto net = std::make_shared<Parts>();
    auto embedding = net->add("embedding", nn::Embedding(nn::EmbeddingOptions(6, 4).padding_idx(wrong ? 1 : 0)));
    auto fc = net->add("fc", nn::Linear(4, 2));
    put(embedding->weight, torch::randn({6, 4}));
    fc(embedding(torch::tensor({{0, 1, 2}, {3, 0, 1}}))).square().mean().backward();
  });
  ASSERT_FALSE(report.agree());
  ASSERT_TRUE(report.first_backward.has_value());
  const auto& layer = report.layers[static_cast<size_t>(*report.first_backward)];
  EXPECT_EQ(layer.ref->path, "embedding") << describe(report);
  ASSERT_FALSE(layer.hints.empty()) << describe(report);
  EXPECT_EQ(layer.hints[0].cause, "padding_idx") << describe(report);
}

struct HeadImpl : nn::Module {
  explicit HeadImpl(const Tensor& shared) : weight(register_parameter("weight", shared)) {}
  Tensor forward(const Tensor& x) { return torch::linear(x, weight); }
  Tensor weight;
};
TORCH_MODULE(Head);

TEST(Explain, TiedWeightsThatAreNot) {
  const Report report = compare_programs("tied", [](bool wrong) {
    auto net = std::make_shared<Parts>();
    auto embedding = net->add("embedding", nn::Embedding(6, 4));
    auto out = net->add("out", Head(wrong ? embedding->weight.detach().clone() : embedding->weight));
    out->forward(torch::tanh(embedding(torch::tensor({{0, 1, 2}, {3, 0, 1}})))).square().mean().backward();
  });
  ASSERT_FALSE(report.agree());
  EXPECT_EQ(first_state_cause(report), "embedding.weight untied_weights") << describe(report);
}

TEST(Explain, DetachedBranch) {
  const Report report = compare_programs("detached_branch", [](bool wrong) {
    auto net = std::make_shared<Parts>();
    auto a = net->add("a", nn::Linear(8, 8)), b = net->add("b", nn::Linear(8, 8)), c = net->add("c", nn::Linear(8, 8));
    const Tensor x = a(torch::randn({4, 8}));
    const Tensor h = torch::relu(b(x));
    c(wrong ? x + h.detach() : x + h).square().mean().backward();
  });
  ASSERT_FALSE(report.agree());
  ASSERT_TRUE(report.first_backward.has_value()) << describe(report);
  const auto& layer = report.layers[static_cast<size_t>(*report.first_backward)];
  EXPECT_EQ(layer.ref->path, "b") << describe(report);
  ASSERT_FALSE(layer.hints.empty()) << describe(report);
  EXPECT_EQ(layer.hints[0].cause, "detached") << describe(report);
}

}  // namespace
