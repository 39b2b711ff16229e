#pragma once
#include <halfbridge/bridge/jit_exception.h>

namespace torch::jit {
using hb::bridge::jit::JITException;
}  // namespace torch::jit
