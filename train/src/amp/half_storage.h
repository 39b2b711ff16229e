#pragma once
// apex's O2 and O3: the network's parameters themselves are half.

#include <utility>
#include <vector>

#include <halfbridge/amp/levels.h>

namespace hb::amp {

/// The float32 values that parameters had before they were rounded.
using FullPrecision = std::vector<std::pair<Tensor, Tensor>>;  // (parameter, its old values)

/// Own parameters and buffers of a module to `dtype`, the very tensors that others hold. `before` may be null.
void store_in(bridge::nn::Module& module, ScalarType dtype, FullPrecision* before);
/// Makes a network half but for modules of `black`, which stay in float32 (casts in and back around them). Returns
/// what it rounded.
FullPrecision store_network_in_half(bridge::nn::Module& net, const CastList& black, ScalarType dtype);

}  // namespace hb::amp
