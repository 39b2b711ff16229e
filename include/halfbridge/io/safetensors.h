// Safetensors files.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <halfbridge/tensor.h>

namespace hb::io {

/// Names and tensors in the order of the file.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

struct SafetensorsFile {
  NamedTensors tensors;
  std::map<std::string, std::string> metadata;
};

/// Where a tensor lies in a safetensors file.
struct SafetensorsEntry {
  std::string name;
  ScalarType dtype = kFloat;
  std::vector<int64_t> shape;
  uint64_t offset = 0, bytes = 0;  // from the beginning of the file
};

/// What a file says of its tensors, in the order of the file.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;
  std::map<std::string, std::string> metadata;
};

/// Writes contiguous copies of the tensors (any dtype that a Tensor has), each name once. The file appears at
/// `path` only when it is complete.
HB_API void save_safetensors(const std::string& path, const NamedTensors& tensors,
                             const std::map<std::string, std::string>& metadata = {});

/// Reads a file. Throws hb::Error that names the file for one that is missing, truncated, or describes
/// anything that is not within it, and for dtypes that no Tensor has.
HB_API SafetensorsFile load_safetensors(const std::string& path);

/// Reads the header alone, with the same checks: every entry lies within the file and fits its shape and dtype.
/// `unfinished` allows bytes after the last tensor: a writer may have been stopped there.
HB_API SafetensorsHeader read_safetensors_header(const std::string& path, bool unfinished = false);

/// load_safetensors from memory; `label` names the data in errors.
HB_API SafetensorsFile parse_safetensors(const void* data, size_t size, const std::string& label = "memory");

}  // namespace hb::io
