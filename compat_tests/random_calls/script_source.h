#pragma once
// Sources of TorchScript with random statements over integers, floats, truths, strings, lists, dicts and tensors.
#include "inputs.h"

namespace random_calls {

/// def f(i: int, x: float, t: Tensor), which gives back a tuple of what its variables are at the end; of a method
/// `self` comes first, whose attributes the statements use: n (int), scale (float), words (str), w (Tensor) and child,
/// which has w, too.
std::string script_source(Inputs& in, bool method);

}  // namespace random_calls
