#pragma once
// The update of a parameter in the same pass over memory as the outer product that is its gradient.

#include "backend/optim.h"
#include "recording.h"

namespace hb::graph {

/// The call of an optimizer's rule.
template <class Rule>
using Update = capture::CallOf<const UpdateCall&, ArrayRef<UpdateTensor>, const Rule&>;

/// Makes one call of a product of a column and a row (the gradient of a linear layer for a single example) and the
/// update that follows it: block by block, so that the gradient is read where it still lies in the cache.
void fuse_outer_updates(std::vector<RecordedCall>& calls);

}  // namespace hb::graph
