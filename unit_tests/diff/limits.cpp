// Time and memory of the reader of traces grow with the trace, whatever its records say of each other.
#include <gtest/gtest.h>

#include "diff/diff_traces.h"
#include "io/cost.h"

namespace {

using diff_test::filled;
using diff_test::Folder;
using diff_test::TraceBuilder;

constexpr int kCalls = 3000;

void expect_bounded(const char* name, const TraceBuilder& builder, const Folder& folder) {
  const std::string path = builder.save(folder / name);
  const auto bytes = std::filesystem::file_size(path + "/trace-00000.safetensors");
  unit::expect_bounded(
      name, bytes, [&] { hb::layer_diff::Trace::open(path); }, false);
}

TEST(DiffLimits, TracesOfManyCalls) {
  const Folder folder;
  const hb::Tensor x = filled({1}, 1);
  TraceBuilder beside, within, same, far;
  for (int i = 0; i < kCalls; ++i) {
    beside.call("Linear", std::to_string(i), x, x);
    within.call("Linear", "0", x, x, i - 1);
    same.call("relu", "", x, x, 0);
    far.tensor_of(int64_t{1} << 60, "grad_input", "Linear", "a", x, i);
  }
  expect_bounded("beside", beside, folder);
  expect_bounded("within", within, folder);
  expect_bounded("same", same, folder);
  expect_bounded("far", far, folder);
}

TEST(DiffLimits, TracesOfManyStatesAndLongNames) {
  const Folder folder;
  const hb::Tensor x = filled({1}, 1);
  TraceBuilder states, steps, paths;
  std::string path;
  for (int i = 0; i < kCalls; ++i) {
    states.state("parameter", "a", std::to_string(i), x);
    steps.step = i;
    steps.state("updated_parameter", "a", "weight", x);
    steps.call("x", "a", x, x);
    if (i < 1000) paths.call("Linear", path += "a.", x, x);
  }
  expect_bounded("states", states, folder);
  expect_bounded("steps", steps, folder);
  expect_bounded("paths", paths, folder);
}

}  // namespace
