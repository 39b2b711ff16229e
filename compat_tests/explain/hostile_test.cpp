// Traces come from strangers: what they say must not get out of the folder of a bundle, nor into its program as code.
#include <torch/torch.h>

#include <filesystem>
#include <fstream>

#include "diff/diff_traces.h"
#include "replay/layer.h"
#include "reports.h"

namespace {

namespace fs = std::filesystem;
using diff_test::filled;
using diff_test::Folder;
using diff_test::TraceBuilder;

struct Call {
  std::string type, path, config, parameter;
};

TraceBuilder trace_of(const Call& call, const hb::Tensor& x, const hb::Tensor& y) {
  TraceBuilder trace;
  if (!call.parameter.empty()) trace.state("parameter", call.path, call.parameter, filled({2}, 3));
  for (const auto& [kind, tensor] : {std::pair("input", x), std::pair("output", y)})
    trace.record({{"kind", kind},
                  {"index", 0},
                  {"call", 0},
                  {"type", call.type},
                  {"path", call.path},
                  {"root", "Net"},
                  {"config", call.config}},
                 tensor);
  return trace;
}

Report report_of(const Folder& folder, const Call& call, const hb::Tensor& x, const hb::Tensor& y) {
  return explained(trace_of(call, x, y).save(folder / "ref"), trace_of(call, x, y * 2).save(folder / "test"));
}

// main.cpp of the bundle of a call that differs; an error's text where none is written.
std::string bundle_of(const Call& call) {
  const Folder folder;
  const hb::Tensor x = filled({2, 2}, 1);
  const Report report = report_of(folder, call, x, hb::relu(x));
  try {
    hb::layer_diff::write_bundle(report, 0, folder / "bundle/in");
  } catch (const hb::Error& error) {
    return error.what();
  }
  EXPECT_FALSE(fs::exists(folder / "bundle/outside.bin"));
  std::ifstream file(folder / "bundle/in/main.cpp");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(HostileTrace, ParameterNamesAreNoPaths) {
  const std::string text = bundle_of({"ReLU", "act", "", "../outside"});
  EXPECT_NE(text.find("[bundle] the trace names a parameter '../outside'"), std::string::npos) << text;
}

TEST(HostileTrace, ParameterNamesAreNoCode) {
  const std::string text = bundle_of({"ReLU", "act", "", "a\", x); abort(); //"});
  EXPECT_NE(text.find("[bundle] the trace names a parameter"), std::string::npos) << text;
}

TEST(HostileTrace, PathsStayInTheirComment) {
  const std::string text = bundle_of({"ReLU", "act\nint evil;", "", ""});
  EXPECT_NE(text.find("int main"), std::string::npos) << text;
  EXPECT_EQ(text.find("\nint evil;"), std::string::npos) << text;
}

TEST(HostileTrace, OptionsAreNoCode) {
  const std::string text = bundle_of({"GELU", "act", "approximate=tanh\"));abort(", ""});
  EXPECT_NE(text.find("which has no name in C++"), std::string::npos) << text;
}

// What running a layer again with these options says.
std::string error_of(const char* type, const std::string& config) {
  namespace replay = hb::layer_diff::replay;
  replay::Layer layer;
  layer.declaration = replay::find_declaration(type);
  layer.args = replay::arguments_of(*layer.declaration, config);
  try {
    replay::forward(layer, {filled({1, 4, 4, 4}, 1)}, hb::kFloat);
  } catch (const hb::Error& error) {
    return error.what();
  }
  return "";
}

// Without a limit these are undefined conversions, divisions by zero and sizes of exabytes.
TEST(HostileTrace, NumbersThatNoLayerHasAreRefused) {
  for (const char* number : {"1e300", "-1e300", "inf", "nan", "9223372036854775807"}) {
    for (const auto& [type, option] :
         {std::pair("MaxPool2d", "kernel_size="), std::pair("AvgPool2d", "2, stride="),
          std::pair("AdaptiveAvgPool2d", "output_size="), std::pair("GroupNorm", ""),
          std::pair("ZeroPad2d", "padding="), std::pair("PixelShuffle", ""), std::pair("Upsample", "scale_factor=")}) {
      const std::string error = error_of(type, std::string(option) + number);
      EXPECT_NE(error.find("expected a whole number"), std::string::npos) << type << " " << number << ": " << error;
    }
  }
}

TEST(HostileTrace, AttentionHasHeads) {
  torch::nn::MultiheadAttention layer(4, 2);
  EXPECT_THROW(torch::nn::MultiheadAttention(4, 0), c10::Error);
  namespace F = torch::nn::functional;
  const auto x = torch::ones({3, 1, 4});
  EXPECT_THROW(F::multi_head_attention_forward(
                   x, x, x,
                   F::MultiheadAttentionForwardFuncOptions(4, 0, layer->in_proj_weight, layer->in_proj_bias, {}, {},
                                                           false, 0, layer->out_proj->weight, layer->out_proj->bias)),
               c10::Error);
}

// A few bytes of a trace must not take gigabytes.
TEST(HostileTrace, OptionsTakeNoMoreMemoryThanALayerMay) {
  for (const auto& [type, config] :
       {std::pair("ZeroPad2d", "padding=60000"), std::pair("Upsample", "scale_factor=4000"),
        std::pair("AdaptiveAvgPool2d", "output_size=40000")}) {
    hb::reset_peak_memory();
    const size_t before = hb::memory_in_use();
    const std::string error = error_of(type, config);
    EXPECT_NE(error.find("[allocate] expected at most"), std::string::npos) << type << ": " << error;
    EXPECT_LT(hb::peak_memory(), before + (size_t{1} << 30)) << type;
  }
}

}  // namespace
