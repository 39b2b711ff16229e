#pragma once

#include <vector>

#include <halfbridge/tensor.h>

namespace hb::bridge::nn::utils {

/// clip_grad_norm_ without a look at the norm, which it returns; undefined where there are no gradients.
Tensor clip_by_norm(const std::vector<Tensor>& parameters, double max_norm, double norm_type, bool error_if_nonfinite);

}  // namespace hb::bridge::nn::utils
