#pragma once
#include <halfbridge/bridge/jit.h>
#include <torch/types.h>

namespace torch::jit {
using namespace hb::bridge::jit;
namespace script {
using hb::bridge::jit::Module;
}
}  // namespace torch::jit
