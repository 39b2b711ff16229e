#pragma once
#include <c10/names.h>
#include <halfbridge/ivalue.h>

namespace c10::impl {
using GenericDict = hb::Dict<hb::IValue, hb::IValue>;
using GenericList = hb::List<hb::IValue>;
}  // namespace c10::impl
