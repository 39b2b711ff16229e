// Files that Python's torch.save and TorchScript wrote; python_files/record.py is the script.
#include <gtest/gtest.h>
#include <halfbridge/bridge/serialize.h>
#include <halfbridge/engine.h>
#include <halfbridge/io/checkpoint.h>
#include <halfbridge/io/state_dict.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace {

using hb::Dict;
using hb::IValue;
using hb::Tensor;

std::string path_of(const std::string& name) { return std::string(HALFBRIDGE_RECORDED_FILES) + "/" + name; }

void expect_values(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.scalar_type(), expected.scalar_type());
  ASSERT_EQ(got.sizes(), expected.sizes());
  const Tensor left = got.detach().contiguous(), right = expected.detach().contiguous();
  EXPECT_EQ(std::memcmp(left.data_ptr(), right.data_ptr(), left.nbytes()), 0);
}

// The same content in the form since PyTorch 1.6 and in the one before.
class PythonForms : public testing::TestWithParam<const char*> {
 protected:
  Dict<IValue, IValue> file = hb::io::load_checkpoint(path_of(GetParam())).toGenericDict();
};

TEST_P(PythonForms, StateDictsAndOptimizers) {
  const Dict<IValue, IValue> model = file.at("model").toGenericDict();
  std::string names;
  for (const auto& entry : model) names += entry.key().toStringRef() + " ";
  EXPECT_EQ(names, "0.weight 0.bias 1.weight 1.bias 1.running_mean 1.running_var 1.num_batches_tracked ");
  EXPECT_EQ(model.at("0.weight").toTensor().sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(model.at("1.num_batches_tracked").toTensor().item<int64_t>(), 1);

  const Dict<IValue, IValue> optimizer = file.at("optimizer").toGenericDict();
  const Dict<IValue, IValue> group = optimizer.at("param_groups").toListRef()[0].toGenericDict();
  EXPECT_EQ(group.at("lr").toDouble(), 0.25);
  EXPECT_EQ(group.at("params").toListRef().size(), 4u);
  const Dict<IValue, IValue> state = optimizer.at("state").toGenericDict().at(int64_t{0}).toGenericDict();
  EXPECT_EQ(state.at("momentum_buffer").toTensor().sizes(), (std::vector<int64_t>{2, 3}));
}

TEST_P(PythonForms, TensorsOfEveryKind) {
  const Tensor base = hb::arange(12).to(hb::kFloat).view({3, 4});
  const auto views = file.at("views").toTensorVector();
  ASSERT_EQ(views.size(), 3u);
  expect_values(views[0], base);
  expect_values(views[1], base.t());
  expect_values(views[2], base[1]);
  EXPECT_TRUE(views[1].is_alias_of(views[0]));
  EXPECT_TRUE(views[2].is_alias_of(views[0]));

  const auto dtypes = file.at("dtypes").toTensorVector();
  const hb::ScalarType expected[] = {hb::kByte, hb::kChar,     hb::kShort, hb::kInt,    hb::kLong,
                                     hb::kHalf, hb::kBFloat16, hb::kFloat, hb::kDouble, hb::kBool};
  ASSERT_EQ(dtypes.size(), std::size(expected));
  for (size_t i = 0; i < dtypes.size(); ++i) expect_values(dtypes[i], hb::arange(3).to(expected[i]));
  EXPECT_TRUE(file.at("parameter").toTensor().requires_grad());
}

TEST(PythonFiles, ThroughPickleLoad) {
  std::ifstream stream(path_of("checkpoint.pt"), std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_EQ(hb::bridge::pickle_load(bytes).toGenericDict().at("epoch").toInt(), 3);
}

TEST_P(PythonForms, PlainValues) {
  EXPECT_EQ(file.at("epoch").toInt(), 3);
  EXPECT_EQ(file.at("best").toDouble(), 0.5);
  EXPECT_EQ(file.at("big").toInt(), int64_t{1} << 62);
  EXPECT_EQ(file.at("name").toStringRef(), "caf\xc3\xa9");
  EXPECT_EQ(file.at("bytes").toStringRef(), std::string("\0\xff\x80", 3));
  EXPECT_EQ(file.at("size").toTupleRef().elements()[1].toInt(), 3);
  EXPECT_TRUE(file.at("device").toDevice().is_cpu());
  EXPECT_EQ(file.at("dtype").toInt(), static_cast<int64_t>(hb::kHalf));
  EXPECT_TRUE(file.at("flags").toTupleRef().elements()[2].isNone());
}

INSTANTIATE_TEST_SUITE_P(Files, PythonForms, testing::Values("checkpoint.pt", "legacy.pt"));

TEST(PythonFiles, AnyFormatIsFound) {
  using Format = hb::io::CheckpointFormat;
  const auto zip = hb::io::load_state_dict_file(path_of("checkpoint.pt"));
  const auto legacy = hb::io::load_state_dict_file(path_of("legacy.pt"));
  EXPECT_EQ(zip.format, Format::Torch);
  EXPECT_EQ(legacy.format, Format::TorchLegacy);
  ASSERT_EQ(zip.tensors.size(), legacy.tensors.size());
  for (size_t i = 0; i < zip.tensors.size(); ++i) {
    EXPECT_EQ(zip.tensors[i].first, legacy.tensors[i].first);
    expect_values(legacy.tensors[i].second, zip.tensors[i].second);
  }
  EXPECT_EQ(zip.tensors[0].first, "model.0.weight");
  const auto script = hb::io::load_state_dict_file(path_of("script.pt"));
  EXPECT_EQ(script.format, Format::TorchScript);
  ASSERT_EQ(script.tensors.size(), 2u);
  EXPECT_EQ(script.tensors[1].first, "0.bias");
  EXPECT_TRUE(hb::io::flatten_others(script.value).empty());
}

TEST(PythonFiles, ShardedSafetensors) {
  const Dict<IValue, IValue> model =
      hb::io::load_checkpoint(path_of("checkpoint.pt")).toGenericDict().at("model").toGenericDict();
  for (const char* path : {"sharded", "sharded/model.safetensors.index.json"}) {
    const auto file = hb::io::load_state_dict_file(path_of(path));
    EXPECT_EQ(file.format, hb::io::CheckpointFormat::ShardedSafetensors);
    ASSERT_EQ(file.tensors.size(), 4u);
    for (const auto& [name, tensor] : file.tensors) expect_values(tensor, model.at(name).toTensor());
    EXPECT_EQ(file.metadata.at("format"), "pt");
  }
}

TEST(PythonFiles, TorchScriptParameters) {
  hb::bridge::serialize::InputArchive archive, linear;
  archive.load_from(path_of("script.pt"));
  archive.read("0", linear);
  Tensor weight;
  linear.read("weight", weight);
  EXPECT_EQ(weight.sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(weight.requires_grad());
}

TEST(PythonFiles, AWholeModuleIsRefused) {
  try {
    hb::io::load_checkpoint(path_of("whole_module.pt"));
    FAIL() << "a pickle of a Python class was read";
  } catch (const hb::Error& error) {
    EXPECT_NE(std::string(error.what()).find("torch.nn.modules.linear.Linear"), std::string::npos) << error.what();
  }
}

}  // namespace
