#include "io/safetensors_shards.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "io/atomic_file.h"
#include "io/checked_json.h"
#include "io/io_error.h"
#include "io/mapped_file.h"

namespace hb::io {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxIndexBytes = 100'000'000;
constexpr size_t kMaxShards = 99'999;
constexpr std::string_view kIndexEnding = ".safetensors.index.json";
constexpr std::string_view kEnding = ".safetensors";

template <typename... Parts>
[[noreturn]] void fail(const std::string& label, const Parts&... parts) {
  io_fail("load_safetensors", "'", label, "': ", parts...);
}

Json parse_json(std::string_view text, const std::string& label) {
  if (text.size() > kMaxIndexBytes) fail(label, "expected an index of at most ", kMaxIndexBytes, " bytes");
  try {
    return parse_checked_json(text, 16, [&](const std::string& why) { fail(label, "the index: ", why); });
  } catch (const Json::exception& error) {
    fail(label, "expected an index of safetensors files in JSON: ", error.what());
  }
}

bool ends_with(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

// A name that leads out of the folder would let an index read any file.
void check_file_name(const std::string& file, const std::string& label) {
  if (file.empty() || file.find('/') != std::string::npos || file.find('\\') != std::string::npos ||
      file.find('\0') != std::string::npos || !ends_with(file, kEnding)) {
    fail(label, "expected names of .safetensors files beside the index, got '", file, "'");
  }
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::vector<NamedTensors> split(const NamedTensors& tensors, uint64_t max_bytes) {
  std::vector<NamedTensors> shards(1);
  uint64_t bytes = 0;
  for (const auto& item : tensors) {
    if (!item.second.defined()) io_fail("save_safetensors", "expected a defined tensor for '", item.first, "'");
    const uint64_t size = item.second.nbytes();
    if (!shards.back().empty() && (size > max_bytes || bytes > max_bytes - size)) {
      shards.emplace_back();
      bytes = 0;
    }
    shards.back().push_back(item);
    bytes += size;
  }
  return shards;
}

}  // namespace

bool is_shard_index(std::string_view bytes) {
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && bytes[first] == '{';
}

ShardIndex parse_shard_index(std::string_view text, const std::string& label) {
  const Json json = parse_json(text, label);
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || map == json.end() || !map->is_object()) {
    fail(label, "expected an index of safetensors files with a weight_map");
  }
  ShardIndex index;
  std::set<std::string> files;
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string()) fail(label, "expected the name of a file for '", name, "'");
    check_file_name(file.get<std::string>(), label);
    files.insert(file.get<std::string>());
    index.files.emplace_back(name, file.get<std::string>());
  }
  if (files.size() > kMaxShards) fail(label, "expected at most ", kMaxShards, " files, got ", files.size());
  if (const auto metadata = json.find("metadata"); metadata != json.end() && metadata->is_object()) {
    for (const auto& [key, value] : metadata->items())
      if (value.is_string()) index.metadata.emplace(key, value.get<std::string>());
  }
  return index;
}

SafetensorsFile load_sharded_safetensors(const std::string& index_path) {
  const ShardIndex index = parse_shard_index(MappedFile(index_path, "load_safetensors").bytes(), index_path);
  std::unordered_map<std::string, std::string> wanted(index.files.begin(), index.files.end());
  std::set<std::string> files;
  for (const auto& [name, file] : index.files) files.insert(file);
  SafetensorsFile result;
  result.metadata = index.metadata;
  for (const std::string& file : files) {
    SafetensorsFile shard = load_safetensors(folder_of(index_path) + file);
    for (auto& [name, tensor] : shard.tensors) {
      const auto found = wanted.find(name);
      if (found == wanted.end() || found->second != file) {
        fail(index_path, "'", file, "' holds '", name, "', which the index ",
             found == wanted.end() ? "does not name or names twice" : "says is in '" + found->second + "'");
      }
      wanted.erase(found);
      result.tensors.emplace_back(name, std::move(tensor));
    }
    for (auto& [key, text] : shard.metadata) result.metadata.emplace(key, std::move(text));
  }
  if (!wanted.empty()) fail(index_path, "'", wanted.begin()->second, "' does not hold '", wanted.begin()->first, "'");
  return result;
}

void save_sharded_safetensors(const std::string& index_path, const NamedTensors& tensors, uint64_t max_bytes,
                              const std::map<std::string, std::string>& metadata) {
  if (!ends_with(index_path, kIndexEnding)) {
    io_fail("save_safetensors", "expected an index named NAME", kIndexEnding, ", got '", index_path, "'");
  }
  if (max_bytes == 0) io_fail("save_safetensors", "expected shards of at least one byte");
  const std::string stem = index_path.substr(0, index_path.size() - kIndexEnding.size());
  const std::vector<NamedTensors> shards = split(tensors, max_bytes);
  if (shards.size() > kMaxShards) io_fail("save_safetensors", "expected at most ", kMaxShards, " files: larger shards");
  Json map = Json::object();
  uint64_t total = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    char number[48];
    std::snprintf(number, sizeof number, "-%05zu-of-%05zu", i + 1, shards.size());
    const std::string path = stem + number + std::string(kEnding);
    for (const auto& [name, tensor] : shards[i]) {
      if (map.contains(name)) io_fail("save_safetensors", "expected each name once, got '", name, "' again");
      map[name] = path.substr(folder_of(path).size());
      total += tensor.nbytes();
    }
    save_safetensors(path, shards[i], {{"format", "pt"}});
  }
  Json head = metadata;
  head["total_size"] = total;
  const std::string text = Json({{"metadata", head}, {"weight_map", map}}).dump(2) + "\n";
  AtomicFile file(index_path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace hb::io
