// Rename rules, nearest names, and the error of load_state_dict.
#include <gtest/gtest.h>
#include <halfbridge/bridge/nn/load_state.h>
#include <torch/torch.h>

#include <chrono>
#include <filesystem>

namespace {

using hb::io::NamedShape;
using hb::io::RenameRules;

std::string renamed(const std::string& rule, const std::string& name) {
  return RenameRules(std::vector<std::string>{rule}).apply(name);
}

TEST(RenameRules, ThreeForms) {
  EXPECT_EQ(renamed("encoder=enc", "encoder.0.weight"), "enc.0.weight");
  EXPECT_EQ(renamed("encoder=enc", "encoder"), "enc");
  EXPECT_EQ(renamed("encoder=enc", "encoders.0"), "encoders.0");
  EXPECT_EQ(renamed("encoder=", "encoder.0"), "0");
  EXPECT_EQ(renamed("module.*=*", "module.0.weight"), "0.weight");
  EXPECT_EQ(renamed("*=net.*", "0.weight"), "net.0.weight");
  EXPECT_EQ(renamed("enc_*=enc.*", "enc_0.weight"), "enc.0.weight");
  EXPECT_EQ(renamed("/layer(\\d+)/=layers.$1", "layer12.weight"), "layers.12.weight");
  EXPECT_EQ(renamed("/a\\/b=c/=d", "xa/b=c"), "xd");
  const RenameRules both({"a=b", "b=c"});
  EXPECT_EQ(both.apply("a.x"), "c.x");
}

TEST(RenameRules, WhatIsNoRule) {
  for (const char* bad : {"", "a", "=b", "a*=b", "a=b*", "a*b=c", "/(/=x", "/a", "/a/b"}) {
    EXPECT_THROW(RenameRules(std::vector<std::string>{bad}), hb::Error) << bad;
  }
}

TEST(RenameRules, CollisionsAndUnusedRules) {
  const hb::io::NamedTensors tensors{{"a.w", hb::ones({1})}, {"b.w", hb::ones({1})}};
  try {
    RenameRules({"a=b"}).apply(tensors);
    FAIL();
  } catch (const hb::Error& error) {
    for (const char* part : {"a.w", "b.w"}) EXPECT_NE(std::string(error.what()).find(part), std::string::npos);
  }
  EXPECT_EQ(RenameRules({"a=c", "x=y"}).unused(tensors), std::vector<std::string>{"x=y"});
}

TEST(NearestNames, DistanceAndShape) {
  const std::vector<NamedShape> candidates{{"encoder.layers.0.wieght", {{4, 4}}},
                                           {"encoder.layers.1.weight", {{4, 4}}},
                                           {"encoder.layers.0.bias", {{4}}},
                                           {"unrelated", {{9}}}};
  const auto nearest = [&](const std::string& name, std::vector<int64_t> shape) {
    return hb::io::nearest_names({{name, shape}}, candidates)[0];
  };
  EXPECT_EQ(nearest("encoder.layers.0.weight", {4, 4}), "encoder.layers.0.wieght");
  EXPECT_EQ(nearest("layers.1.weight", {4, 4}), "encoder.layers.1.weight");
  EXPECT_EQ(nearest("encoder.layers.0.weight", {4}), "encoder.layers.0.bias");
  EXPECT_EQ(nearest("zzz", {1, 2, 3}), "");
  EXPECT_EQ(hb::io::nearest_names({{"a", std::nullopt}}, {})[0], "");
}

TEST(NearestNames, HostileListsTakeNoAge) {
  std::vector<NamedShape> many;
  for (int i = 0; i < 4000; ++i) {
    many.push_back({std::to_string(i * 7919) + "." + std::string(3000, static_cast<char>('a' + i % 26)), std::nullopt});
  }
  const auto start = std::chrono::steady_clock::now();
  const std::string text = hb::io::describe(hb::io::compare_keys(many, {many.rbegin(), many.rbegin() + 2000}));
  EXPECT_FALSE(text.empty());
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 60);
}

TEST(SuggestRule, Prefixes) {
  const std::vector<NamedShape> plain{{"0.weight", {{2, 2}}}, {"0.bias", {{2}}}};
  const std::vector<NamedShape> wrapped{{"module.0.weight", {{2, 2}}}, {"module.0.bias", {{2}}}};
  EXPECT_EQ(hb::io::suggest_rule(plain, wrapped), "module.*=*");
  EXPECT_EQ(hb::io::suggest_rule(wrapped, plain), "*=module.*");
  EXPECT_FALSE(hb::io::suggest_rule(plain, {{"x", {{2}}}}));
}

torch::nn::Sequential make() { return torch::nn::Sequential(torch::nn::Linear(3, 2), torch::nn::BatchNorm1d(2)); }

hb::io::NamedTensors state_of(const torch::nn::Sequential& net, const std::string& prefix = "") {
  hb::io::NamedTensors state;
  for (const auto& item : net->state_dict()) state.emplace_back(prefix + item.key(), item.value());
  return state;
}

TEST(LoadState, TheErrorNamesTheNearestAndARule) {
  auto net = make();
  auto state = state_of(make(), "module.");
  state[0].second = torch::ones({3, 2});
  try {
    hb::bridge::nn::load_state_dict(*net, state);
    FAIL();
  } catch (const c10::Error& error) {
    const std::string text = error.what();
    for (const char* part : {"7 missing", "7 unexpected", "nearest given: module.1.running_mean", "'module.*=*'"})
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  hb::bridge::nn::LoadStateOptions options;
  options.rename = RenameRules({"module.*=*"});
  try {
    hb::bridge::nn::load_state_dict(*net, state, options);
    FAIL();
  } catch (const c10::Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("0.weight: expected [2, 3], got [3, 2] (transposed)"), std::string::npos) << text;
  }
}

TEST(LoadState, WithRenameAndWithoutCopy) {
  auto source = make(), net = make();
  hb::bridge::nn::LoadStateOptions options;
  options.rename = RenameRules({"module.*=*"});
  options.copy = false;
  const auto mismatch = hb::bridge::nn::load_state_dict(*net, state_of(source, "module."), options);
  EXPECT_TRUE(mismatch.missing_keys.empty() && mismatch.unexpected_keys.empty());
  EXPECT_EQ(net->state_dict()["0.weight"].data_ptr(), source->state_dict()["0.weight"].data_ptr());
  EXPECT_TRUE(net->named_parameters()["0.weight"].requires_grad());
  EXPECT_FALSE(net->named_buffers()["1.running_mean"].requires_grad());
}

TEST(LoadState, FromAPartOfAFile) {
  auto source = make(), net = make();
  hb::Dict<std::string, hb::IValue> file(hb::StringType::get(), hb::AnyType::get());
  file.insert("model", hb::io::dict_of(state_of(source)));
  file.insert("epoch", int64_t{1});
  const std::string path = (std::filesystem::temp_directory_path() / "halfbridge_load_state.pt").string();
  hb::io::save_state_dict_file(hb::IValue(file), path);
  hb::bridge::nn::LoadStateOptions options;
  options.only = "model";
  hb::bridge::nn::load_state_dict_file(*net, path, options);
  EXPECT_TRUE(torch::equal(net->state_dict()["0.bias"], source->state_dict()["0.bias"]));
  options.only = "modle";
  EXPECT_THROW(hb::bridge::nn::load_state_dict_file(*net, path, options), hb::Error);
  std::filesystem::remove(path);
}

}  // namespace
