// What Halfbridge alone says of TorchScript archives: what an archive lies about is an error.
// parity.script compares with LibTorch what both read.
#include <gtest/gtest.h>
#include <halfbridge/bridge/nn/load_state.h>
#include <halfbridge/io/state_dict.h>
#include <torch/script.h>
#include <torch/torch.h>

#include "io/zip_bytes.h"

namespace {

using unit::little;
using unit::zip_of;

std::string path(const std::string& name) { return std::string(HALFBRIDGE_RECORDED_FILES) + "/script_" + name + ".pt"; }

template <typename F>
void expect_error(F run, const std::string& part) {
  try {
    run();
    FAIL() << "expected an error with '" << part << "'";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Script, WhatIsNotDone) {
  auto module = torch::jit::load(path("net"));
  expect_error([] { torch::jit::Module().named_parameters(); }, "an empty one");
  expect_error([&] { module.get_method("backward"); }, "Method 'backward' is not defined");
  module.train();
  expect_error([&] { torch::jit::freeze(module); }, "eval");
}

TEST(Script, OwnStateIsAnAttribute) {
  const auto module = torch::jit::load(path("own_state"));
  EXPECT_EQ(module.attr("__state__").toTupleRef().elements()[0].toTensor().numel(), 2);
  expect_error([&] { module.attr("weight"); }, "__setstate__");
  EXPECT_EQ(module.named_parameters().size(), 0u);
}

TEST(Script, QuantisedIsRefused) {
  expect_error([] { torch::jit::load(path("quantised")); }, "quantised tensors are not supported");
}

TEST(Script, StateDictHasParametersAndBuffers) {
  const auto file = hb::io::load_state_dict_file(path("everything"));
  EXPECT_EQ(file.format, hb::io::CheckpointFormat::TorchScript);
  std::string names;
  for (const auto& [name, tensor] : file.tensors) names += name + " ";
  EXPECT_EQ(names,
            "weight halves counts brains waves child.weight child.bias tied.weight tied.bias up.left.weight "
            "up.left.bias ");
  bool plain = false;
  for (const auto& [name, value] : file.attributes) plain |= name == "plain" && value.isTensor();
  EXPECT_TRUE(plain);
}

TEST(Script, StateOfAnArchiveFitsANativeModule) {
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(3, 4).num_layers(2).batch_first(true).bidirectional(true));
  torch::nn::Embedding embedding(5, 3);
  auto net = std::make_shared<torch::nn::Module>();
  net->register_module("lstm", lstm);
  net->register_module("embedding", embedding);
  hb::bridge::nn::LoadStateOptions options;
  options.strict = false;
  hb::bridge::nn::load_state_dict_file(*net, path("sequence"), options);
  const auto module = torch::jit::load(path("sequence"));
  EXPECT_TRUE(lstm->named_parameters()["weight_hh_l1_reverse"].equal(
      module.attr("lstm").toModule().attr("weight_hh_l1_reverse").toTensor()));
}

// An archive with one class and the pickle of one object of it.
std::vector<char> archive(const std::string& code, const std::string& state) {
  const std::string pickle =
      "\x80\x02"
      "c__torch__\nNet\n)\x81}(" +
      state + "ub.";
  return zip_of(
      {{"a/data.pkl", pickle}, {"a/code/__torch__.py", code}, {"a/constants.pkl", "\x80\x02)."}, {"a/version", "3\n"}});
}
std::string text(const std::string& value) { return "X" + little(value.size(), 4) + value; }

torch::jit::Module load(const std::vector<char>& bytes) {
  std::istringstream stream(std::string(bytes.begin(), bytes.end()));
  return torch::jit::load(stream);
}

TEST(Script, DeclarationsAreReadAndNothingElse) {
  const std::string code =
      "op_version_set = 1\n"
      "class Other(NamedTuple):\n  a : int\n"
      "class Net(Module):\n"
      "  __parameters__ = []\n  __buffers__ = [\"b\", ]\n"
      "  b : Optional[Tensor]\n"
      "  __annotations__[\"odd \\\"name\\\"\\n\\101\"] = int\n"
      "  c : Final[Tuple[int, str]] = (3, \"x, y)\")\n"
      "  d : Final[int] = torch.add(1, 2)\n"
      "  def forward(self: __torch__.Net) -> int:\n"
      "    not_an_attribute : int = 5\n    return 3\n";
  const auto module =
      load(archive(code, text("b") + "N" + text("odd \"name\"\nA") + "K\x07" + text("undeclared") + "N"));
  EXPECT_EQ(module.num_slots(), 2u);
  EXPECT_EQ(module.attr("odd \"name\"\nA").toInt(), 7);
  EXPECT_EQ(module.attr("c").toTupleRef().elements()[1].toStringRef(), "x, y)");
  EXPECT_EQ(module.buffers().size(), 0u);
  EXPECT_FALSE(module.hasattr("not_an_attribute") || module.hasattr("undeclared"));
  EXPECT_TRUE(module.hasattr("d"));
  expect_error([&] { module.attr("d"); }, "expected a constant");
}

TEST(Script, CodeThatLies) {
  expect_error([] { load(archive("class Net(Module):\n  w : Tensor\n", "")); }, "expected an attribute 'w'");
  expect_error([] { load(archive("class Net(Module):\nclass Net(Module):\n", "")); }, "there twice");
  expect_error([] { load(archive("class Net(Module):\n  __parameters__ = [\"w\n", "")); }, "a list of names");
  expect_error([] { load(archive("class Net(Module):\n  __annotations__[w] = int\n", "")); }, "under __annotations__");
  expect_error([] { load(archive("class (Module):\n", "")); }, "name of a class");
  const std::string deep = "class Net(Module):\n  c : Final[int] = " + std::string(100000, '(') + "\n";
  expect_error([&] { load(archive(deep, "")).attr("c"); }, "expected a constant");
  EXPECT_FALSE(load(archive("class Other(Module):\n", "")).find_method("forward"));
}

}  // namespace
