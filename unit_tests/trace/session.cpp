// What a session records of a program that runs under it, and that the program does not notice.

#include <torch/torch.h>

#include "trace/trace_files.h"
#include "trace/trace_training.h"

namespace {

using trace_files::fresh_folder;
using trace_files::Trace;
using namespace trace_training;

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
  const std::vector<std::string> calls = {
      "Linear",      "mul",  "Linear", "BatchNorm1d", "relu",       "add",     "Block",  "Linear",
      "BatchNorm1d", "relu", "add",    "Block",       "Sequential", "Dropout", "Linear", "cross_entropy_loss"};
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

TEST(TraceSession, SparseGradientsAreRecordedAsStridedOnes) {
  torch::nn::Embedding table(torch::nn::EmbeddingOptions(5, 2).sparse(true));
  torch::optim::SGD sgd(table->parameters(), 0.1);
  const std::string folder = fresh_folder();
  {
    Session session(folder, {table.ptr()}, SessionOptions());
    table(torch::tensor({1, 3, 3})).sum().backward();
    sgd.step();
  }
  const Trace trace = trace_files::read(folder);
  EXPECT_EQ(trace.end(), "complete");
  EXPECT_TRUE(table->weight.grad().is_sparse());
  EXPECT_TRUE(trace.only("parameter_grad", "", "weight").tensor.equal(table->weight.grad().to_dense()));
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

}  // namespace
