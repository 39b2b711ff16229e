// Programs that are harder to record: shared modules, checkpoints, changes in place, loss scales, threads, exceptions.

#include <torch/torch.h>

#include <atomic>
#include <thread>

#include "trace/trace_files.h"
#include "trace/trace_training.h"

namespace {

using trace_files::fresh_folder;
using trace_files::Trace;
using namespace trace_training;

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

TEST(TracePrograms, SharedModulesTiedWeightsAndASecondRoot) {
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

// A net that goes before the trace ends leaves its gradients under its names.
TEST(TracePrograms, ANetThatGoesKeepsItsNames) {
  const std::string folder = fresh_folder();
  {
    Session session(folder, {}, all_steps());
    Training t;
    torch::nn::functional::cross_entropy(t.net->forward(t.x), t.y).backward();
  }
  const Trace trace = trace_files::read(folder);
  EXPECT_EQ(trace.only("parameter_grad", "blocks.1.fc", "weight").json.at("root"), "Net");
  for (const auto& r : trace.of("parameter_grad")) EXPECT_EQ(r.json.at("root"), "Net") << r.name;
}

// States of optimizers change in memory that nobody else sees.
TEST(TracePrograms, StatesOfOptimizersAreThoseOfTheirStep) {
  const std::string folder = fresh_folder();
  std::vector<Tensor> moments;
  {
    Training t;
    Session session(folder, {t.net.ptr()}, all_steps());
    for (int i = 0; i < 3; ++i) {
      t.step();
      const auto& state = *t.optimizer.state().at(t.net->last->weight.unsafeGetTensorImpl());
      moments.push_back(static_cast<const torch::optim::AdamParamState&>(state).exp_avg().clone());
    }
  }
  const auto records = trace_files::read(folder).of("optimizer_state", "last");
  size_t step = 0;
  for (const auto& r : records)
    if (r.what() == "weight/exp_avg") {
      EXPECT_TRUE(r.tensor.equal(moments.at(step++)));
    }
  EXPECT_EQ(step, 3u);
}

TEST(TracePrograms, LayersRecordWhatTheyUseOfTheirChildren) {
  const std::string folder = fresh_folder();
  {
    torch::nn::MultiheadAttention attention(8, 2);
    torch::nn::LSTM lstm(8, 8);
    Session session(folder, {attention.ptr(), lstm.ptr()}, SessionOptions());
    const Tensor x = torch::randn({3, 2, 8}), h = torch::randn({1, 2, 8}), c = torch::randn({1, 2, 8});
    lstm->forward(std::get<0>(attention(x, x, x)), std::make_tuple(h, c));
  }
  const Trace trace = trace_files::read(folder);
  EXPECT_EQ(trace.only("parameter", "out_proj", "weight").tensor.size(0), 8);
  EXPECT_EQ(trace.of("input").size(), 6u);  // query, key, value; input, hidden and cell state
}

TEST(TracePrograms, CheckpointedFunctionsAreCalledOnce) {
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

TEST(TracePrograms, InPlaceLayersKeepTheGraph) {
  torch::manual_seed(1);
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
    if (r.type() == "ReLU") {
      EXPECT_GE(r.tensor.min().item<float>(), 0);
    }
    if (r.type() == "Linear") {
      EXPECT_LT(r.tensor.min().item<float>(), 0) << "taken before it changed in place";
    }
  }
}

TEST(TracePrograms, LossScaleExplicitGradientsAndLbfgs) {
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

TEST(TracePrograms, ConvolutionsKeepTheirLayout) {
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

TEST(TracePrograms, ThreadsOfADataLoaderAreNotTheNetwork) {
  Training t;
  const std::string folder = fresh_folder();
  {
    Session session(folder, {t.net.ptr()}, SessionOptions());
    std::thread worker([] { (void)torch::relu(torch::randn({8}) * 2); });
    t.step();
    worker.join();
  }
  EXPECT_EQ(trace_files::read(folder).calls().size(), 16u);
}

TEST(TracePrograms, SessionsOpenAndCloseWhileAnotherThreadTrains) {
  std::atomic<bool> done{false};
  std::thread other([&] {
    auto w = torch::ones({4, 4}).requires_grad_();
    while (!done) torch::tanh(torch::mm(w, w)).sum().backward();
  });
  Training t;
  std::string folder;
  for (int i = 0; i < 20; ++i) {
    folder = fresh_folder();
    Session session(folder, {t.net.ptr()}, SessionOptions());
    t.step();
  }
  done = true;
  other.join();
  EXPECT_EQ(trace_files::read(folder).calls().size(), 16u);
}

TEST(TracePrograms, OneAtATimeAndErrorsAreClear) {
  const std::string folder = fresh_folder();
  Session session(folder, {}, SessionOptions());
  EXPECT_THROW(Session(folder + "/other", {}, SessionOptions()), hb::Error);
  session.close();
  EXPECT_TRUE(session.stopped());
  EXPECT_THROW(Session("/proc/nowhere", {}, SessionOptions()), hb::Error);
  EXPECT_THROW(Session(folder, {nullptr}, SessionOptions()), hb::Error);
  EXPECT_NO_THROW(Session(folder, {}, SessionOptions()));  // those that failed are not open
  ::setenv("HALFBRIDGE_TRACE_STEPS", "never", 1);
  EXPECT_THROW(SessionOptions::from_environment(), hb::ValueError);
  ::unsetenv("HALFBRIDGE_TRACE_STEPS");
}

TEST(TracePrograms, LayersThatThrowLeaveTheRestInOrder) {
  Training t;
  const std::string folder = fresh_folder();
  {
    Session session(folder, {t.net.ptr()}, SessionOptions());
    EXPECT_THROW(t.net->blocks->forward(torch::randn({5, 7})), std::exception);
    t.step();
  }
  const Trace trace = trace_files::read(folder);
  EXPECT_EQ(trace.calls().size(), 16u);
  for (const auto& r : trace.of("output", "first")) EXPECT_FALSE(r.json.contains("parent"));
}

}  // namespace
