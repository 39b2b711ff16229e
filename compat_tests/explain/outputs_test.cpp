// What was done to the output of a function, and differences that nothing known explains.
#include "net.h"
#include "programs.h"

namespace {

using torch::Tensor;

// A trace of one call alone.
std::string record_call(const std::string& name, const std::string& type, const std::vector<Tensor>& inputs,
                        const Tensor& output) {
  torch::nn::Sequential empty;
  Recorder recorder(*empty, "Net");
  recorder.function(type, "", inputs, output);
  return recorder.save(trace_folder(name));
}

Report compare_calls(const std::string& name, const std::string& type, const std::vector<Tensor>& inputs,
                     const Tensor& ref, const Tensor& test) {
  constexpr double kTolerance = 1e-4;  // float16 rounds by less than 1e-3
  return explained(record_call(name + "_ref", type, inputs, ref), record_call(name + "_test", type, inputs, test),
                   kTolerance);
}

std::vector<std::string> causes(const Report& report) {
  std::vector<std::string> list;
  for (const auto& layer : report.layers)
    for (const auto& hint : layer.hints) list.push_back(hint.cause);
  return list;
}
using Causes = std::vector<std::string>;

TEST(Outputs, WhatWasDoneToThemIsNamed) {
  torch::manual_seed(12);
  const Tensor x = torch::randn({6, 5}), w = torch::randn({7, 5}), b = torch::randn({7});
  const Tensor y = torch::linear(x, w, b);
  const auto linear = [&](const char* name, const Tensor& test) {
    const Report report = compare_calls(name, "linear", {x, w, b}, y, test);
    EXPECT_EQ(report.layers.at(0).verdict, Verdict::bug) << describe(report);
    return causes(report);
  };
  EXPECT_EQ(linear("output_scale", y * 3), Causes{"output_scale"});
  EXPECT_EQ(linear("output_relu", torch::relu(y)), Causes{"doubled_activation"});
  EXPECT_EQ(linear("output_half", y.to(torch::kHalf).to(torch::kFloat) * 1.0), Causes{"half_precision"});
  EXPECT_EQ(linear("output_bfloat16", y.to(torch::kBFloat16).to(torch::kFloat)), Causes{"half_precision"});
  const Tensor a = torch::randn({5, 5}), c = torch::randn({5, 5});
  EXPECT_EQ(causes(compare_calls("output_input", "matmul", {a, c}, a.matmul(c), a.t().matmul(c))),
            Causes{"rearranged_input"});
  EXPECT_EQ(causes(compare_calls("output_missing", "relu", {a}, torch::relu(a), a)), Causes{"missing_activation"});
}

// Zeros and whole numbers are exact in half types too.
TEST(Outputs, FewDigitsAreNoHalfPrecision) {
  torch::manual_seed(13);
  const Tensor x = torch::randn({6, 5}), w = torch::randn({7, 5}), b = torch::randn({7});
  const Tensor y = torch::linear(x, w, b);
  EXPECT_EQ(causes(compare_calls("output_zero", "linear", {x, w, b}, y, torch::zeros_like(y))), Causes{"zero"});
  EXPECT_EQ(causes(compare_calls("output_round", "linear", {x, w, b}, y, torch::round(y))), Causes{});
}

TEST(Outputs, NothingIsClaimedOfNoise) {
  torch::manual_seed(14);
  const Tensor x = torch::rand({6, 5}), w = torch::randn({5, 5}), b = torch::randn({5});
  const auto noisy = [](const Tensor& t) { return t + 0.1 * torch::randn_like(t); };
  const Tensor y = torch::linear(x, w, b);
  EXPECT_EQ(causes(compare_calls("noise_linear", "linear", {x, w, b}, y, noisy(y))), Causes{});
  for (const char* type : {"relu", "gelu", "softmax", "sigmoid", "flatten"}) {
    const Tensor out = std::string(type) == "softmax"   ? torch::softmax(x, -1)
                       : std::string(type) == "gelu"    ? torch::gelu(x)
                       : std::string(type) == "relu"    ? torch::relu(x)
                       : std::string(type) == "sigmoid" ? torch::sigmoid(x)
                                                        : x.flatten();
    EXPECT_EQ(causes(compare_calls(std::string("noise_") + type, type, {x}, out, noisy(out))), Causes{}) << type;
  }
}

TEST(Outputs, NothingIsClaimedOfOtherDataAndGradients) {
  Net ref = make_net(), test = make_net();
  const Batch batch = make_batch();
  Batch other = batch;
  other.image = torch::randn_like(batch.image);
  const RunOptions run{true, 0.1};
  const Report inputs = explained(record_run(ref, batch, trace_folder("data_ref"), run),
                                  record_run(test, other, trace_folder("data_test"), run));
  EXPECT_EQ(causes(inputs), Causes{}) << describe(inputs);
  for (const auto& state : inputs.state) EXPECT_TRUE(state.hints.empty()) << describe(inputs);

  Net ref2 = make_net(), test2 = make_net();
  RunOptions noisy = run;
  noisy.after_backward = [](Net& net) {
    for (auto& p : net->parameters()) p.mutable_grad().add_(torch::randn_like(p) * p.grad().abs().max());
  };
  const Report gradients = explained(record_run(ref2, batch, trace_folder("grads_ref"), run),
                                     record_run(test2, batch, trace_folder("grads_test"), noisy));
  EXPECT_FALSE(gradients.agree());
  EXPECT_EQ(causes(gradients), Causes{}) << describe(gradients);
  for (const auto& state : gradients.state) EXPECT_TRUE(state.hints.empty()) << describe(gradients);
}

// A parameter that differs in no way that is known: the layer is cleared, and a note says so.
TEST(Outputs, OtherWeightsAreANote) {
  Net ref = make_net(), test = make_net();
  put(test->head->weight, test->head->weight + torch::randn({10, 24}));
  const Batch batch = make_batch();
  const Report report = explained(record_run(ref, batch, trace_folder("weights_ref"), {false}),
                                  record_run(test, batch, trace_folder("weights_test"), {false}));
  EXPECT_EQ(causes(report), Causes{"weights"}) << describe(report);
  int notes = 0;
  for (const auto& state : report.state) {
    EXPECT_TRUE(state.hints.empty()) << describe(report);
    notes += state.tensor.note.find("no way that is known") != std::string::npos;
  }
  EXPECT_EQ(notes, 1);
}

}  // namespace
