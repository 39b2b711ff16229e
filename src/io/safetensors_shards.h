// Safetensors in several files: an index that says which tensor is in which.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <halfbridge/io/safetensors.h>

namespace hb::io {

struct ShardIndex {
  std::vector<std::pair<std::string, std::string>> files;  // tensor, file beside the index; by tensor
  std::map<std::string, std::string> metadata;             // texts alone
};

/// Whether bytes may be an index: JSON's opening brace.
bool is_shard_index(std::string_view bytes);
ShardIndex parse_shard_index(std::string_view text, const std::string& label);

/// Reads the index and the files that it names.
SafetensorsFile load_sharded_safetensors(const std::string& index_path);
/// Writes NAME-00001-of-0000N.safetensors beside `index_path` (NAME.safetensors.index.json), then the index.
void save_sharded_safetensors(const std::string& index_path, const NamedTensors& tensors, uint64_t max_bytes,
                              const std::map<std::string, std::string>& metadata);

}  // namespace hb::io
