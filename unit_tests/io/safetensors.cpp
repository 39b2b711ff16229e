// Safetensors files.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>
#include <halfbridge/io/safetensors.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace fs = std::filesystem;
using hb::Tensor;
using hb::io::NamedTensors;
using hb::io::SafetensorsFile;

std::string with_header(const std::string& header, const std::string& data = "") {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i));
  return bytes + header + data;
}

std::string error_of(const std::string& bytes) {
  try {
    hb::io::parse_safetensors(bytes.data(), bytes.size());
  } catch (const hb::Error& error) {
    return error.what();
  }
  return "";
}

std::string path_for(const char* name) {
  return (fs::temp_directory_path() / ("halfbridge-" + std::to_string(::getpid()) + "-" + name)).string();
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(IoSafetensors, EveryDtypeComesBack) {
  NamedTensors saved;
  for (hb::ScalarType dtype : {hb::kByte, hb::kChar, hb::kShort, hb::kInt, hb::kLong, hb::kHalf, hb::kFloat,
                               hb::kDouble, hb::kBool, hb::kBFloat16}) {
    saved.emplace_back(hb::toString(dtype), hb::arange(6).to(dtype).view({2, 3}).t());
  }
  saved.emplace_back("empty", hb::zeros({0, 3}));
  saved.emplace_back("scalar", hb::ones({}));
  const std::string path = path_for("dtypes.safetensors");
  hb::io::save_safetensors(path, saved, {{"format", "pt"}, {"note", "\xc3\xa9 \"quoted\""}});
  const SafetensorsFile file = hb::io::load_safetensors(path);
  fs::remove(path);
  EXPECT_EQ(file.metadata.at("note"), "\xc3\xa9 \"quoted\"");
  ASSERT_EQ(file.tensors.size(), saved.size());
  for (const auto& [name, expected] : saved) {
    const auto found =
        std::find_if(file.tensors.begin(), file.tensors.end(), [&](const auto& t) { return t.first == name; });
    ASSERT_NE(found, file.tensors.end()) << name;
    const Tensor plain = expected.contiguous();
    ASSERT_EQ(found->second.scalar_type(), plain.scalar_type()) << name;
    ASSERT_EQ(found->second.sizes(), plain.sizes()) << name;
    if (plain.numel() > 0) {
      EXPECT_EQ(std::memcmp(found->second.data_ptr(), plain.data_ptr(), plain.nbytes()), 0) << name;
    }
  }
}

TEST(IoSafetensors, WhatCannotBeSaved) {
  const std::string path = path_for("bad.safetensors");
  EXPECT_THROW(hb::io::save_safetensors(path, {{"a", hb::ones({1})}, {"a", hb::ones({1})}}), hb::Error);
  EXPECT_THROW(hb::io::save_safetensors(path, {{"a", Tensor()}}), hb::Error);
  EXPECT_THROW(hb::io::save_safetensors(path, {{"__metadata__", hb::ones({1})}}), hb::Error);
  EXPECT_THROW(hb::io::save_safetensors(path, {{"\xff", hb::ones({1})}}), hb::Error);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_THROW(hb::io::load_safetensors(path), hb::Error);
}

TEST(IoSafetensors, TruncatedOrDamagedAnywhere) {
  const std::string path = path_for("whole.safetensors");
  hb::io::save_safetensors(path, {{"w", hb::ones({2, 2})}, {"b", hb::ones({3}, hb::kLong)}}, {{"k", "v"}});
  const std::string whole = contents(path);
  fs::remove(path);
  ASSERT_EQ(error_of(whole), "");
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(error_of(whole.substr(0, size)), "") << size;
  EXPECT_NE(error_of(whole + "x"), "");
  size_t errors = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; value += 5) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(value);
      if (!error_of(damaged).empty()) ++errors;
    }
  }
  EXPECT_GT(errors, whole.size());
}

TEST(IoSafetensors, HeadersThatLie) {
  const std::string four(4, '\0');
  ASSERT_EQ(error_of(with_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", four)), "");
  for (
      const char* header : {
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})",
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})",
          R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"Q7","shape":[1],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":3,"shape":[1],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"F32","shape":[1]}})",
          R"({"a":{"dtype":"F32","data_offsets":[0,4]}})",
          R"({"a":7})",
          R"({"__metadata__":{"k":1},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          R"({})",
          R"([1])",
          R"({"a":)",
      }) {
    EXPECT_NE(error_of(with_header(header, four)), "") << header;
  }
  EXPECT_NE(error_of(with_header(std::string(100000, '['), four)), "");
  EXPECT_NE(error_of(std::string(8, '\xff') + "{}"), "");
}

}  // namespace
