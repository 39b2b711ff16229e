#pragma once
// Types of schemas, and the values that fit them.

#include <string>

#include <halfbridge/ivalue.h>

namespace hb::bridge {

/// As values hold it: dtypes, layouts, memory formats and symbolic ints are ints.
TypePtr held_type(const TypePtr& type);
/// Whether a value may stand for an argument of that (held) type, or where code declares it. Variables, unions'
/// interfaces and classes of archives take anything.
bool value_fits(const IValue& value, const Type& type);

}  // namespace hb::bridge
