#pragma once
#include <halfbridge/bridge/nn/traits.h>
#include <torch/nn.h>

namespace torch::detail {
template <class T>
using has_forward = hb::bridge::nn::detail::has_plain_forward<T>;
using hb::bridge::nn::detail::enable_if_module_t;
using hb::bridge::nn::detail::is_module;
}  // namespace torch::detail
