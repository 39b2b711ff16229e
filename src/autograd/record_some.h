#pragma once
#include "autograd/record.h"

namespace hb {

/// As record_many, but gradients of results that were not used arrive undefined: their part need not be computed.
void record_some(const char* name, ArrayRef<Tensor*> results, ArrayRef<const Tensor*> inputs,
                 std::vector<SavedTensor> saved, BackwardFn f);

}  // namespace hb
