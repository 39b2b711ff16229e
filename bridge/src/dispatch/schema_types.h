#pragma once
// Types of the schema language as texts: "Tensor?[]", "Dict(str, int)", "(int, Tensor)".

#include <optional>
#include <string>
#include <string_view>

#include <halfbridge/ivalue.h>

namespace hb::bridge {

/// As values hold it: dtypes, layouts, memory formats and symbolic ints are ints.
std::string held_type(const std::string& type);
/// What two schemas that agree have alike: int for SymInt.
std::string comparable_type(const std::string& type);
/// Whether a value is of that type; nothing for lists, optional ones and types that values do not tell.
std::optional<bool> is_of_type(const IValue& value, std::string_view type);
/// Whether a value may stand for an argument of that (held) type.
bool value_fits(const IValue& value, const std::string& type);
/// The type of a value, for messages.
std::string schema_type_of(const IValue& value);

}  // namespace hb::bridge
