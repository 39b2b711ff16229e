#pragma once
// First values of parameters. Each function fills its tensor in place without recording gradients, and
// returns it. The same seed gives the same values as LibTorch.

#include <tuple>
#include <variant>

#include <halfbridge/bridge/enum.h>
#include <halfbridge/tensor.h>

namespace hb::bridge::nn::init {

using NonlinearityType =
    std::variant<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D, enumtype::kConv3D, enumtype::kConvTranspose1D,
                 enumtype::kConvTranspose2D, enumtype::kConvTranspose3D, enumtype::kSigmoid, enumtype::kTanh,
                 enumtype::kReLU, enumtype::kLeakyReLU>;
using FanModeType = std::variant<enumtype::kFanIn, enumtype::kFanOut>;

/// The factor by which weights before this nonlinearity are widened; `param` is a leaky ReLU's slope.
HB_API double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);

HB_API Tensor constant_(Tensor tensor, Scalar value);
HB_API Tensor zeros_(Tensor tensor);
HB_API Tensor ones_(Tensor tensor);
HB_API Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
HB_API Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
/// The identity; `matrix` has 2 dimensions.
HB_API Tensor eye_(Tensor matrix);
/// A convolution weight (3 to 5 dimensions) that passes its input on.
HB_API Tensor dirac_(Tensor tensor);
/// A (semi-)orthogonal matrix times `gain`; dimensions after the first are flattened (Saxe et al., 2013).
HB_API Tensor orthogonal_(Tensor tensor, double gain = 1.0);
/// Normal values, the part `sparsity` of each column zero (Martens, 2010); `tensor` has 2 dimensions.
HB_API Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);

/// He et al., 2015; at least 2 dimensions. By default for kFanIn and kLeakyReLU: functions of their own, since programs
/// that call none of them need not know variants then.
HB_API Tensor kaiming_normal_(Tensor tensor, double a = 0);
HB_API Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode);
HB_API Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity);
HB_API Tensor kaiming_uniform_(Tensor tensor, double a = 0);
HB_API Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode);
HB_API Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity);
/// Glorot and Bengio, 2010; at least 2 dimensions.
HB_API Tensor xavier_normal_(Tensor tensor, double gain = 1.0);
HB_API Tensor xavier_uniform_(Tensor tensor, double gain = 1.0);

/// (inputs, outputs) that meet in one weight of a layer; at least 2 dimensions.
HB_API std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor);

}  // namespace hb::bridge::nn::init
