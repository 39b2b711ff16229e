// The comparer itself must be able to fail: what it accepts, what it refuses, and what it says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "../../safetensors_writer.h"
#include "../array_diff.h"

using namespace parity_diff;

namespace {

Array floats(std::vector<float> values) {
  Array array{Dtype::f32, {static_cast<int64_t>(values.size())}, ""};
  array.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return array;
}

Array longs(std::vector<int64_t> values) {
  Array array{Dtype::i64, {static_cast<int64_t>(values.size())}, ""};
  array.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t));
  return array;
}

constexpr Tolerance kTight{1e-5, 1e-6};

std::string temporary(const std::string& content) {
  const std::string path = testing::TempDir() + "compare_test.safetensors";
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

}  // namespace

TEST(Compare, EqualValuesAndNanPass) {
  const auto a = floats({1, NAN, INFINITY, -2});
  EXPECT_EQ(diff_arrays(a, a, {0, 0}).problem, "");
}

TEST(Compare, ReportsTheWorstElement) {
  const auto diff = diff_arrays(floats({1, 2, 3}), floats({1, 2.1f, 3.5f}), kTight);
  EXPECT_NE(diff.problem.find("2 of 3 elements"), std::string::npos) << diff.problem;
  EXPECT_NE(diff.problem.find("worst at [2]: expected 3, got 3.5"), std::string::npos) << diff.problem;
  EXPECT_GT(diff.used, 1);
}

TEST(Compare, CountsRoundingSteps) {
  const float next = std::nextafter(1.0f, 2.0f);
  const auto diff = diff_arrays(floats({1}), floats({next}), {0, 0});
  EXPECT_NE(diff.problem.find("(1 ULP"), std::string::npos) << diff.problem;
  EXPECT_EQ(diff_arrays(floats({1}), floats({next}), kTight).problem, "");
}

TEST(Compare, NanAgainstNumberFails) {
  EXPECT_NE(diff_arrays(floats({NAN}), floats({0}), kTight).problem, "");
  EXPECT_NE(diff_arrays(floats({0}), floats({NAN}), kTight).problem, "");
  EXPECT_NE(diff_arrays(floats({INFINITY}), floats({-INFINITY}), kTight).problem, "");
}

TEST(Compare, SmallTensorsAreHeldToTheirOwnSize) {
  EXPECT_NE(diff_arrays(floats({1e-6f, 2e-6f}), floats({3e-6f, 2e-6f}), kTight).problem, "");
}

TEST(Compare, ShapesDtypesAndIntegersMustBeEqual) {
  EXPECT_NE(diff_arrays(floats({1, 2}), floats({1}), kTight).problem.find("expected shape [2], got [1]"),
            std::string::npos);
  EXPECT_NE(diff_arrays(floats({1}), longs({1}), kTight).problem.find("expected dtype f32, got i64"),
            std::string::npos);
  EXPECT_NE(diff_arrays(longs({1, 5}), longs({1, 6}), {1, 1}).problem.find("first at [1]: expected 5, got 6"),
            std::string::npos);
}

TEST(Compare, TolerancesHaveALimit) {
  EXPECT_THROW(parse_tolerance("0.1 0", Dtype::f32), std::runtime_error);
  EXPECT_THROW(parse_tolerance("nonsense", Dtype::f32), std::runtime_error);
  EXPECT_EQ(parse_tolerance("1e-4 1e-5", Dtype::f32).rtol, 1e-4);
  EXPECT_EQ(default_tolerance("views.expand/y", Dtype::f32).rtol, 0);
}

TEST(ParityFile, ReadsWhatTheHarnessWrites) {
  parity::SafetensorsWriter writer;
  const float value = 2.5f;
  writer.add("a.b/c", "F32", {1, 1}, &value, sizeof value);
  writer.add_metadata("text:a.b/t", "line \"one\"\nline two");
  const std::string path = testing::TempDir() + "compare_test_written.safetensors";
  writer.write(path);
  const auto file = read_parity_file(path);
  EXPECT_EQ(file.arrays.at("a.b/c").number(0), 2.5);
  EXPECT_EQ(file.metadata.at("text:a.b/t"), "line \"one\"\nline two");
  std::remove(path.c_str());
}

TEST(ParityFile, RefusesWhatIsNoSuchFile) {
  EXPECT_THROW(read_parity_file("/nonexistent/file.safetensors"), std::runtime_error);
  EXPECT_THROW(read_parity_file(temporary("short")), std::runtime_error);
  EXPECT_THROW(read_parity_file(temporary(std::string(8, '\xff') + "{}")), std::runtime_error);
  const std::string lies = R"({"x":{"dtype":"F32","shape":[9],"data_offsets":[0,4]}})";
  EXPECT_THROW(read_parity_file(
                   temporary(std::string(1, static_cast<char>(lies.size())) + std::string(7, '\0') + lies + "1234")),
               std::runtime_error);
}
