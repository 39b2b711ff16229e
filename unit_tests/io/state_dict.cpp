// One state dict through every format that can be written, and indices that lie.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>
#include <halfbridge/io/state_dict.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace {

namespace fs = std::filesystem;
using hb::Dict;
using hb::IValue;
using hb::Tensor;
using hb::io::CheckpointFormat;

class StateDictFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("halfbridge_state_dict_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }

  hb::io::StateDictFile through(const IValue& value, CheckpointFormat format,
                                hb::io::SaveStateDictOptions options = {}) const {
    const bool sharded = format == CheckpointFormat::ShardedSafetensors;
    const std::string file = path(sharded ? "model.safetensors.index.json" : "file");
    options.format = format;
    hb::io::save_state_dict_file(value, file, options);
    auto loaded = hb::io::load_state_dict_file(file);
    EXPECT_EQ(loaded.format, format);
    return loaded;
  }

  fs::path folder_;
};

void expect_same(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.scalar_type(), expected.scalar_type());
  ASSERT_EQ(got.sizes(), expected.sizes());
  const Tensor left = got.detach().contiguous(), right = expected.detach().contiguous();
  EXPECT_EQ(left.numel() ? std::memcmp(left.data_ptr(), right.data_ptr(), left.nbytes()) : 0, 0);
}

void expect_error(const std::function<void()>& body, const std::string& part) {
  try {
    body();
    FAIL() << "expected an error with '" << part << "'";
  } catch (const hb::Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

hb::io::NamedTensors every_dtype() {
  hb::io::NamedTensors tensors;
  for (const auto dtype : {hb::kByte, hb::kChar, hb::kShort, hb::kInt, hb::kLong, hb::kHalf, hb::kBFloat16, hb::kFloat,
                           hb::kDouble, hb::kBool}) {
    const Tensor values = hb::arange(6).to(dtype).view({2, 3});
    tensors.emplace_back(std::string("layer.") + hb::toString(dtype), values);
    tensors.emplace_back(std::string("strided.") + hb::toString(dtype), values.t());
  }
  tensors.emplace_back("scalar", hb::full({}, 2.5));
  tensors.emplace_back("empty", hb::zeros({0, 4}));
  return tensors;
}

constexpr CheckpointFormat kWritten[] = {CheckpointFormat::Torch, CheckpointFormat::LibTorch,
                                         CheckpointFormat::Safetensors, CheckpointFormat::ShardedSafetensors};

TEST_F(StateDictFiles, EveryDtypeThroughEveryFormat) {
  for (const CheckpointFormat format : kWritten) {
    SCOPED_TRACE(hb::io::format_name(format));
    const auto file = through(hb::io::dict_of(every_dtype()), format);
    ASSERT_EQ(file.tensors.size(), every_dtype().size());
    for (const auto& [name, tensor] : every_dtype()) {
      SCOPED_TRACE(name);
      const auto found = hb::io::value_at(file.value, name);
      ASSERT_TRUE(found);
      expect_same(found->toTensor(), tensor);
    }
  }
}

IValue checkpoint() {
  Dict<std::string, Tensor> model;
  model.insert("0.weight", hb::ones({2, 3}));
  model.insert("2.weight", hb::zeros({3}));
  Dict<std::string, IValue> adam(hb::StringType::get(), hb::AnyType::get());
  adam.insert("step", hb::full({}, 7.0));
  adam.insert("exp_avg", hb::ones({2, 3}));
  Dict<int64_t, IValue> state(hb::IntType::get(), hb::AnyType::get());
  state.insert(0, adam);
  Dict<std::string, IValue> group(hb::StringType::get(), hb::AnyType::get());
  group.insert("lr", 0.125);
  group.insert("betas", IValue(hb::ivalue::TupleData::create(std::vector<IValue>{IValue(0.5), IValue(0.75)})));
  group.insert("weight_decay", int64_t{0});
  group.insert("foreach", IValue());
  group.insert("amsgrad", false);
  group.insert("params", IValue(std::vector<int64_t>{0}));
  Dict<std::string, IValue> optimizer(hb::StringType::get(), hb::AnyType::get());
  optimizer.insert("state", state);
  auto groups = std::make_shared<hb::ivalue::ListData>();
  groups->element_type = hb::AnyType::get();
  groups->items = {group};
  optimizer.insert("param_groups", IValue(groups));
  Dict<std::string, IValue> all(hb::StringType::get(), hb::AnyType::get());
  all.insert("model", model);
  all.insert("optimizer", optimizer);
  all.insert("epoch", int64_t{3});
  all.insert("best", std::nan(""));
  all.insert("bytes", std::string("\xff\x00", 2));
  return all;
}

TEST_F(StateDictFiles, StructureStaysInPicklesAndSafetensors) {
  for (const CheckpointFormat format :
       {CheckpointFormat::Torch, CheckpointFormat::Safetensors, CheckpointFormat::ShardedSafetensors}) {
    SCOPED_TRACE(hb::io::format_name(format));
    const auto dict = through(checkpoint(), format).value.toGenericDict();
    EXPECT_EQ(dict.at("epoch").toInt(), 3);
    EXPECT_TRUE(std::isnan(dict.at("best").toDouble()));
    EXPECT_EQ(dict.at("bytes").toStringRef(), std::string("\xff\x00", 2));
    const auto optimizer = dict.at("optimizer").toGenericDict();
    const auto group = optimizer.at("param_groups").toListRef()[0].toGenericDict();
    EXPECT_EQ(group.at("betas").toTupleRef().elements()[1].toDouble(), 0.75);
    EXPECT_TRUE(group.at("foreach").isNone());
    EXPECT_TRUE(group.at("weight_decay").isInt());
    const auto state = optimizer.at("state").toGenericDict().at(int64_t{0}).toGenericDict();
    expect_same(state.at("exp_avg").toTensor(), hb::ones({2, 3}));
  }
}

TEST_F(StateDictFiles, LibTorchArchivesHoldModelsAndOptimizers) {
  const auto file = through(checkpoint(), CheckpointFormat::LibTorch);
  const auto dict = file.value.toGenericDict();
  expect_same(dict.at("model.0.weight").toTensor(), hb::ones({2, 3}));
  EXPECT_EQ(dict.at("epoch").toInt(), 3);
  const auto optimizer = dict.at("optimizer").toGenericDict();
  const auto group = optimizer.at("param_groups").toListRef()[0].toGenericDict();
  EXPECT_EQ(group.at("lr").toDouble(), 0.125);
  EXPECT_EQ(group.at("weight_decay").toDouble(), 0);  // LibTorch's readers want a float
  EXPECT_FALSE(group.contains("foreach"));
  const auto state = optimizer.at("state").toGenericDict().at(int64_t{0}).toGenericDict();
  EXPECT_EQ(state.at("step").toTensor().item<float>(), 7);
}

TEST_F(StateDictFiles, WhatAFormatCannotHoldIsAnError) {
  Dict<int64_t, Tensor> numbered;
  numbered.insert(3, hb::ones({1}));
  expect_error([&] { through(numbered, CheckpointFormat::LibTorch); }, "texts as names");
  expect_error([&] { through(IValue(3), CheckpointFormat::LibTorch); }, "tensors by name");
  Dict<std::string, Tensor> both;
  both.insert("a", hb::ones({1}));
  both.insert("a.b", hb::ones({1}));
  expect_error([&] { through(both, CheckpointFormat::LibTorch); }, "cannot hold both");
  for (const auto format : {CheckpointFormat::TorchLegacy, CheckpointFormat::TorchScript}) {
    expect_error([&] { through(both, format); }, "can be written");
  }
  Dict<std::string, IValue> twice(hb::StringType::get(), hb::AnyType::get());
  twice.insert("a", both);
  twice.insert("a.a", hb::ones({1}));
  expect_error([&] { through(twice, CheckpointFormat::Safetensors); }, "'a.a' twice");
}

TEST_F(StateDictFiles, TensorsOnlyLeavesTheRestOut) {
  hb::io::SaveStateDictOptions options;
  options.tensors_only = true;
  const auto file = through(checkpoint(), CheckpointFormat::Torch, options);
  EXPECT_TRUE(hb::io::flatten_others(file.value).empty());
  EXPECT_EQ(file.tensors[2].first, "optimizer.state.0.step");
}

TEST_F(StateDictFiles, ShardsAreNoLargerThanAsked) {
  hb::io::NamedTensors tensors;
  for (int i = 0; i < 10; ++i) tensors.emplace_back("t" + std::to_string(i), hb::full({10}, 0.5 * i));
  tensors.emplace_back("large", hb::ones({100}));
  hb::io::SaveStateDictOptions options;
  options.max_shard_bytes = 100;
  const auto file = through(hb::io::dict_of(tensors), CheckpointFormat::ShardedSafetensors, options);
  ASSERT_EQ(file.tensors.size(), 11u);
  for (const auto& [name, tensor] : tensors) expect_same(hb::io::value_at(file.value, name)->toTensor(), tensor);
  int shards = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().extension() != ".safetensors") continue;
    ++shards;
    const auto shard = hb::io::load_safetensors(entry.path().string());
    size_t bytes = 0;
    for (const auto& item : shard.tensors) bytes += item.second.nbytes();
    EXPECT_TRUE(bytes <= 100 || shard.tensors.size() == 1) << entry.path();
  }
  EXPECT_EQ(shards, 6);
  EXPECT_TRUE(fs::exists(path("model-00006-of-00006.safetensors")));
}

TEST_F(StateDictFiles, IndicesThatLie) {
  hb::io::save_safetensors(path("a.safetensors"), {{"x", hb::ones({1})}, {"y", hb::ones({1})}});
  hb::io::save_safetensors(path("b.safetensors"), {{"z", hb::ones({1})}});
  const auto bad = [&](const std::string& map, const std::string& part) {
    write("i.json", "{\"weight_map\": " + map + "}");
    expect_error([&] { hb::io::load_state_dict_file(path("i.json")); }, part);
  };
  bad(R"({"x": "../a.safetensors"})", "beside the index");
  bad(R"({"x": "/etc/passwd"})", "beside the index");
  bad(R"({"x": "a.safetensors\u0000.safetensors"})", "beside the index");
  bad(R"({"x": "a.safetensors"})", "holds 'y'");
  bad(R"({"x": "a.safetensors", "y": "b.safetensors", "z": "b.safetensors"})", "says is in 'b.safetensors'");
  bad(R"({"x": "a.safetensors", "y": "a.safetensors", "w": "b.safetensors", "z": "b.safetensors"})",
      "does not hold 'w'");
  bad(R"({"x": "a.safetensors", "x": "a.safetensors", "y": "a.safetensors"})", "twice");
  bad(R"({"x": "c.safetensors"})", "c.safetensors");
  bad(R"({"x": 3})", "name of a file");
  bad("[]", "weight_map");
  write("i.json", "{\"weight_map\"");
  expect_error([&] { hb::io::load_state_dict_file(path("i.json")); }, "in JSON");
}

TEST_F(StateDictFiles, StructuresThatLie) {
  const auto bad = [&](const std::string& structure, const std::string& part) {
    hb::io::save_safetensors(path("s"), {{"x", hb::ones({1})}}, {{"halfbridge.structure", structure}});
    expect_error([&] { hb::io::load_state_dict_file(path("s")); }, part);
  };
  bad(R"({"tensor": "y"})", "not there");
  bad(R"({"dict": [["a"]]})", "a key and a value");
  bad(R"({"dict": [[{"list": []}, 1]]})", "plain key");
  bad(R"({"code": "x"})", "unknown");
  bad("{", "not JSON");
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "{\"list\":[";
  bad(deep, "too deep");
}

TEST_F(StateDictFiles, OtherFilesAreNamed) {
  write("text", "hello, this is no checkpoint");
  expect_error([&] { hb::io::load_state_dict_file(path("text")); }, "expected a file of torch.save");
  write("none", "");
  expect_error([&] { hb::io::load_state_dict_file(path("none")); }, "empty");
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  write("tar", tar);
  expect_error([&] { hb::io::load_state_dict_file(path("tar")); }, "tar archive");
  expect_error([&] { hb::io::load_state_dict_file(path("absent")); }, "No such file");
  expect_error([&] { hb::io::load_state_dict_file(folder_.string()); }, "index");
}

TEST(Flatten, SharedPartsCannotMultiply) {
  IValue value = IValue(std::vector<IValue>{IValue(hb::ones({1}))});
  for (int i = 0; i < 60; ++i) value = IValue(std::vector<IValue>{value, value});
  expect_error([&] { hb::io::flatten(value); }, "got more");
}

TEST(Flatten, FindsKeysWithDots) {
  Dict<std::string, Tensor> inner;
  inner.insert("b.c", hb::ones({2}));
  Dict<std::string, IValue> outer(hb::StringType::get(), hb::AnyType::get());
  outer.insert("a", inner);
  EXPECT_EQ(hb::io::flatten(outer)[0].first, "a.b.c");
  ASSERT_TRUE(hb::io::value_at(outer, "a.b.c"));
  EXPECT_FALSE(hb::io::value_at(outer, "a.b"));
}

}  // namespace
