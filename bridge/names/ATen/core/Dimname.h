#pragma once
#include <ATen/core/symbol.h>
#include <c10/names.h>

namespace at {
using hb::bridge::Dimname;
using hb::bridge::DimnameList;
using hb::bridge::NameType;
}  // namespace at
