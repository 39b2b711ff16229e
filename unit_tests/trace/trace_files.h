#pragma once
// Reads a trace as any safetensors reader would, with its records.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <halfbridge/io/safetensors.h>
#include <halfbridge/ops.h>
#include <nlohmann/json.hpp>

namespace trace_files {

using Json = nlohmann::json;

struct Record {
  std::string name;
  Json json;
  hb::Tensor tensor;  // undefined for statistics alone

  std::string kind() const { return json.at("kind"); }
  std::string path() const { return json.value("path", "-"); }
  std::string type() const { return json.value("type", ""); }
  std::string what() const { return json.value("name", ""); }
  int64_t number(const char* key) const { return json.value(key, int64_t{-1}); }
};

struct Trace {
  std::vector<Record> records;  // by order
  std::vector<std::map<std::string, std::string>> files;

  std::string end() const { return files.empty() || !files.back().count("end") ? "" : files.back().at("end"); }
  /// Those of a kind, at a path ("-": functions; "*": any).
  std::vector<Record> of(const std::string& kind, const std::string& path = "*") const {
    std::vector<Record> found;
    for (const Record& r : records)
      if (r.kind() == kind && (path == "*" || r.path() == path)) found.push_back(r);
    return found;
  }
  Record only(const std::string& kind, const std::string& path, const std::string& name = "") const {
    std::vector<Record> found;
    for (const Record& r : of(kind, path))
      if (name.empty() || r.what() == name) found.push_back(r);
    EXPECT_EQ(found.size(), 1u) << kind << " of '" << path << "' " << name;
    return found.empty() ? Record() : found.front();
  }
  /// Types of the calls, in order.
  std::vector<std::string> calls() const {
    std::vector<std::string> types;
    for (const Record& r : of("output"))
      if (r.number("index") == 0) types.push_back(r.type());
    return types;
  }
};

inline Trace read(const std::string& folder) {
  Trace trace;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().string());
  std::sort(names.begin(), names.end());
  std::map<std::string, hb::Tensor> tensors;
  for (const std::string& name : names) {
    const hb::io::SafetensorsFile file = hb::io::load_safetensors(name);
    trace.files.push_back(file.metadata);
    for (const auto& [key, tensor] : file.tensors) tensors[key] = tensor;
    for (const auto& [key, text] : file.metadata)
      if (text.front() == '{') trace.records.push_back({key, Json::parse(text), {}});
  }
  std::sort(trace.records.begin(), trace.records.end(),
            [](const Record& a, const Record& b) { return a.number("order") < b.number("order"); });
  for (Record& r : trace.records) {
    const std::string holder = r.json.value("same_as", r.name);
    if (tensors.count(holder)) {
      r.tensor = tensors.at(holder).reshape(r.json.at("shape").get<std::vector<int64_t>>());
    } else {
      EXPECT_FALSE(r.json.contains("same_as")) << r.name;
    }
  }
  return trace;
}

/// An empty folder of this test's own.
inline std::string fresh_folder() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const auto folder = std::filesystem::temp_directory_path() / (std::string("hb_trace_") + test->test_suite_name() +
                                                                "_" + test->name() + "_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder.string();
}

}  // namespace trace_files
