// The profiler: what is recorded, how it nests, what it writes.
#include <gtest/gtest.h>
#include <halfbridge/profiler.h>
#include <torch/csrc/autograd/profiler.h>
#include <torch/torch.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

namespace {

namespace profiler = hb::profiler;
using profiler::EventKind;

std::vector<const profiler::Event*> named(const profiler::Profile& profile, const std::string& name) {
  std::vector<const profiler::Event*> found;
  for (const auto& e : profile.events())
    if (e.name == name) found.push_back(&e);
  return found;
}

/// One step of a small net under a profile.
profiler::Profile profile_step(bool shapes) {
  torch::nn::Linear net(4, 3);
  const auto x = torch::ones({2, 4});
  profiler::start({shapes});
  {
    const profiler::Range range("forward and backward");
    torch::relu(net(x)).sum().backward();
  }
  return profiler::stop();
}

TEST(Profiler, RecordsFunctionsGradientsAndRanges) {
  const auto profile = profile_step(true);
  const auto relu = named(profile, "relu");
  ASSERT_EQ(relu.size(), 1U);
  EXPECT_EQ(relu[0]->kind, EventKind::function);
  ASSERT_EQ(relu[0]->shapes.size(), 1U);
  EXPECT_EQ(relu[0]->shapes[0], (std::vector<int64_t>{2, 3}));
  const auto gradient = named(profile, "ReluBackward0");
  ASSERT_EQ(gradient.size(), 1U);
  EXPECT_EQ(gradient[0]->kind, EventKind::gradient);
  EXPECT_EQ(named(profile, "torch::autograd::AccumulateGrad").size(), 2U);
  const auto range = named(profile, "forward and backward");
  ASSERT_EQ(range.size(), 1U);
  EXPECT_EQ(range[0]->kind, EventKind::range);
  EXPECT_EQ(range[0], &profile.events().front());
}

TEST(Profiler, TimesNest) {
  const auto profile = profile_step(false);
  const auto& range = profile.events().front();
  int64_t own = 0;
  for (const auto& e : profile.events()) {
    EXPECT_GE(e.self_ns, 0) << e.name;
    EXPECT_LE(e.self_ns, e.duration_ns) << e.name;
    EXPECT_GE(e.start_ns, range.start_ns);
    EXPECT_LE(e.start_ns + e.duration_ns, range.start_ns + range.duration_ns) << e.name;
    EXPECT_TRUE(e.shapes.empty());
    own += e.self_ns;
  }
  EXPECT_EQ(own, range.duration_ns);
}

TEST(Profiler, TableAndTraceAgreeWithTheEvents) {
  const auto profile = profile_step(true);
  EXPECT_NE(profile.table().find("ReluBackward0"), std::string::npos);
  EXPECT_NE(profile.table(1).find("more names"), std::string::npos);
  std::stringstream text;
  profile.write(text);
  const auto json = nlohmann::json::parse(text.str());
  ASSERT_EQ(json["traceEvents"].size(), profile.events().size());
  for (const auto& e : json["traceEvents"]) {
    EXPECT_EQ(e["ph"], "X");
    EXPECT_GE(e["dur"].get<double>(), 0);
  }
}

TEST(Profiler, EndsWithExceptions) {
  profiler::start();
  EXPECT_THROW(torch::ones({2}) + torch::ones({3}), c10::Error);
  EXPECT_THROW(torch::mm(torch::ones({2}), torch::ones({2})), c10::Error);
  torch::relu(torch::ones({2}));
  const auto profile = profiler::stop();
  const auto relu = named(profile, "relu");
  ASSERT_EQ(relu.size(), 1U);
  const auto mm = named(profile, "mm");
  ASSERT_EQ(mm.size(), 1U);
  EXPECT_LE(mm[0]->start_ns + mm[0]->duration_ns, relu[0]->start_ns);
}

struct Failing : torch::autograd::Function<Failing> {
  static torch::Tensor forward(torch::autograd::AutogradContext*, torch::Tensor x) { return x * 2; }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*, torch::autograd::variable_list) {
    throw std::runtime_error("no gradient");
  }
};

TEST(Profiler, GradientsThatThrowEnd) {
  profiler::start();
  EXPECT_THROW(Failing::apply(torch::ones({2}, torch::requires_grad())).sum().backward(), std::runtime_error);
  torch::relu(torch::ones({2}));
  const auto profile = profiler::stop();
  for (const auto& e : profile.events()) {
    if (e.kind != EventKind::gradient) continue;
    EXPECT_LE(e.start_ns + e.duration_ns, named(profile, "relu")[0]->start_ns) << e.name;
  }
}

TEST(Profiler, ThreadsMayEndWithoutStop) {
  std::thread([] { profiler::start(); }).join();
  profiler::start();
  profiler::stop();
}

TEST(Profiler, RecordsItsThreadAlone) {
  profiler::start();
  std::thread([] {
    EXPECT_FALSE(profiler::active());
    torch::sigmoid(torch::ones({2}));
    profiler::start();
    torch::tanh(torch::ones({2}));
    EXPECT_EQ(named(profiler::stop(), "tanh").size(), 1U);
  }).join();
  torch::relu(torch::ones({2}));
  const auto profile = profiler::stop();
  EXPECT_TRUE(named(profile, "sigmoid").empty());
  EXPECT_TRUE(named(profile, "tanh").empty());
  EXPECT_EQ(named(profile, "relu").size(), 1U);
}

TEST(Profiler, WrongOrderThrows) {
  EXPECT_THROW(profiler::stop(), hb::Error);
  profiler::start();
  EXPECT_THROW(profiler::start(), hb::Error);
  profiler::stop();
  EXPECT_FALSE(profiler::active());
}

TEST(Profiler, LibTorchsNames) {
  using namespace torch::autograd::profiler;
  const ProfilerConfig config(ProfilerState::KINETO, /*report_input_shapes=*/true);
  prepareProfiler(config, {ActivityType::CPU});
  enableProfiler(config, {ActivityType::CPU});
  {
    RECORD_FUNCTION("mine", std::vector<c10::IValue>());
    torch::relu(torch::ones({2}, torch::requires_grad())).sum().backward();
  }
  { RECORD_USER_SCOPE("scope"); }
  const auto result = disableProfiler();
  std::vector<std::string> names;
  for (const auto& e : result->events()) names.push_back(e.name());
  for (const char* wanted : {"mine", "scope", "aten::relu", "autograd::engine::evaluate_function: ReluBackward0"})
    EXPECT_NE(std::find(names.begin(), names.end(), wanted), names.end()) << wanted;
  EXPECT_THROW(enableProfiler(config, {ActivityType::CUDA}), c10::Error);
  EXPECT_THROW(enableProfiler(ProfilerConfig(ProfilerState::NVTX), {}), c10::Error);
  EXPECT_FALSE(profilerEnabled());
}

TEST(Profiler, RecordProfileWritesAFile) {
  const auto path = std::filesystem::temp_directory_path() / "halfbridge_profile_test.json";
  {
    torch::autograd::profiler::RecordProfile guard(path.string());
    torch::relu(torch::ones({2}));
  }
  std::ifstream file(path);
  EXPECT_EQ(nlohmann::json::parse(file)["traceEvents"].back()["name"], "relu");
  std::filesystem::remove(path);
  std::ostringstream text;
  { torch::autograd::profiler::RecordProfile guard(text); }
  EXPECT_TRUE(nlohmann::json::parse(text.str())["traceEvents"].empty());
}

}  // namespace
