#pragma once
// Types of the schema language as texts: "Tensor?[]", "Dict(str, int)", "(int, Tensor)".

#include <string>

#include <halfbridge/ivalue.h>

namespace hb::bridge {

/// As values hold it: dtypes, layouts, memory formats and symbolic ints are ints.
std::string held_type(const std::string& type);
/// What two schemas that agree have alike: int for SymInt.
std::string comparable_type(const std::string& type);
/// Whether a value may stand for an argument of that (held) type.
bool value_fits(const IValue& value, const std::string& type);
/// The type of a value, for messages.
std::string schema_type_of(const IValue& value);

}  // namespace hb::bridge
