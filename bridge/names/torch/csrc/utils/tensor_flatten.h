#pragma once
#include <ATen/ATen.h>

namespace torch::utils {
using hb::flatten_dense_tensors;
using hb::unflatten_dense_tensors;
}  // namespace torch::utils
