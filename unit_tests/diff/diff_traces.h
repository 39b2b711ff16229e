// Traces made by hand, for the tests of the comparison.
#pragma once

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfbridge/diff/compare.h>
#include <halfbridge/engine.h>
#include <halfbridge/io/safetensors.h>
#include <nlohmann/json.hpp>

namespace diff_test {

using Json = nlohmann::json;

/// A folder of its own per test, removed with the object.
class Folder {
 public:
  Folder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ =
        testing::TempDir() + "/diff_" + test->test_suite_name() + '_' + test->name() + '_' + std::to_string(::getpid());
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + '/' + name; }

 private:
  std::string path_;
};

inline hb::Tensor values(const std::vector<double>& numbers, hb::Dtype dtype = hb::kFloat) {
  hb::Tensor tensor = hb::zeros({static_cast<int64_t>(numbers.size())}, hb::TensorOptions().dtype(hb::kDouble));
  std::copy(numbers.begin(), numbers.end(), tensor.data_ptr<double>());
  return tensor.to(dtype);
}

/// Elements that differ from each other, the same for the same seed.
inline hb::Tensor filled(const std::vector<int64_t>& shape, double seed) {
  hb::Tensor tensor = hb::zeros(shape, hb::TensorOptions().dtype(hb::kFloat));
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    tensor.data_ptr<float>()[i] = static_cast<float>(std::sin(seed + 0.7 * static_cast<double>(i)) + 1.5);
  }
  return tensor;
}

class TraceBuilder {
 public:
  /// Adds a record and returns its entry to change.
  Json& record(const Json& fields, const hb::Tensor& tensor) {
    entries_.push_back(fields);
    tensors_.push_back(tensor);
    Json& entry = entries_.back();
    entry["order"] = order_++;
    if (!entry.contains("step")) entry["step"] = step;
    return entry;
  }

  /// A call with one input and one output. An empty path is that of a function, "." that of the root.
  int64_t call(const std::string& type, const std::string& path, const hb::Tensor& input, const hb::Tensor& output,
               int64_t parent = -1) {
    const int64_t id = calls_++;
    record(fields_of("input", id, type, path, parent), input);
    record(fields_of("output", id, type, path, parent), output);
    return id;
  }
  void tensor_of(int64_t id, const std::string& kind, const std::string& type, const std::string& path,
                 const hb::Tensor& tensor, int64_t index = 0) {
    record(fields_of(kind, id, type, path, -1), tensor)["index"] = index;
  }
  void state(const std::string& kind, const std::string& path, const std::string& name, const hb::Tensor& tensor) {
    record({{"kind", kind}, {"path", path}, {"root", root}, {"name", name}}, tensor);
  }

  /// Writes a folder with one file.
  std::string save(const std::string& folder, const std::string& end = "complete") const {
    std::map<std::string, std::string> metadata = {{"halfbridge.trace", "1"}, {"producer", "test 1"}, {"file", "0"}};
    if (!end.empty()) metadata["end"] = end;
    hb::io::NamedTensors tensors;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const std::string name = "r" + std::to_string(i);
      metadata[name] = entries_[i].dump();
      if (tensors_[i].defined()) tensors.emplace_back(name, tensors_[i]);
    }
    std::filesystem::create_directories(folder);
    hb::io::save_safetensors(folder + "/trace-00000.safetensors", tensors, metadata);
    return folder;
  }

  std::string root = "Net";
  int64_t step = 0;

 private:
  Json fields_of(const std::string& kind, int64_t id, const std::string& type, const std::string& path,
                 int64_t parent) const {
    Json fields = {{"kind", kind}, {"index", 0}, {"call", id}, {"type", type}};
    if (!path.empty()) {
      fields["path"] = path == "." ? "" : path;
      fields["root"] = root;
    }
    if (parent >= 0) fields["parent"] = parent;
    return fields;
  }

  std::vector<Json> entries_;
  std::vector<hb::Tensor> tensors_;
  int64_t order_ = 0, calls_ = 0;
};

/// Saves both and compares them.
inline hb::layer_diff::Report compared(const TraceBuilder& ref, const TraceBuilder& test,
                                       const hb::layer_diff::CompareOptions& options = {}) {
  const Folder folder;
  return compare(hb::layer_diff::Trace::open(ref.save(folder / "ref")),
                 hb::layer_diff::Trace::open(test.save(folder / "test")), options);
}

/// What stands for a call in the tests' expectations.
inline std::string name(const hb::layer_diff::Call* call) {
  return !call ? "-" : call->has_path ? (call->path.empty() ? "." : call->path) : call->type;
}

/// "match ref test" of every row.
inline std::vector<std::string> rows(const hb::layer_diff::Report& report) {
  using hb::layer_diff::Match;
  static const std::map<Match, std::string> kNames = {{Match::path, "path"},         {Match::map, "map"},
                                                      {Match::order, "order"},       {Match::fused, "fused"},
                                                      {Match::only_ref, "only_ref"}, {Match::only_test, "only_test"}};
  std::vector<std::string> result;
  for (const auto& layer : report.layers) {
    std::string row = kNames.at(layer.match) + ' ' + name(layer.ref) + ' ' + name(layer.test);
    for (const auto* call : layer.fused) row += '+' + name(call);
    result.push_back(row);
  }
  return result;
}

}  // namespace diff_test
