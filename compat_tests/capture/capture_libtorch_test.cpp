// hb::capture() on LibTorch: what the trace holds against the same computed by hand from its parameters and masks.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>
#include <filesystem>

#include <halfbridge/capture_libtorch.h>

#include "nets.h"
#include "trace_file.h"

namespace {

using hb::trace::Options;
using torch::Tensor;
using Strings = std::vector<std::string>;

std::string folder(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("halfbridge-capture-" + std::to_string(getpid()) + "-" + name))
      .string();
}

Options steps(const std::string& set) {
  Options options;
  options.steps = set;
  return options;
}

void expect_close(const Tensor& got, const Tensor& expected, const std::string& what) {
  ASSERT_TRUE(got.defined() && expected.defined()) << what;
  ASSERT_EQ(got.sizes(), expected.sizes()) << what;
  EXPECT_LT((got.to(torch::kDouble) - expected.to(torch::kDouble)).abs().max().item<double>(), 2e-6) << what;
}

// One training step of Branch, traced, and the same by hand.
class BranchStep : public testing::Test {
 protected:
  static constexpr double kRate = 0.1;

  void SetUp() override {
    torch::manual_seed(3);
    nets::Branch net;
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(kRate).momentum(0.9));
    x = torch::randn({5, 2, 4, 4}, torch::requires_grad());
    target = torch::tensor({0, 3, 1, 1, 2});
    dir = folder("branch");
    auto trace = hb::capture(*net, dir);
    trace.watch(optimizer);
    for (int step = 0; step < 2; ++step) {  // step 0 alone is recorded
      optimizer.zero_grad();
      torch::nll_loss(net->forward(x), target).backward();
      optimizer.step();
    }
    trace.close();
    file = std::make_unique<TraceFile>(dir);
  }
  void TearDown() override { std::filesystem::remove_all(dir); }

  Tensor parameter(const std::string& path, const std::string& name) const {
    return file->one({{"kind", "parameter"}, {"path", path}, {"name", name}}).value.clone().requires_grad_();
  }
  // The call's records of a kind, in the order of indexes.
  std::vector<Tensor> tensors(int64_t call, const std::string& kind) const {
    std::vector<Tensor> all;
    for (const auto& r : file->find({{"kind", kind}, {"call", call}})) {
      all.resize(std::max(all.size(), static_cast<size_t>(r.number("index")) + 1));
      all[static_cast<size_t>(r.number("index"))] = r.value;
    }
    return all;
  }

  Tensor x, target;
  std::string dir;
  std::unique_ptr<TraceFile> file;
};

TEST_F(BranchStep, NamesCalls) {
  EXPECT_EQ(file->calls(), (Strings{"conv", "norm", "act", "flip()", "add()", "act", "mul()", "pool", "drop", "fc",
                                    "log_softmax()", "nll_loss()"}));
  EXPECT_EQ(file->producer(), "libtorch " TORCH_VERSION);
  EXPECT_EQ(file->end(), "complete");
  const auto conv = file->one({{"kind", "output"}, {"path", "conv"}});
  EXPECT_EQ(conv.text("type"), "Conv2d");
  EXPECT_EQ(conv.text("root"), "Branch");
  EXPECT_EQ(conv.text("config"), "2, 3, kernel_size=[3, 3], stride=[1, 1], padding=[1, 1]");
  EXPECT_EQ(conv.json.at("training"), true);
  for (const auto& r : file->records()) EXPECT_EQ(r.number("step"), 0);
}

TEST_F(BranchStep, ValuesAndGradientsAreThoseOfTheLayers) {
  namespace F = torch::nn::functional;
  const Tensor mask = file->one({{"kind", "mask"}, {"path", "drop"}}).value;
  ASSERT_EQ(mask.scalar_type(), torch::kBool);
  std::vector<std::pair<std::vector<Tensor>, Tensor>> by_hand;  // inputs and output of each call
  const auto call = [&](std::vector<Tensor> inputs, const std::function<Tensor(std::vector<Tensor>&)>& function) {
    // A view for each input, so that it gets this call's share of the gradient.
    for (Tensor& t : inputs) {
      t = t.view(t.sizes());
      if (t.requires_grad()) t.retain_grad();
    }
    Tensor output = function(inputs);
    output.retain_grad();
    by_hand.emplace_back(inputs, output);
    return output;
  };
  const Tensor conv_w = parameter("conv", "weight"), conv_b = parameter("conv", "bias");
  const Tensor norm_w = parameter("norm", "weight"), norm_b = parameter("norm", "bias");
  const Tensor fc_w = parameter("fc", "weight"), fc_b = parameter("fc", "bias"), gain = parameter("", "gain");
  const auto leaf = x.detach().clone().requires_grad_();
  auto y = call({leaf}, [&](auto& in) { return torch::conv2d(in[0], conv_w, conv_b, 1, 1); });
  y = call({y}, [&](auto& in) { return torch::batch_norm(in[0], norm_w, norm_b, {}, {}, true, 0.1, 1e-5, false); });
  y = call({y}, [&](auto& in) { return torch::relu(in[0]); });
  const auto flipped = call({y}, [&](auto& in) { return in[0].flip(3); });
  y = call({y, flipped}, [&](auto& in) { return in[0] + in[1]; });
  y = call({y}, [&](auto& in) { return torch::relu(in[0]); });
  y = call({y, gain}, [&](auto& in) { return in[0] * in[1]; });
  y = call({y}, [&](auto& in) { return torch::max_pool2d(in[0], 2); });
  y = call({y.flatten(1)}, [&](auto& in) { return in[0] * mask.to(torch::kFloat) * 2; });
  y = call({y}, [&](auto& in) { return torch::linear(in[0], fc_w, fc_b); });
  y = call({y}, [&](auto& in) { return torch::log_softmax(in[0], 1); });
  y = call({y, target}, [&](auto& in) { return torch::nll_loss(in[0], in[1]); });
  y.backward();
  for (size_t c = 0; c < by_hand.size(); ++c) {
    const auto number = static_cast<int64_t>(c);
    const std::string what = "call " + std::to_string(c) + ", ";
    const auto inputs = tensors(number, "input"), shares = tensors(number, "grad_input");
    ASSERT_EQ(inputs.size(), by_hand[c].first.size()) << what;
    for (size_t i = 0; i < inputs.size(); ++i) {
      expect_close(inputs[i], by_hand[c].first[i].detach(), what + "input");
      if (inputs[i].is_floating_point()) expect_close(shares.at(i), by_hand[c].first[i].grad(), what + "grad_input");
    }
    expect_close(tensors(number, "output").at(0), by_hand[c].second.detach(), what + "output");
    expect_close(tensors(number, "grad_output").at(0), by_hand[c].second.grad(), what + "grad_output");
  }
  const std::vector<std::tuple<std::string, std::string, Tensor>> all{
      {"conv", "weight", conv_w}, {"conv", "bias", conv_b}, {"norm", "weight", norm_w}, {"norm", "bias", norm_b},
      {"fc", "weight", fc_w},     {"fc", "bias", fc_b},     {"", "gain", gain}};
  for (const auto& [path, name, p] : all) {
    expect_close(file->one({{"kind", "parameter_grad"}, {"path", path}, {"name", name}}).value, p.grad(), path + name);
    expect_close(file->one({{"kind", "updated_parameter"}, {"path", path}, {"name", name}}).value,
                 (p - kRate * p.grad()).detach(), path + name + " after the step");
    expect_close(file->one({{"kind", "optimizer_state"}, {"path", path}, {"name", name + "/momentum_buffer"}}).value,
                 p.grad(), path + name + " momentum");
  }
  const auto mean = file->one({{"kind", "updated_buffer"}, {"path", "norm"}, {"name", "running_mean"}}).value;
  expect_close(mean, 0.1 * tensors(0, "output").at(0).mean({0, 2, 3}), "running_mean");
  EXPECT_EQ(file->find({{"kind", "buffer"}, {"path", "norm"}}).size(), 3u);
}

TEST(CaptureLibtorch, RecurrentEmbeddedAndTied) {
  torch::manual_seed(1);
  nets::Words net;
  const auto ids = torch::randint(11, {4, 3}, torch::kLong);
  const std::string dir = folder("words");
  auto trace = hb::capture(*net, dir);
  torch::nn::CrossEntropyLoss loss;
  loss(net->forward(ids).view({-1, 11}), ids.view(-1)).backward();
  trace.close();
  const TraceFile file(dir);
  EXPECT_EQ(file.calls(), (Strings{"words", "lstm", "steps.0", "steps.1", "steps.3", "steps.4", "steps.5", "head",
                                   "cross_entropy_loss()"}));
  EXPECT_EQ(file.find({{"kind", "input"}, {"path", "lstm"}}).size(), 1u);  // the state of zeros is its own
  EXPECT_EQ(file.find({{"kind", "output"}, {"path", "lstm"}}).size(), 3u);
  EXPECT_EQ(file.one({{"kind", "output"}, {"path", "steps.1"}}).text("type"), "Functional");
  const auto linear = file.one({{"kind", "output"}, {"path", "steps.0"}}).value;  // product and bias are one call
  const auto in = file.one({{"kind", "input"}, {"path", "steps.0"}}).value;
  const auto* first = net->steps[0]->as<torch::nn::Linear>();
  expect_close(linear, torch::linear(in, first->weight, first->bias).detach(), "steps.0");
  expect_close(file.one({{"kind", "grad_input"}, {"path", "steps.0"}}).value,
               file.one({{"kind", "grad_output"}, {"path", "steps.0"}}).value.matmul(first->weight).detach(),
               "steps.0, grad_input");
  // No step followed: gradients are recorded at the end.
  expect_close(file.one({{"kind", "parameter_grad"}, {"path", "steps.0"}, {"name", "weight"}}).value,
               first->weight.grad(), "gradient");
  std::filesystem::remove_all(dir);
}

TEST(CaptureLibtorch, TwoRootsWithoutGradients) {
  auto first = nets::plain(), second = nets::plain();
  first->eval();
  const std::string dir = folder("roots");
  auto trace = hb::capture({*first, *second}, dir);
  const auto x = torch::randn({3, 2, 2});
  {
    torch::NoGradGuard no_grad;
    second->forward(x);
    first->forward(x);
  }
  trace.close();
  const TraceFile file(dir);
  EXPECT_EQ(file.calls(), (Strings{"0", "1", "2", "3", "0", "1", "2", "3"}));
  // Numbered in the order of calls, and each in its own mode.
  EXPECT_EQ(file.find({{"kind", "output"}, {"root", "Sequential"}, {"training", true}}).size(), 4u);
  EXPECT_EQ(file.find({{"kind", "output"}, {"root", "Sequential#2"}, {"training", false}}).size(), 4u);
  EXPECT_EQ(file.find({{"kind", "grad_output"}}).size(), 0u);
  EXPECT_EQ(file.find({{"kind", "parameter"}}).size(), 8u);
  std::filesystem::remove_all(dir);
}

TEST(CaptureLibtorch, RecordsChosenStepsLayersAndKinds) {
  auto net = nets::plain();
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-2));
  const std::string dir = folder("sampled");
  Options options = steps("1-2,4");
  options.layers = "1,3,-3";
  options.kinds = "output,parameter,updated_parameter,optimizer_state";
  auto trace = hb::capture(*net, dir, options);
  trace.watch(optimizer);
  Tensor bias_before_last;
  for (int step = 0; step < 6; ++step) {
    if (step == 4) bias_before_last = net[1]->as<torch::nn::Linear>()->bias.detach().clone();
    net->forward(torch::randn({3, 2, 2})).pow(2).sum().backward();
    optimizer.step();
    optimizer.zero_grad();
  }
  trace.close();
  const TraceFile file(dir);
  for (const auto& r : file.records()) EXPECT_EQ(r.text("path"), "1") << r.json;
  EXPECT_EQ(file.find({{"kind", "output"}}).size(), 3u);
  // Step 2 begins with what step 1 left.
  EXPECT_EQ(file.find({{"kind", "parameter"}, {"step", 1}}).size(), 2u);
  EXPECT_EQ(file.find({{"kind", "parameter"}, {"step", 2}}).size(), 0u);
  EXPECT_EQ(file.find({{"kind", "updated_parameter"}}).size(), 6u);
  const auto bias = file.one({{"kind", "parameter"}, {"step", 4}, {"name", "bias"}}).value;
  expect_close(bias, bias_before_last, "bias at step 4");
  EXPECT_EQ(file.one({{"kind", "optimizer_state"}, {"step", 4}, {"name", "bias/step"}}).value.item<float>(), 5);
  std::filesystem::remove_all(dir);
}

TEST(CaptureLibtorch, StatisticsAlone) {
  auto net = nets::plain();
  const std::string dir = folder("stats");
  Options options;
  options.stats = true;
  auto trace = hb::capture(*net, dir, options);
  const auto y = net->forward(torch::randn({3, 2, 2}));
  trace.close();
  const auto last = TraceFile(dir).one({{"kind", "output"}, {"path", "3"}});
  EXPECT_FALSE(last.value.defined());
  EXPECT_NEAR(last.json.at("stats").at("max").get<double>(), y.max().item<double>(), 1e-6);
  std::filesystem::remove_all(dir);
}

TEST(CaptureLibtorch, TellsStepsOfTwoOptimizersAndOfHandWrittenOnes) {
  torch::nn::Linear first(2, 2), second(2, 2), third(2, 2);
  torch::optim::SGD one(first->parameters(), 0.1), two(second->parameters(), 0.1);
  const std::string dir = folder("steps");
  auto trace = hb::capture({*first, *second, *third}, dir, steps("all"));
  trace.watch(one).watch(two);
  third(second(first(torch::ones({1, 2})))).sum().backward();
  one.step();
  two.step();
  for (auto& p : third->parameters()) p.data().sub_(p.grad() * 0.1);
  const auto weight = first->weight.detach().clone();
  weight.add_(1);  // a copy: no step
  trace.close();
  const TraceFile file(dir);
  const auto step_of = [&](const std::string& root) {
    return file.one({{"kind", "updated_parameter"}, {"root", root}, {"name", "weight"}}).number("step");
  };
  EXPECT_EQ(step_of("Linear"), 0);
  EXPECT_EQ(step_of("Linear#2"), 1);
  EXPECT_EQ(step_of("Linear#3"), 2);
  expect_close(file.one({{"kind", "updated_parameter"}, {"root", "Linear#3"}, {"name", "bias"}}).value,
               third->bias.detach(), "hand-written step");
  std::filesystem::remove_all(dir);
}

TEST(CaptureLibtorch, LeavesNothingBehind) {
  auto net = nets::plain();
  const std::string dir = folder("ended");
  std::weak_ptr<torch::autograd::Node> node;
  {
    auto trace = hb::capture(*net, dir);
    EXPECT_THROW(hb::capture(*net, folder("second")), std::runtime_error);
    const auto loss = net->forward(torch::randn({3, 2, 2})).sum();
    node = loss.grad_fn();
    trace.close();
    EXPECT_FALSE(at::hasCallbacks());
    EXPECT_TRUE(loss.grad_fn()->post_hooks().empty());
    loss.backward();
  }
  EXPECT_TRUE(node.expired());
  EXPECT_TRUE(TraceFile(dir).find({{"kind", "grad_output"}}).empty());
  std::filesystem::remove_all(dir);
  std::filesystem::remove_all(folder("second"));
}

// The trace that the test capture.preload_run made of plain_program.cpp.
TEST(Preload, RecordsAProgramThatNobodyEdited) {
  const char* dir = std::getenv("HALFBRIDGE_PRELOADED_TRACE");
  if (!dir) GTEST_SKIP() << "runs as the test capture.preload";
  const TraceFile file(dir);
  EXPECT_EQ(file.end(), "complete");
  EXPECT_EQ(file.calls(), (Strings{"conv2d()", "relu()", "max_pool2d()", "linear()", "cross_entropy_loss()"}));
  const auto conv = file.find({{"kind", "input"}, {"type", "conv2d"}});
  ASSERT_EQ(conv.size(), 3u);  // weights are inputs
  expect_close(file.one({{"kind", "output"}, {"type", "conv2d"}}).value,
               torch::conv2d(conv[0].value, conv[1].value, conv[2].value), "conv2d");
  EXPECT_EQ(file.find({{"kind", "grad_input"}, {"type", "conv2d"}}).size(), 2u);
  const auto fc = file.find({{"kind", "input"}, {"type", "linear"}});
  ASSERT_EQ(fc.size(), 3u);
  expect_close(file.one({{"kind", "output"}, {"type", "linear"}}).value,
               torch::linear(fc[0].value, fc[1].value, fc[2].value), "linear");
  EXPECT_EQ(file.one({{"kind", "output"}, {"type", "max_pool2d"}}).text("config").substr(0, 15), "kernel_size=[2]");
}

// A trace that halfbridge_capture.py wrote (recorded/record.py), computed again.
TEST(RecordedByPython, HoldsWhatTheNetComputes) {
  const TraceFile file(HALFBRIDGE_RECORDED_TRACE);
  EXPECT_EQ(file.producer().rfind("pytorch 2.11", 0), 0u);
  EXPECT_EQ(file.end(), "complete");
  EXPECT_EQ(file.calls(), (Strings{"", "fc", "norm", "act", "drop", "add()", "pow()", "mean()"}));
  const auto parameter = [&](const char* path, const char* name) {
    return file.one({{"kind", "parameter"}, {"path", path}, {"name", name}}).value.clone().requires_grad_();
  };
  const auto output = [&](const char* path) { return file.one({{"kind", "output"}, {"path", path}}).value; };
  const auto w = parameter("fc", "weight"), b = parameter("fc", "bias");
  const auto scale = parameter("norm", "weight"), shift = parameter("norm", "bias");
  const auto fc = torch::linear(file.one({{"kind", "input"}, {"path", "fc"}}).value, w, b);
  const auto act = torch::relu(torch::batch_norm(fc, scale, shift, {}, {}, true, 0.1, 1e-5, false));
  const auto mask = file.one({{"kind", "mask"}, {"path", "drop"}}).value;
  const auto y = act * mask.to(torch::kFloat) * 2 + act;
  expect_close(output("fc"), fc.detach(), "fc");
  expect_close(output("act"), act.detach(), "act");
  expect_close(output(""), y.detach(), "the net");
  y.pow(2).mean().backward();
  expect_close(file.one({{"kind", "parameter_grad"}, {"path", "fc"}, {"name", "weight"}}).value, w.grad(), "gradient");
  expect_close(file.one({{"kind", "updated_parameter"}, {"path", "fc"}, {"name", "weight"}}).value,
               (w - 0.5 * w.grad()).detach(), "step");
}

}  // namespace
