#pragma once
#include <halfbridge/bridge/stable/tensor.h>
#include <torch/csrc/stable/version.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/util/shim_utils.h>

namespace torch::stable {
using namespace hb::bridge::stable;
}
