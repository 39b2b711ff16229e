#pragma once
// Convolutions as cuDNN's graphs. A call by them takes the host less than one by descriptors and algorithms, and their
// heuristics know more; conv_plan.h has what they do not take.

#include "cuda/conv_plan.h"

namespace hb::cuda {

/// False, with nothing done: cuDNN has no engine, or there is to be a trial of algorithms, which graphs have not.
bool convolve_by_graph(const ConvTask& task);

}  // namespace hb::cuda
