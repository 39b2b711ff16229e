// HALFBRIDGE_TRACE on a program that knows nothing of it (compat_tests/trace/program.cpp).

#include <cstdio>

#include "trace/trace_files.h"

namespace {

using trace_files::fresh_folder;
using trace_files::Trace;

struct Ended {
  int status;
  std::string output;  // both streams
};
Ended run(const std::string& variables, const std::string& arguments = "") {
  std::FILE* pipe = ::popen(("env " + variables + " " HALFBRIDGE_TRACE_PROGRAM " " + arguments + " 2>&1").c_str(), "r");
  Ended result;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.output.append(buffer, n);
  result.status = ::pclose(pipe);
  return result;
}

TEST(TraceEnvironment, TracesAProgramThatKnowsNothingOfIt) {
  const std::string folder = fresh_folder() + "/trace";
  const Ended plain = run("A=1"), traced = run("HALFBRIDGE_TRACE=" + folder);
  EXPECT_EQ(plain.status, 0);
  EXPECT_EQ(traced.output, plain.output);
  const Trace trace = trace_files::read(folder);
  EXPECT_EQ(trace.end(), "complete");
  const std::vector<std::string> calls = {"Conv2d", "relu", "max_pool2d", "Dropout", "Linear", "cross_entropy_loss"};
  EXPECT_EQ(trace.calls(), calls);
  EXPECT_EQ(trace.only("output", "conv").json.at("root"), "Net");
  EXPECT_EQ(trace.only("optimizer_state", "fc", "bias/momentum_buffer").number("step"), 0);
  EXPECT_EQ(trace.of("parameter").size(), 4u);
  EXPECT_EQ(trace.of("updated_parameter").size(), 4u);
  EXPECT_EQ(trace.of("grad_output").size(), 6u);
}

TEST(TraceEnvironment, WorksWithMixedPrecision) {
  const std::string folder = fresh_folder() + "/trace";
  const std::string amp = "HALFBRIDGE_AMP=O2:fp16 ";
  const Ended plain = run(amp), traced = run(amp + "HALFBRIDGE_TRACE=" + folder);
  EXPECT_EQ(traced.output, plain.output);
  const Trace trace = trace_files::read(folder);
  EXPECT_EQ(trace.only("output", "fc").json.at("dtype"), "F16");
  EXPECT_EQ(trace.calls().back(), "cross_entropy_loss");
  EXPECT_EQ(trace.only("loss_scale", "-").tensor.item<float>(), 1024);
  EXPECT_EQ(trace.of("updated_parameter").size(), 4u);
}

TEST(TraceEnvironment, SaysHowTheProgramEnded) {
  const std::string folder = fresh_folder() + "/trace";
  EXPECT_NE(run("HALFBRIDGE_TRACE=" + folder, "throw").status, 0);
  Trace trace = trace_files::read(folder);
  EXPECT_EQ(trace.end(), "exception: the data ran out");
  EXPECT_EQ(trace.of("updated_parameter").size(), 4u);
  EXPECT_EQ(run("HALFBRIDGE_TRACE=" + folder, "exit").status, 0);
  trace = trace_files::read(folder);
  EXPECT_EQ(trace.end(), "complete");
  EXPECT_EQ(trace.of("updated_parameter").size(), 4u);
}

TEST(TraceEnvironment, AProgramWithoutModulesLeavesNoFolder) {
  const std::string folder = fresh_folder() + "/trace";
  EXPECT_EQ(run("HALFBRIDGE_TRACE=" + folder, "help").status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(TraceEnvironment, MalformedVariablesAndFoldersAreErrors) {
  const std::string folder = fresh_folder() + "/trace";
  const Ended steps = run("HALFBRIDGE_TRACE=" + folder + " HALFBRIDGE_TRACE_STEPS=some");
  EXPECT_NE(steps.status, 0);
  EXPECT_NE(steps.output.find("[HALFBRIDGE_TRACE_STEPS] expected"), std::string::npos) << steps.output;
  const Ended nowhere = run("HALFBRIDGE_TRACE=/proc/nowhere");
  EXPECT_NE(nowhere.status, 0);
  EXPECT_NE(nowhere.output.find("[trace] cannot make the folder /proc/nowhere"), std::string::npos) << nowhere.output;
}

TEST(TraceEnvironment, MasksOfAnotherRun) {
  const std::string folder = fresh_folder() + "/trace";
  const Ended reference = run("HALFBRIDGE_TRACE_STEPS=all HALFBRIDGE_TRACE=" + folder);
  const Ended other = run("A=1", "train 1234"), replayed = run("HALFBRIDGE_TRACE_MASKS=" + folder, "train 1");
  EXPECT_NE(other.output, reference.output);
  EXPECT_EQ(replayed.status, 0) << replayed.output;
  EXPECT_EQ(replayed.output.find("error"), std::string::npos);
  EXPECT_EQ(replayed.output, reference.output);
  EXPECT_NE(run("A=1", "train 1").output, reference.output);
}

}  // namespace
