// What a session records of a program that runs under it, and that the program does not notice.

#include <torch/torch.h>

#include <sstream>
#include <thread>

#include <halfbridge/trace/debug.h>
#include <halfbridge/trace/session.h>

#include "trace_files.h"

namespace {

using hb::trace::Session;
using hb::trace::SessionOptions;
using torch::Tensor;
using trace_files::fresh_folder;
using trace_files::Trace;

SessionOptions all_steps() {
  SessionOptions options;
  options.steps = "all";
  return options;
}

struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(int64_t width)
      : fc(register_module("fc", torch::nn::Linear(width, width))),
        norm(register_module("norm", torch::nn::BatchNorm1d(width))) {}
  Tensor forward(const Tensor& x) { return torch::relu(norm(fc(x))) + x; }
  torch::nn::Linear fc;
  torch::nn::BatchNorm1d norm;
};
TORCH_MODULE(Block);

struct NetImpl : torch::nn::Module {
  NetImpl()
      : first(register_module("first", torch::nn::Linear(4, 8))),
        blocks(register_module("blocks", torch::nn::Sequential(Block(8), Block(8)))),
        dropout(register_module("dropout", torch::nn::Dropout(0.5))),
        last(register_module("last", torch::nn::Linear(8, 3))) {
    scale = register_parameter("scale", torch::ones({8}));
  }
  Tensor forward(const Tensor& x) { return last(dropout(blocks->forward(first(x) * scale))); }
  torch::nn::Linear first;
  torch::nn::Sequential blocks;
  torch::nn::Dropout dropout;
  torch::nn::Linear last;
  Tensor scale;
};
TORCH_MODULE(Net);

struct Training {
  Net net;
  torch::optim::Adam optimizer;
  Tensor x, y, loss;
  Training() : optimizer((torch::manual_seed(1), net = Net(), net->parameters()), 0.01) {
    x = torch::randn({5, 4}), y = torch::tensor({0, 1, 2, 1, 0});
  }
  void step() {
    optimizer.zero_grad();
    loss = torch::nn::functional::cross_entropy(net->forward(x), y);
    loss.backward();
    optimizer.step();
  }
};

TEST(TraceSession, TheProgramComputesTheSameBits) {
  Training plain, traced;
  for (int i = 0; i < 3; ++i) plain.step();
  torch::manual_seed(1);
  Training again;
  {
    Session session(fresh_folder(), {again.net.ptr()}, all_steps());
    for (int i = 0; i < 3; ++i) again.step();
    EXPECT_EQ(session.step(), 3);
  }
  EXPECT_TRUE(again.loss.equal(plain.loss));
  const auto p = plain.net->parameters(), q = again.net->parameters();
  for (size_t i = 0; i < p.size(); ++i) EXPECT_TRUE(p[i].equal(q[i])) << i;
}

TEST(TraceSession, RecordsEveryKindOfOneStep) {
  Training t;
  const Tensor weight = t.net->last->weight.detach().clone(),
               mean = t.net->blocks[0]->as<Block>()->norm->running_mean.clone();
  const std::string folder = fresh_folder();
  {
    Session session(folder, {t.net.ptr()}, SessionOptions());
    t.step(), t.step();
  }
  const Trace trace = trace_files::read(folder);
  EXPECT_EQ(trace.end(), "complete");
  for (const auto& r : trace.records) EXPECT_EQ(r.number("step"), 0) << r.name;
  // The root's own forward is a plain member call; its functions are seen.
  const std::vector<std::string> calls = {"Linear", "mul",   "Linear",  "BatchNorm1d", "relu",
                                          "add",    "Block", "Linear",  "BatchNorm1d", "relu",
                                          "add",    "Block", "Dropout", "Linear",      "cross_entropy_loss"};
  EXPECT_EQ(trace.calls(), calls);

  const auto in = trace.only("input", "last"), out = trace.only("output", "last");
  EXPECT_EQ(in.json.at("root"), "Net");
  EXPECT_EQ(in.json.at("training"), true);
  EXPECT_EQ(in.json.at("config"), "in_features=8, out_features=3, bias=true");
  EXPECT_EQ(in.number("call"), out.number("call"));
  EXPECT_TRUE(torch::nn::functional::linear(in.tensor, weight, trace.only("parameter", "last", "bias").tensor)
                  .equal(out.tensor));
  EXPECT_TRUE(trace.only("parameter", "last", "weight").tensor.equal(weight));
  // What the dropout returned is what the layer was given, and stands in the file once.
  EXPECT_EQ(in.json.at("same_as"), trace.only("output", "dropout").name);

  const Tensor grad_out = trace.only("grad_output", "last").tensor;
  EXPECT_TRUE(grad_out.t().mm(in.tensor).allclose(trace.only("parameter_grad", "last", "weight").tensor));
  EXPECT_TRUE(trace.only("grad_input", "last").tensor.equal(grad_out.mm(weight)));
  const Tensor mask = trace.only("mask", "dropout").tensor;
  EXPECT_EQ(mask.scalar_type(), torch::kBool);
  EXPECT_TRUE((trace.only("input", "dropout").tensor * mask * 2).equal(trace.only("output", "dropout").tensor));

  EXPECT_TRUE(trace.only("buffer", "blocks.0.norm", "running_mean").tensor.equal(mean));
  EXPECT_FALSE(trace.only("updated_buffer", "blocks.0.norm", "running_mean").tensor.equal(mean));
  EXPECT_EQ(trace.of("parameter").size(), t.net->parameters().size());
  EXPECT_EQ(trace.of("parameter_grad").size(), t.net->parameters().size());
  EXPECT_EQ(trace.of("updated_parameter").size(), t.net->parameters().size());
  const Tensor avg = trace.only("optimizer_state", "last", "weight/exp_avg").tensor;
  EXPECT_TRUE(avg.allclose(trace.only("parameter_grad", "last", "weight").tensor * 0.1));
  EXPECT_EQ(trace.only("parameter", "", "scale").json.at("type"), "Net");
}

// A residual's input has two users; each has its share.
TEST(TraceSession, GradientsAreTheCallsOwnShare) {
  Training t;
  const std::string folder = fresh_folder();
  {
    Session session(folder, {t.net.ptr()}, SessionOptions());
    t.step();
  }
  const Trace trace = trace_files::read(folder);
  const Tensor block_in = trace.only("grad_input", "blocks.0").tensor,
               fc_in = trace.only("grad_input", "blocks.0.fc").tensor;
  const Tensor block_out = trace.only("grad_output", "blocks.0").tensor;
  EXPECT_TRUE((fc_in + block_out).allclose(block_in));
  EXPECT_FALSE(fc_in.allclose(block_in));
  // Functions: relu of the first block.
  for (const auto& r : trace.of("grad_input", "-")) {
    if (r.type() != "relu") continue;
    Tensor in, g;
    for (const auto& o : trace.records) {
      if (o.number("call") != r.number("call")) continue;
      if (o.kind() == "input") in = o.tensor;
      if (o.kind() == "grad_output") g = o.tensor;
    }
    ASSERT_TRUE(in.defined() && g.defined());
    EXPECT_TRUE(r.tensor.equal(g * (in > 0)));
  }
}

TEST(TraceSession, NoGradAndEvalAreRecordedToo) {
  Training t;
  const std::string folder = fresh_folder();
  {
    Session session(folder, {t.net.ptr()}, SessionOptions());
    t.net->eval();
    torch::NoGradGuard no_grad;
    const Tensor unrelated = torch::rand({3}) * 2;  // takes nothing of the network
    torch::log_softmax(t.net->forward(t.x), 1);
  }
  const Trace trace = trace_files::read(folder);
  EXPECT_EQ(trace.calls().back(), "log_softmax");
  EXPECT_EQ(trace.calls().front(), "Linear");
  const auto calls = trace.calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "relu"), 2);
  EXPECT_TRUE(trace.of("grad_input").empty());
  EXPECT_TRUE(trace.of("mask").empty());
  EXPECT_EQ(trace.only("output", "last").json.at("training"), false);
}

TEST(TraceSession, StepsLayersAndKindsAreChosen) {
  Training t;
  const std::string folder = fresh_folder();
  {
    SessionOptions options;
    options.steps = "1,3", options.layers = "blocks.*,-*.norm", options.kinds = "output,parameter_grad";
    Session session(folder, {t.net.ptr()}, options);
    for (int i = 0; i < 5; ++i) t.step();
  }
  const Trace trace = trace_files::read(folder);
  EXPECT_FALSE(trace.records.empty());
  for (const auto& r : trace.records) {
    EXPECT_TRUE(r.number("step") == 1 || r.number("step") == 3) << r.name;
    EXPECT_TRUE(r.kind() == "output" || r.kind() == "parameter_grad") << r.name;
    if (r.path() != "-") {
      EXPECT_EQ(r.path().rfind("blocks.", 0), 0u) << r.name;
      EXPECT_EQ(r.path().find("norm"), std::string::npos) << r.name;
    }
  }
}

TEST(TraceSession, ConsecutiveStepsHoldParametersOnce) {
  Training t;
  const std::string folder = fresh_folder();
  {
    Session session(folder, {t.net.ptr()}, all_steps());
    t.step(), t.step();
    t.net->first->bias.data().add_(1);  // not by an optimizer
    t.step();
  }
  const Trace trace = trace_files::read(folder);
  EXPECT_EQ(trace.of("updated_parameter").size(), 3 * t.net->parameters().size());
  EXPECT_EQ(trace.of("parameter", "last").size(), 2u);
}

struct SharedImpl : torch::nn::Module {
  struct HeadImpl : torch::nn::Module {
    explicit HeadImpl(const Tensor& shared) : weight(register_parameter("weight", shared)) {}
    Tensor forward(const Tensor& x) { return x.matmul(weight); }
    Tensor weight;
  };
  TORCH_MODULE(Head);
  SharedImpl()
      : twice(register_module("twice", torch::nn::Linear(4, 4))),
        a(register_module("a", Head(torch::randn({4, 4})))),
        b(register_module("b", Head(a->weight))) {}
  Tensor forward(const Tensor& x) { return b(torch::tanh(twice(a(twice(x))))); }
  torch::nn::Linear twice;
  Head a, b;
};
TORCH_MODULE(Shared);

TEST(TraceSession, SharedModulesTiedWeightsAndASecondRoot) {
  const std::string folder = fresh_folder();
  {
    Session session(folder, {}, all_steps());  // modules that are made from now on
    Shared one, two;
    torch::optim::SGD optimizer(one->parameters(), 0.1);
    const Tensor x = torch::randn({2, 4});
    (one->forward(x) + two->forward(x)).sum().backward();
    optimizer.step();
  }
  const Trace trace = trace_files::read(folder);
  const auto outputs = trace.of("output", "twice");
  ASSERT_EQ(outputs.size(), 4u);
  EXPECT_EQ(outputs[0].json.at("root"), "Shared");
  EXPECT_EQ(outputs[2].json.at("root"), "Shared#2");
  EXPECT_NE(outputs[0].number("call"), outputs[1].number("call"));
  EXPECT_FALSE(outputs[0].tensor.equal(outputs[1].tensor));
  EXPECT_EQ(trace.of("grad_output", "twice").size(), 4u);
  // The parameter of both heads, held once.
  size_t updated = 0;
  for (const auto& r : trace.of("updated_parameter"))
    if (r.what() == "weight" && r.path() != "twice") ++updated;
  EXPECT_EQ(updated, 2u);
  EXPECT_TRUE(trace.only("updated_parameter", "b").json.contains("same_as"));
  // No step of an optimizer followed these.
  const auto grads = trace.of("parameter_grad");
  EXPECT_TRUE(std::any_of(grads.begin(), grads.end(), [](const auto& r) { return r.json.at("root") == "Shared#2"; }));
  const auto calls = trace.calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "matmul"), 4);
}

TEST(TraceSession, CheckpointedFunctionsAreCalledOnce) {
  const auto run = [](bool checkpointed, const std::string& folder) {
    torch::manual_seed(3);
    torch::nn::Sequential net(torch::nn::Linear(4, 4), torch::nn::ReLU(), torch::nn::Dropout(0.5),
                              torch::nn::Linear(4, 2));
    Session session(folder, {net.ptr()}, SessionOptions());
    const Tensor x = torch::randn({3, 4});
    const auto forward = [&](const Tensor& in) { return net->forward(in); };
    (checkpointed ? hb::bridge::checkpoint(forward, x) : forward(x)).sum().backward();
  };
  const std::string a = fresh_folder() + "/a", b = fresh_folder() + "/b";
  std::filesystem::create_directories(a);
  run(false, a), run(true, b);
  const Trace plain = trace_files::read(a), checkpointed = trace_files::read(b);
  ASSERT_EQ(plain.records.size(), checkpointed.records.size());
  for (size_t i = 0; i < plain.records.size(); ++i) {
    EXPECT_EQ(plain.records[i].kind(), checkpointed.records[i].kind());
    EXPECT_TRUE(plain.records[i].tensor.equal(checkpointed.records[i].tensor)) << plain.records[i].name;
  }
}

TEST(TraceSession, InPlaceLayersKeepTheGraph) {
  const std::string folder = fresh_folder();
  torch::nn::Linear fc(3, 3);
  torch::nn::ReLU relu(torch::nn::ReLUOptions().inplace(true));
  const Tensor x = torch::randn({2, 3});
  const auto loss = [&] {
    Tensor h = fc->forward(x);
    relu->forward(h);  // the result is not looked at: h itself changed
    h += 1;
    return h.square().sum();
  };
  loss().backward();
  const Tensor expected = fc->weight.grad().clone();
  fc->zero_grad();
  {
    Session session(folder, {fc.ptr(), relu.ptr()}, SessionOptions());
    loss().backward();
  }
  EXPECT_TRUE(fc->weight.grad().equal(expected));
  const Trace trace = trace_files::read(folder);
  const std::vector<std::string> calls = {"Linear", "ReLU", "add", "square", "sum"};
  EXPECT_EQ(trace.calls(), calls);
  for (const auto& r : trace.records) {
    if (r.kind() != "output") continue;
    if (r.type() == "ReLU") EXPECT_GE(r.tensor.min().item<float>(), 0);
    if (r.type() == "Linear") EXPECT_LT(r.tensor.min().item<float>(), 0) << "taken before it changed in place";
  }
}

TEST(TraceSession, LossScaleExplicitGradientsAndLbfgs) {
  Training t;
  const std::string folder = fresh_folder();
  {
    Session session(folder, {t.net.ptr()}, SessionOptions());
    torch::amp::GradScaler scaler("cpu", 256.0);
    torch::optim::SGD sgd(t.net->parameters(), 0.1);
    {
      torch::AutocastGuard autocast(torch::kCPU, torch::kBFloat16);
      scaler.scale(torch::nn::functional::cross_entropy(t.net->forward(t.x), t.y)).backward();
    }
    scaler.step(sgd);
    scaler.update();
    EXPECT_EQ(session.step(), 1);
    std::vector<Tensor> grads;
    for (const auto& p : t.net->parameters()) grads.push_back(torch::ones_like(p));
    sgd.step(grads);
    EXPECT_EQ(session.step(), 2);
    torch::optim::LBFGS lbfgs(t.net->parameters(), torch::optim::LBFGSOptions(0.1).max_iter(2));
    lbfgs.step([&] {
      lbfgs.zero_grad();
      Tensor loss = torch::nn::functional::cross_entropy(t.net->forward(t.x), t.y);
      loss.backward();
      return loss;
    });
    EXPECT_EQ(session.step(), 3);
  }
  const Trace trace = trace_files::read(folder);
  EXPECT_EQ(trace.only("loss_scale", "-").tensor.item<float>(), 256);
  EXPECT_EQ(trace.only("output", "last").json.at("dtype"), "BF16");
  EXPECT_EQ(trace.only("input", "first").json.at("dtype"), "F32");
}

TEST(TraceSession, ConvolutionsKeepTheirLayout) {
  torch::manual_seed(5);
  torch::nn::Sequential net(torch::nn::Conv2d(3, 8, 3), torch::nn::BatchNorm2d(8), torch::nn::ReLU(),
                            torch::nn::MaxPool2d(2), torch::nn::Conv2d(8, 4, 3));
  const Tensor x = torch::randn({2, 3, 12, 12});
  torch::nn::Sequential copy = std::dynamic_pointer_cast<torch::nn::SequentialImpl>(net->clone());
  const Tensor expected = copy->forward(x);
  expected.square().sum().backward();
  const std::string folder = fresh_folder();
  {
    Session session(folder, {net.ptr()}, SessionOptions());
    const Tensor y = net->forward(x);
    EXPECT_TRUE(y.equal(expected));
    y.square().sum().backward();
  }
  EXPECT_TRUE(net->parameters()[0].grad().equal(copy->parameters()[0].grad()));
  const Trace trace = trace_files::read(folder);
  EXPECT_TRUE(trace.only("output", "4").tensor.equal(expected));
  EXPECT_TRUE(trace.only("output", "0").tensor.equal(torch::conv2d(x, net->parameters()[0], net->parameters()[1])));
}

TEST(TraceSession, ThreadsOfADataLoaderAreNotTheNetwork) {
  Training t;
  const std::string folder = fresh_folder();
  {
    Session session(folder, {t.net.ptr()}, SessionOptions());
    std::thread worker([] { (void)torch::relu(torch::randn({8}) * 2); });
    t.step();
    worker.join();
  }
  EXPECT_EQ(trace_files::read(folder).calls().size(), 15u);
}

TEST(TraceSession, OneAtATimeAndErrorsAreClear) {
  const std::string folder = fresh_folder();
  Session session(folder, {}, SessionOptions());
  EXPECT_THROW(Session(folder + "/other", {}, SessionOptions()), hb::Error);
  session.close();
  EXPECT_TRUE(session.stopped());
  EXPECT_THROW(Session("/proc/nowhere", {}, SessionOptions()), hb::Error);
  ::setenv("HALFBRIDGE_TRACE_STEPS", "never", 1);
  EXPECT_THROW(SessionOptions::from_environment(), hb::ValueError);
  ::unsetenv("HALFBRIDGE_TRACE_STEPS");
}

TEST(TraceSession, LayersThatThrowLeaveTheRestInOrder) {
  Training t;
  const std::string folder = fresh_folder();
  {
    Session session(folder, {t.net.ptr()}, SessionOptions());
    EXPECT_THROW(t.net->blocks->forward(torch::randn({5, 7})), std::exception);
    t.step();
  }
  const Trace trace = trace_files::read(folder);
  EXPECT_EQ(trace.calls().size(), 15u);
  for (const auto& r : trace.of("output", "first")) EXPECT_FALSE(r.json.contains("parent"));
}

// --- masks

TEST(TraceMasks, DropoutFollowsTheReference) {
  const std::string reference = fresh_folder();
  Training a;
  {
    Session session(reference, {a.net.ptr()}, all_steps());
    a.step(), a.step();
  }
  Training b;
  torch::manual_seed(99);
  {
    SessionOptions options;
    options.masks = reference;
    Session session("", {b.net.ptr()}, options);
    b.step(), b.step();
    EXPECT_TRUE(b.loss.equal(a.loss));
    b.step();  // the reference has no such step: masks of its own
  }
  Training c;
  torch::manual_seed(99);
  c.step(), c.step();
  EXPECT_FALSE(c.loss.equal(a.loss));
}

TEST(TraceMasks, ErrorsSayWhatIsMissing) {
  const std::string reference = fresh_folder();
  Training a;
  SessionOptions options;
  options.masks = reference;
  EXPECT_THROW(Session("", {}, options), hb::Error);  // no trace there
  {
    Session session(reference, {a.net.ptr()}, SessionOptions());
    a.step();
  }
  const auto message = [&](const Tensor& x, int times) {
    Training b;
    Session session("", {b.net.ptr()}, options);
    try {
      for (int i = 0; i < times; ++i) b.net->forward(x);
    } catch (const hb::Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(a.x, 1), "");
  EXPECT_NE(message(a.x, 2).find("module 'dropout' in step 0 draws mask number 2"), std::string::npos);
  EXPECT_NE(message(torch::randn({6, 4}), 1).find("expected a mask of shape [6, 8], got [5, 8]"), std::string::npos);
}

// --- debug_layer_info

TEST(DebugLayerInfo, PrintsLayersInTheNamesOfPyTorch) {
  Training t;
  std::ostringstream out;
  {
    const auto info = hb::debug_layer_info(t.net, "pytorch", out);
    t.step();
  }
  const std::string text = out.str();
  EXPECT_NE(text.find("last: Linear(in_features=8, out_features=3, bias=true)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  last.weight              [3, 8] float32  min "), std::string::npos) << text;
  EXPECT_NE(text.find("blocks.0.norm.running_mean"), std::string::npos);
  EXPECT_NE(text.find("num_batches_tracked [] int64"), std::string::npos) << text;
  t.step();
  EXPECT_EQ(out.str(), text);  // its hooks are gone
  std::ostringstream ours;
  auto info = hb::debug_layer_info(*t.net, "halfbridge", ours);
  t.step();
  EXPECT_NE(ours.str().find("torch::nn::LinearImpl("), std::string::npos) << ours.str();
  EXPECT_NE(ours.str().find("Float"), std::string::npos);
  info.remove();
  EXPECT_THROW((void)hb::debug_layer_info(t.net, "keras"), hb::ValueError);
}

}  // namespace
