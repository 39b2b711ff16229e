#pragma once
// Complex tensors: made of parts, seen as parts, and the functions that only they need. Methods: methods.def.

#include <halfbridge/tensor.h>

namespace hb {

/// real + i imag, broadcast together; both of dtype float or both of double. The result is complex64 or complex128.
HB_API Tensor complex(const Tensor& real, const Tensor& imag);
/// abs (cos angle + i sin angle); operands as those of complex().
HB_API Tensor polar(const Tensor& abs, const Tensor& angle);
/// A complex view of a real tensor (..., 2) whose last dimension is dense: (...).
HB_API Tensor view_as_complex(const Tensor& self);
/// A view of the imaginary parts. Throws for real tensors.
HB_API Tensor imag(const Tensor& self);

}  // namespace hb
