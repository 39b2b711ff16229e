#pragma once
#include <ATen/core/function_schema.h>

namespace torch::jit {
using namespace hb::bridge::jit;
}
