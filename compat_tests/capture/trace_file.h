// A trace as tests read it: every record with its JSON and its tensor. Knows nothing of how traces are written.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

struct TraceRecord {
  nlohmann::json json;
  torch::Tensor value;  // undefined where only statistics were written

  std::string text(const char* key) const { return json.value(key, std::string()); }
  int64_t number(const char* key) const { return json.value(key, int64_t{-1}); }
};

class TraceFile {
 public:
  explicit TraceFile(const std::string& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) read(file.string());
    std::sort(records_.begin(), records_.end(),
              [](const auto& a, const auto& b) { return a.number("order") < b.number("order"); });
  }

  const std::string& producer() const { return producer_; }
  const std::string& end() const { return end_; }
  const std::vector<TraceRecord>& records() const { return records_; }

  /// The records with these values of fields, in their order: `{{"kind", "output"}, {"path", "fc"}}`.
  std::vector<TraceRecord> find(const std::map<std::string, nlohmann::json>& fields) const {
    std::vector<TraceRecord> found;
    for (const auto& r : records_) {
      const bool all = std::all_of(fields.begin(), fields.end(), [&](const auto& f) {
        return r.json.contains(f.first) && r.json.at(f.first) == f.second;
      });
      if (all) found.push_back(r);
    }
    return found;
  }
  /// The only record with these fields.
  TraceRecord one(const std::map<std::string, nlohmann::json>& fields) const {
    const auto found = find(fields);
    if (found.size() != 1)
      throw std::runtime_error(nlohmann::json(fields).dump() + ": expected one record, got " +
                               std::to_string(found.size()));
    return found[0];
  }
  /// Path of modules, name of functions: one for each call, in the order of calls.
  std::vector<std::string> calls() const {
    std::map<int64_t, std::string> by_number;
    for (const auto& r : records_)
      if (r.json.contains("call"))
        by_number[r.number("call")] = r.json.contains("path") ? r.text("path") : r.text("type") + "()";
    std::vector<std::string> all;
    for (const auto& call : by_number) all.push_back(call.second);
    return all;
  }

 private:
  static torch::ScalarType dtype(const std::string& name) {
    static const std::map<std::string, torch::ScalarType> types{
        {"F64", torch::kDouble}, {"F32", torch::kFloat}, {"F16", torch::kHalf},  {"BF16", torch::kBFloat16},
        {"I64", torch::kLong},   {"I32", torch::kInt},   {"I16", torch::kShort}, {"I8", torch::kChar},
        {"U8", torch::kByte},    {"BOOL", torch::kBool}};
    return types.at(name);
  }
  void read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    uint64_t length = 0;
    file.read(reinterpret_cast<char*>(&length), 8);
    std::string header(length, ' ');
    file.read(header.data(), static_cast<std::streamsize>(length));
    const auto json = nlohmann::json::parse(header);
    for (const auto& item : json.items()) {
      if (item.key() == "__metadata__") continue;
      auto value = torch::empty(item.value().at("shape").get<std::vector<int64_t>>(), dtype(item.value().at("dtype")));
      file.seekg(static_cast<std::streamoff>(8 + length + item.value().at("data_offsets")[0].get<uint64_t>()));
      file.read(static_cast<char*>(value.data_ptr()), static_cast<std::streamsize>(value.nbytes()));
      tensors_[item.key()] = value;
    }
    if (!file) throw std::runtime_error("could not read " + path);
    const auto& metadata = json.at("__metadata__");
    producer_ = metadata.at("producer");
    if (metadata.contains("end")) end_ = metadata.at("end");
    for (const auto& item : metadata.items()) {
      const std::string text = item.value();
      if (text.empty() || text[0] != '{') continue;
      TraceRecord r;
      r.json = nlohmann::json::parse(text);
      const auto tensor = tensors_.find(r.json.value("same_as", item.key()));
      if (tensor != tensors_.end()) r.value = tensor->second.reshape(r.json.at("shape").get<std::vector<int64_t>>());
      records_.push_back(std::move(r));
    }
  }

  std::string producer_, end_;
  std::map<std::string, torch::Tensor> tensors_;
  std::vector<TraceRecord> records_;
};
