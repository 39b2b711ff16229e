#pragma once

#include <string>
#include <tuple>
#include <vector>

#include <halfbridge/bridge/nn/activation.h>
#include <halfbridge/bridge/nn/conv.h>
#include <halfbridge/bridge/nn/distance.h>
#include <halfbridge/bridge/nn/dropout.h>
#include <halfbridge/bridge/nn/embedding.h>
#include <halfbridge/bridge/nn/fractional_pool.h>
#include <halfbridge/bridge/nn/loss.h>
#include <halfbridge/bridge/nn/normalization.h>
#include <halfbridge/bridge/nn/padding.h>
#include <halfbridge/bridge/nn/pooling.h>
#include <halfbridge/bridge/nn/vision.h>

/// The functions of functional whose options stand one by one, as modules of LibTorch call them. Each does what the
/// function of the same name does with these options.
namespace hb::bridge::nn::functional::detail {

using TensorPair = std::tuple<Tensor, Tensor>;
#define HB_DEFAULT(value) = value
#define HB_FUNCTIONAL_DETAIL(result, name, params, ...) HB_API result name params;
#include <halfbridge/bridge/nn/functional_detail.def>
#undef HB_FUNCTIONAL_DETAIL
#undef HB_DEFAULT

}  // namespace hb::bridge::nn::functional::detail
