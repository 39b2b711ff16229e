#pragma once

#include "backend/reduce.h"

namespace hb::cuda {

/// reduce_kernel.
void reduce(const ReduceLoop& l, ReduceOp op, ScalarType compute, const ReduceFinish& finish);

}  // namespace hb::cuda
