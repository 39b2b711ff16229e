#pragma once
#include <c10/names.h>
#include <halfbridge/bridge/dispatch/dispatcher.h>

namespace torch::jit {
using namespace hb::bridge::jit;
}
