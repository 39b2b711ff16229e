#pragma once
// Gradients that are made where they are wanted (AccumulateGrad::set_destination), so that nobody copies them there.

#include "autograd/record.h"

namespace hb {

/// The memory in which a formula may write the whole gradient of its input `i`, contiguous, of these sizes and options:
/// that of a leaf which gets no other gradient in this pass. Undefined where there is none.
Tensor destination_of(const Backward& b, size_t i, IntArrayRef sizes, const TensorOptions& options);

/// The same, or else new memory.
Tensor destination_or_empty(const Backward& b, size_t i, IntArrayRef sizes, const TensorOptions& options);

/// Whether the pass that evaluates the node returns gradients to the program as they are made. A formula whose gradient
/// is one number for many elements then writes out what LibTorch writes out.
bool returned_as_made(const Backward& b);

}  // namespace hb
