// One fault of each kind in one layer of a network: the layer is named first and the cause is the first hint. Without a
// fault nothing is named.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include <halfbridge/diff/explain.h>

#include "net.h"
#include "programs.h"

namespace {

struct Fault {
  const char* name;
  const char* layer;  // the path to be named
  const char* cause;
  std::function<void(Net&, Batch&)> put_in;
  Verdict verdict = Verdict::bug;
  double tolerance = 1e-3;
};

void PrintTo(const Fault& fault, std::ostream* stream) { *stream << fault.name; }

torch::Tensor gates(const torch::Tensor& w, std::vector<int64_t> order) {
  auto parts = w.chunk(static_cast<int64_t>(order.size()), 0);
  std::vector<torch::Tensor> chosen;
  for (int64_t i : order) chosen.push_back(parts[static_cast<size_t>(i)]);
  return torch::cat(chosen, 0);
}
void set(torch::Tensor& parameter, const torch::Tensor& value) {
  torch::NoGradGuard no_grad;
  parameter.copy_(value.clone());
}

const std::vector<Fault> kFaults = {
    {"eps", "bn1", "eps", [](Net& n, Batch&) { n->bn1->options.eps(1e-3); }},
    {"eps_of_layer_norm", "norm3", "eps", [](Net& n, Batch&) { n->norm3->options.eps(3e-2); }},
    {"forgotten_eval", "bn1", "training_mode", [](Net& n, Batch&) { n->bn1->train(); }},
    {"dropout_on", "drop", "training_mode", [](Net& n, Batch&) { n->drop->train(); }},
    {"padding", "pool2", "count_include_pad", [](Net& n, Batch&) { n->pool2->options.count_include_pad(false); }},
    {"padding_mode", "conv2", "padding_mode",
     [](Net& n, Batch&) { n->conv2->options.padding_mode(torch::kReplicate); }},
    {"transposed_weight", "fc2", "transposed_weight", [](Net& n, Batch&) { set(n->fc2->weight, n->fc2->weight.t()); }},
    {"flatten_order", "fc1", "permuted_weight",
     [](Net& n, Batch&) {
       set(n->fc1->weight, n->fc1->weight.view({32, 8, 16}).transpose(1, 2).reshape({32, 128}));
     }},
    {"swapped_channels_of_kernel", "conv2", "transposed_weight",
     [](Net& n, Batch&) { set(n->conv2->weight, n->conv2->weight.transpose(0, 1)); }},
    {"lstm_gates", "lstm", "permuted_weight",
     [](Net& n, Batch&) {
       for (auto& p : n->lstm->parameters()) set(p, gates(p, {0, 2, 1, 3}));
     }},
    {"gru_gates", "gru", "permuted_weight",
     [](Net& n, Batch&) {
       for (auto& p : n->gru->parameters()) set(p, gates(p, {1, 0, 2}));
     }},
    {"missing_bias", "head", "missing_bias", [](Net& n, Batch&) { set(n->head->bias, torch::zeros({10})); }},
    {"not_loaded", "head", "not_loaded",
     [](Net& n, Batch&) {
       torch::manual_seed(99);
       n->head->reset_parameters();
     }},
    {"shifted_keys", "bn1", "shifted_keys",
     [](Net& n, Batch&) {
       set(n->bn1->weight, n->norm2->weight);
       set(n->bn1->bias, n->norm2->bias);
     }},
    {"scaled_weight", "head", "scaled_weight", [](Net& n, Batch&) { set(n->head->weight, n->head->weight * 2); }},
    {"negative_slope", "act3", "negative_slope", [](Net& n, Batch&) { n->act3->options.negative_slope(0.2); }},
    {"odd_negative_slope", "act3", "negative_slope", [](Net& n, Batch&) { n->act3->options.negative_slope(0.137); }},
    {"hidden_slope", "act3", "negative_slope",
     [](Net& n, Batch&) {
       n->act3->options.negative_slope(0.137);
       n->printed["act3"] = "negative_slope=0.01";
     }},
    {"hidden_eps", "bn1", "eps",
     [](Net& n, Batch&) {
       n->bn1->options.eps(2.5e-3);
       n->printed["bn1"] = "8, eps=1e-05";
     }},
    {"gelu_tanh", "act2", "approximate", [](Net& n, Batch&) { n->act2->options.approximate("tanh"); }, Verdict::bug,
     1e-4},
    {"align_corners", "up", "align_corners", [](Net& n, Batch&) { n->up->options.align_corners(true); }},
    {"softmax_dim", "softmax", "dim", [](Net& n, Batch&) { n->softmax->options.dim(0); }},
    {"reduction", "loss", "reduction", [](Net& n, Batch&) { n->loss->options.reduction(torch::kSum); }},
    {"rgb_bgr", "conv1", "input_channels", [](Net&, Batch& b) { b.image = b.image.flip({1}); }, Verdict::inherited},
    {"divided_by_255", "conv1", "input_scale", [](Net&, Batch& b) { b.image = b.image / 255; }, Verdict::inherited},
    {"mean_and_deviation", "conv1", "input_scale",
     [](Net&, Batch& b) {
       b.image = (b.image - torch::tensor({0.485, 0.456, 0.406}).view({3, 1, 1})) /
                 torch::tensor({0.229, 0.224, 0.225}).view({3, 1, 1});
     },
     Verdict::inherited},
    {"transposed_input", "conv1", "transposed_input", [](Net&, Batch& b) { b.image = b.image.transpose(2, 3); },
     Verdict::inherited},
    {"inplace", "side", "inplace", [](Net& n, Batch&) { n->act4->options.inplace(true); }, Verdict::inherited},
    {"missing_activation", "gru", "missing_activation", [](Net& n, Batch&) { n->without_tanh = true; },
     Verdict::inherited},
};

class OneFault : public testing::TestWithParam<Fault> {};

TEST_P(OneFault, IsNamedWithItsCause) {
  const Fault& fault = GetParam();
  Net ref = make_net(), test = make_net();
  Batch batch = make_batch(), other = make_batch();
  fault.put_in(test, other);
  const RunOptions run{false};
  const Report report =
      explained(record_run(ref, batch, trace_folder(std::string(fault.name) + "_ref"), run),
                record_run(test, other, trace_folder(std::string(fault.name) + "_test"), run), fault.tolerance);
  ASSERT_FALSE(report.agree());
  ASSERT_TRUE(report.first_forward.has_value()) << describe(report);
  const auto& layer = report.layers[static_cast<size_t>(*report.first_forward)];
  ASSERT_NE(layer.ref, nullptr);
  EXPECT_EQ(layer.ref->path, fault.layer) << describe(report);
  EXPECT_EQ(layer.verdict, fault.verdict) << describe(report);
  ASSERT_FALSE(layer.hints.empty()) << describe(report);
  EXPECT_EQ(layer.hints[0].cause, fault.cause) << describe(report);
  for (const auto& later : report.layers) {
    const bool other = later.id != layer.id && later.ref;
    if (other) {
      EXPECT_NE(later.verdict, Verdict::bug) << describe(report);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Explain, OneFault, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

// Faults of the backward pass and of the optimizer's step: forward agrees.
std::string state_cause(const Report& report, const std::string& path, const std::string& name,
                        hb::layer_diff::Kind kind) {
  for (const auto& state : report.state)
    if (state.path == path && state.name == name && state.kind == kind && !state.hints.empty())
      return state.hints[0].cause;
  return "none";
}

struct StepFault {
  const char* name;
  RunOptions run;
  const char* path;
  const char* parameter;
  hb::layer_diff::Kind kind;
  const char* cause;
};

TEST(Explain, NamesFaultsOfGradientsAndSteps) {
  using hb::layer_diff::Kind;
  const auto scale = [](const char* path, double factor) {
    return [path = std::string(path), factor](Net& net) {
      for (auto& item : net->named_parameters())
        if (item.key() == path) item.value().mutable_grad().mul_(factor);
    };
  };
  const RunOptions ref_run{true, 0.1, 0.01, 100};
  RunOptions negated = ref_run, detached = ref_run, scaled = ref_run, lr = ref_run, decay = ref_run;
  negated.after_backward = scale("fc1.weight", -1);
  detached.after_backward = scale("fc1.weight", 0);
  scaled.loss_factor = 102400;
  lr.lr = 0.2;
  decay.weight_decay = 0.2;
  const StepFault faults[] = {
      {"sign", negated, "fc1", "weight", Kind::parameter_grad, "gradient_sign"},
      {"detached", detached, "fc1", "weight", Kind::parameter_grad, "detached"},
      {"loss_scale", scaled, "head", "weight", Kind::parameter_grad, "gradient_scale"},
      {"lr", lr, "conv1", "weight", Kind::updated_parameter, "lr"},
      {"weight_decay", decay, "conv1", "weight", Kind::updated_parameter, "weight_decay"},
  };
  for (const StepFault& fault : faults) {
    SCOPED_TRACE(fault.name);
    Net ref = make_net(), test = make_net();
    const Batch batch = make_batch();
    const std::string name = std::string("step_") + fault.name;
    const Report report = explained(record_run(ref, batch, trace_folder(name + "_ref"), ref_run),
                                    record_run(test, batch, trace_folder(name + "_test"), fault.run));
    EXPECT_FALSE(report.agree());
    EXPECT_FALSE(report.first_forward.has_value());
    EXPECT_EQ(state_cause(report, fault.path, fault.parameter, fault.kind), fault.cause) << describe(report);
  }
}

TEST(Explain, NamesTheMomentumOfRunningStatistics) {
  Net ref = make_net(), test = make_net();
  ref->bn1->train();
  test->bn1->train();
  test->bn1->options.momentum(0.9);
  const Batch batch = make_batch();
  const RunOptions run{true, 0.1};
  const Report report = explained(record_run(ref, batch, trace_folder("momentum_ref"), run),
                                  record_run(test, batch, trace_folder("momentum_test"), run));
  EXPECT_FALSE(report.agree());
  EXPECT_FALSE(report.first_forward.has_value()) << describe(report);
  EXPECT_EQ(state_cause(report, "bn1", "running_mean", hb::layer_diff::Kind::updated_buffer), "momentum")
      << describe(report);
}

// The layer with the fault passes; one after it, which magnifies, fails.
TEST(Explain, BlamesALayerThatPasses) {
  Net ref = make_net(), test = make_net();
  for (Net* net : {&ref, &test}) set((*net)->fc1->weight, (*net)->fc1->weight * 100);
  test->act2->options.approximate("tanh");
  const Batch batch = make_batch();
  const Report report = explained(record_run(ref, batch, trace_folder("silent_ref"), {false}),
                                  record_run(test, batch, trace_folder("silent_test"), {false}));
  ASSERT_TRUE(report.first_forward.has_value());
  const auto& layer = report.layers[static_cast<size_t>(*report.first_forward)];
  EXPECT_EQ(layer.ref->path, "act2") << describe(report);
  EXPECT_TRUE(layer.outputs_pass);
  EXPECT_EQ(layer.verdict, Verdict::bug) << describe(report);
  ASSERT_FALSE(layer.hints.empty());
  EXPECT_EQ(layer.hints[0].cause, "approximate");
}

// Rounding of the input that a layer magnifies is rounding.
TEST(Explain, GrownRoundingIsRounding) {
  Net ref = make_net(), test = make_net();
  for (Net* net : {&ref, &test}) set((*net)->fc2->bias, (*net)->fc2->bias + 2e4);  // norm3 takes it off again
  test->nudge = 2e-7;
  const Batch batch = make_batch();
  const Report report = explained(record_run(ref, batch, trace_folder("grown_ref"), {false}),
                                  record_run(test, batch, trace_folder("grown_test"), {false}));
  ASSERT_FALSE(report.agree());
  for (const auto& layer : report.layers)
    if (layer.ref) {
      EXPECT_NE(layer.verdict, Verdict::bug) << describe(report);
    }
  EXPECT_EQ(report.layers[static_cast<size_t>(*report.first_forward)].verdict, Verdict::rounding) << describe(report);
}

// The same values in other places: means and norms are equal.
TEST(Explain, EqualMeansAreNotEnough) {
  Net ref = make_net(), test = make_net();
  set(test->embedding->weight, test->embedding->weight.flip({1}));
  const Batch batch = make_batch();
  const Report report = explained(record_run(ref, batch, trace_folder("means_ref"), {false}),
                                  record_run(test, batch, trace_folder("means_test"), {false}));
  ASSERT_TRUE(report.first_forward.has_value());
  EXPECT_EQ(report.layers[static_cast<size_t>(*report.first_forward)].ref->path, "embedding") << describe(report);
}

TEST(Explain, NamesNothingWithoutAFault) {
  Net ref = make_net(), test = make_net();
  const Batch batch = make_batch();
  const RunOptions run{true, 0.1};
  Report report = explained(record_run(ref, batch, trace_folder("same_ref"), run),
                            record_run(test, batch, trace_folder("same_test"), run));
  EXPECT_TRUE(report.agree()) << describe(report);
  EXPECT_FALSE(report.first_forward.has_value());
  for (const auto& layer : report.layers) {
    if (layer.ref && layer.test) {
      EXPECT_EQ(layer.verdict, Verdict::exact) << describe(report);
    }
    EXPECT_TRUE(layer.hints.empty());
  }
  hb::layer_diff::ExplainOptions all;
  all.all_layers = true;
  hb::layer_diff::explain(report, all);
  for (const auto& layer : report.layers) EXPECT_NE(layer.verdict, Verdict::bug) << describe(report);
}

// HALFBRIDGE_BUNDLES names the folder whose programs diff.bundle_* build and run.
TEST(Bundle, WritesPrograms) {
  Net ref = make_net(), test = make_net();
  test->conv2->options.padding_mode(torch::kReplicate);
  Batch batch = make_batch();
  batch.image.requires_grad_(true);
  const Report report = explained(record_run(ref, batch, trace_folder("bundle_ref"), {}),
                                  record_run(test, batch, trace_folder("bundle_test"), {}));
  const char* given = std::getenv("HALFBRIDGE_BUNDLES");
  const std::string place = given ? given : trace_folder("bundles");
  std::filesystem::remove_all(place);
  ASSERT_TRUE(hb::layer_diff::layer_for_bundle(report).has_value());
  hb::layer_diff::write_bundle(report, *hb::layer_diff::layer_for_bundle(report), place + "/first");
  std::ifstream readme(place + "/first/README.md");
  const std::string text((std::istreambuf_iterator<char>(readme)), {});
  EXPECT_NE(text.find("Net conv2 (Conv2d)"), std::string::npos) << text;
  EXPECT_NE(text.find("padding_mode"), std::string::npos) << text;
  int written = 0;
  for (const auto& layer : report.layers) {
    if (!layer.ref) continue;
    const std::string name = layer.ref->has_path ? layer.ref->path : layer.ref->type;
    ASSERT_NO_THROW(hb::layer_diff::write_bundle(report, layer.id, place + "/" + name)) << name;
    for (const char* file : {"CMakeLists.txt", "main.cpp", "README.md", "output_0.bin"})
      EXPECT_TRUE(std::filesystem::exists(place + "/" + name + "/" + file)) << name << " " << file;
    ++written;
  }
  EXPECT_EQ(written, 25);
  EXPECT_THROW(hb::layer_diff::write_bundle(report, 1000, place + "/none"), hb::Error);
  // Query, key and value are one tensor: LibTorch then computes otherwise, and has one gradient for the three.
  const Report attention = compare_programs("bundle_attention", [](bool wrong) {
    auto net = std::make_shared<Parts>();
    auto layer = net->add("attention", torch::nn::MultiheadAttention(8, wrong ? 4 : 2));
    train_a_little(*net);
    const torch::Tensor x = torch::randn({5, 2, 8}).requires_grad_(true);
    std::get<0>(layer(x, x, x)).square().mean().backward();
  });
  ASSERT_TRUE(hb::layer_diff::layer_for_bundle(attention).has_value()) << describe(attention);
  hb::layer_diff::write_bundle(attention, *hb::layer_diff::layer_for_bundle(attention), place + "/self_attention");
  EXPECT_TRUE(std::filesystem::exists(place + "/self_attention/grad_input_0.bin"));
  EXPECT_FALSE(std::filesystem::exists(place + "/self_attention/input_1.bin"));
}

}  // namespace
