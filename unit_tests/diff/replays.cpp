// What replays of a captured step compute, layer by layer, beside the eager step.
#include <halfbridge/graph.h>
#include <halfbridge/trace/session.h>
#include <sys/wait.h>
#include <torch/torch.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "diff/diff_traces.h"

namespace {

using namespace diff_test;
using hb::layer_diff::Trace;
namespace nn = torch::nn;

struct ScaleImpl : nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return x * by; }
  double by = 1;
};
TORCH_MODULE(Scale);

struct Plan {
  bool adam = false;
  int changes_at = -1;      // the step from which on Scale multiplies by another number
  int first = 0, last = 5;  // recorded
  double scale = 0;         // fp16 with a GradScaler that begins with it
  int overflows_at = -1;    // the step of which an input is too large for fp16
  hb::graph::CompileOptions options = {};
};

/// Says that replays are recorded, as long as it lives.
struct Replays {
  explicit Replays(bool recorded) { setenv("HALFBRIDGE_TRACE_REPLAYS", recorded ? "1" : "0", 1); }
  ~Replays() { unsetenv("HALFBRIDGE_TRACE_REPLAYS"); }
};

/// Mixed precision in a scope.
struct Fp16 {
  explicit Fp16(bool on) : was(at::autocast::is_autocast_enabled(at::kCPU)) {
    at::autocast::set_autocast_dtype(at::kCPU, at::kHalf);
    at::autocast::set_autocast_enabled(at::kCPU, on);
  }
  ~Fp16() {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, was);
  }
  const bool was;
};

/// Eight steps with their trace in `folder`.
hb::graph::CompileCounts train(const std::string& folder, bool replays, const Plan& plan) {
  const Replays wish(replays);
  torch::manual_seed(3);
  Scale scale;
  nn::Sequential net(nn::Linear(32, 128), nn::BatchNorm1d(128), nn::ReLU(), scale, nn::Dropout(0.3),
                     nn::Linear(128, 128), nn::GELU(), nn::Linear(128, 10));
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  if (plan.adam)
    optimizer = std::make_unique<torch::optim::Adam>(net->parameters(), torch::optim::AdamOptions(1e-2));
  else
    optimizer = std::make_unique<torch::optim::SGD>(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  hb::amp::GradScaler scaler(
      torch::kCPU, hb::amp::GradScalerOptions().init_scale(plan.scale).growth_interval(2).enabled(plan.scale > 0));
  auto step = hb::graph::compile(
      [&](torch::Tensor x, torch::Tensor y) {
        optimizer->zero_grad();
        torch::Tensor loss;
        {
          const Fp16 fp16(plan.scale > 0);
          loss = nn::functional::cross_entropy(net->forward(x), y);
        }
        scaler.scale(loss).backward();
        scaler.step(*optimizer);
        scaler.update();
        return loss;
      },
      plan.options);
  hb::trace::SessionOptions options;
  options.steps = hb::trace::StepSet(std::to_string(plan.first) + '-' + std::to_string(plan.last));
  hb::trace::Session session(folder, {net.ptr()}, options);
  for (int i = 0; i < 8; ++i) {
    if (i == plan.changes_at) scale->by = 2;
    const auto x = torch::randn({512, 32});
    if (i == plan.overflows_at) x[0][0] = 1e5;
    step(x, torch::randint(10, {512}));
  }
  return step.counts();
}

hb::layer_diff::Report compared_exactly(const std::string& eager, const std::string& replayed) {
  hb::layer_diff::CompareOptions options;
  options.tolerance = {0, 0};
  return compare(Trace::open(eager), Trace::open(replayed), options);
}

void expect_equal(const Plan& plan) {
  const Folder folder;
  const auto eager = train(folder / "eager", false, plan), replayed = train(folder / "replayed", true, plan);
  EXPECT_EQ(eager.replayed, 0);
  EXPECT_GE(replayed.replayed, 3) << replayed.reason;
  const auto a = Trace::open(folder / "eager"), b = Trace::open(folder / "replayed");
  // A graph that was recorded in the first step of a trace says the parameters each time.
  EXPECT_GE(b->records().size(), a->records().size());
  if (plan.first == 0) {
    EXPECT_EQ(b->records().size(), a->records().size());
  }
  EXPECT_EQ(b->end(), "complete");
  std::set<int64_t> steps;
  for (const auto& record : b->records()) steps.insert(record.step);
  EXPECT_EQ(steps.size(), static_cast<size_t>(plan.last - plan.first + 1));
  const auto report = compared_exactly(folder / "eager", folder / "replayed");
  EXPECT_TRUE(report.agree()) << report.failed << " of " << report.compared;
}

TEST(TracedReplays, AreTheEagerSteps) {
  expect_equal({});
  expect_equal({.adam = true});
}

TEST(TracedReplays, AreRecordedFromALaterStepOn) { expect_equal({.first = 3, .last = 7}); }

TEST(TracedReplays, AreTheEagerStepsUnderABudget) {
  Plan plan;
  plan.options.max_memory = size_t{256} << 10;
  expect_equal(plan);
}

/// The exponents of the loss scale after each recorded step.
std::vector<int> scales(const std::string& folder) {
  const auto trace = Trace::open(folder);
  std::vector<int> list;
  for (const auto& record : trace->records())
    if (record.kind == hb::trace::Kind::loss_scale) list.push_back(std::ilogb(trace->load(record).item<double>()));
  return list;
}

TEST(TracedReplays, AreTheEagerStepsWhereGradientsOverflow) {
  for (const bool adam : {false, true}) {
    const Folder folder;
    const Plan always{.adam = adam, .scale = 0x1p30}, once{.adam = adam, .scale = 0x1p10, .overflows_at = 4};
    expect_equal(always);
    train(folder / "always", true, always);
    EXPECT_EQ(scales(folder / "always"), (std::vector<int>{29, 28, 27, 26, 25, 24}));
    expect_equal(once);
    train(folder / "once", true, once);
    EXPECT_EQ(scales(folder / "once"), (std::vector<int>{10, 11, 11, 12, 11, 11}));
  }
}

TEST(TracedReplays, AStaleNumberIsNamedByItsLayer) {
  const Folder folder;
  const Plan plan{.changes_at = 4};
  train(folder / "eager", false, plan);
  train(folder / "replayed", true, plan);
  const auto report = compared_exactly(folder / "eager", folder / "replayed");
  ASSERT_TRUE(report.first_forward);
  const auto& row = report.layers[static_cast<size_t>(*report.first_forward)];
  EXPECT_EQ(row.step, 4);
  EXPECT_EQ(name(row.ref), "mul");
  EXPECT_FALSE(report.agree());
}

int status_of(const std::string& arguments, const std::string& out) {
  const std::string command = "'" HALFBRIDGE_PROGRAM "' graph-diff " + arguments + " > '" + out + "' 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TracedReplays, OneCommandComparesAProgram) {
  const Folder folder;
  const std::string out = folder / "out";
  EXPECT_EQ(status_of("-- " HALFBRIDGE_TRACE_PROGRAM " captured", out), 0) << contents(out);
  EXPECT_NE(contents(out).find("AGREES"), std::string::npos) << contents(out);
  EXPECT_NE(contents(out).find("Step 5"), std::string::npos) << contents(out);
  EXPECT_EQ(status_of("-- " HALFBRIDGE_TRACE_PROGRAM, out), 2);
  EXPECT_NE(contents(out).find("nothing was replayed in steps 0-5"), std::string::npos) << contents(out);
}

}  // namespace
