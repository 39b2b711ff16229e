#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/at_internal.h>

namespace at::internal {
using namespace hb::bridge::internal;
}
