#pragma once

#include "backend/indexing.h"

namespace hb::cuda {

/// out[o][index[k]][:] op= in[o][k][:] of contiguous tensors, in an order that does not depend on the launch: by an
/// index that is sorted first. Half types are rounded once for about all that meets. `op` is not assign.
void put_runs(const char* name, const Tensor& out, const Tensor& index, const Tensor& in, Lines l, PutOp op);

}  // namespace hb::cuda
