#pragma once
// Memory that a function's `out` tensor offers (ops/common/out_offer.h): its result is made there.

#include <halfbridge/tensor.h>

namespace hb {
namespace offer {

/// Of this thread; null where nothing is offered.
extern thread_local constinit TensorImpl* memory __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// A tensor in the memory that is offered, and then no more; an undefined one where that has another layout.
Tensor take(const DimVector& sizes, const DimVector& strides, ScalarType dtype, const Device& device);

}  // namespace offer

/// A contiguous tensor, not initialised, for the result of a function: in the memory that is offered, or new.
Tensor empty_result(const DimVector& sizes, ScalarType dtype, const Device& device);

}  // namespace hb
