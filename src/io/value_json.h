// Structure of a value as JSON, its tensors by name: what a safetensors header holds of more than a dict of tensors.
#pragma once

#include <string>

#include <halfbridge/io/safetensors.h>
#include <halfbridge/ivalue.h>

namespace hb::io {

/// The structure; tensors are named as flatten() names them.
std::string structure_text(const IValue& value);
/// The value again. Throws hb::Error for a text that is malformed or names a tensor that is not there.
IValue value_of_structure(const std::string& text, const NamedTensors& tensors, const std::string& label);

}  // namespace hb::io
