// One entry of a trace's metadata.
#pragma once

#include <string>

#include <halfbridge/diff/trace.h>

namespace hb::layer_diff {

/// What a record's JSON says: the record, and what it says of its call.
struct ParsedRecord {
  Record record;
  std::optional<int64_t> parent;
  std::optional<bool> training;
  std::string config;
  std::string same_as;  // the tensor that holds its bytes, where it has none itself
  bool has_dtype = false, has_shape = false;
};

/// Throws hb::Error that names the record for anything that is not as docs/trace-format.md has it. Unknown fields are
/// left alone, so that later versions may add some.
ParsedRecord parse_record(const std::string& name, const std::string& json);

/// As in safetensors: "F32".
const char* dtype_name(Dtype dtype);

}  // namespace hb::layer_diff
