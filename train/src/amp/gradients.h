#pragma once
// Steps of the flow that all training loops of this layer share.

#include <vector>

#include <halfbridge/bridge/optim/optimizer.h>

#include "half_storage.h"

namespace hb::amp {

/// The parameters' gradients that are there. Half ones are first replaced by float32 ones, so that unscaling loses
/// nothing.
std::vector<Tensor> full_precision_grads(bridge::optim::Optimizer& optimizer);
/// Master weights with the values from before rounding; throws for an optimizer that cannot keep them.
void keep_master_weights(bridge::optim::Optimizer& optimizer, const FullPrecision& before);

}  // namespace hb::amp
