#pragma once
#include <torch/types.h>

// One by one, so that inside the namespace the types come before torch's values of the same names.
namespace torch::enumtype {
#define HB_CHOICE(name) using hb::bridge::enumtype::k##name;
HB_FORALL_CHOICES(HB_CHOICE)
#undef HB_CHOICE
using hb::bridge::enumtype::get_enum_name;
using hb::bridge::enumtype::reduction_get_enum;
}  // namespace torch::enumtype
