#pragma once

#include <initializer_list>

#include <halfbridge/tensor.h>

namespace hb {

/// Element-wise work on operands that broadcast together: who is where in memory, dimensions merged where possible.
/// Outputs stand first. Strides are in bytes; dimension 0 is the innermost.
struct Loop {
  static constexpr int kMaxOperands = 8;
  struct Operand {
    char* data;
    ScalarType dtype;
    DimVector strides;
    intrusive_ptr<TensorImpl> held;  // keeps the memory of an input that another thread may settle
  };
  int outputs = 0, operands = 0;
  Operand op[kMaxOperands];
  /// Bit k: operand k is one number of its dtype in host memory, whatever device the loop runs on.
  unsigned numbers = 0;
  DimVector sizes;
  int64_t numel = 0;

  /// `outs` have the broadcast shape of everything; undefined inputs are not allowed. Reads physical layouts.
  Loop(ArrayRef<const Tensor*> outs, ArrayRef<const Tensor*> ins);
};

/// The shape of operands that broadcast together; throws [name] with both shapes where they do not.
DimVector broadcast_sizes(const char* name, ArrayRef<const Tensor*> tensors);
/// A new tensor for an element-wise result: this shape and dtype, in the memory layout of the first input that has the
/// full shape (channels-last, permuted and deferred layouts survive).
Tensor empty_elementwise(const DimVector& sizes, ScalarType dtype, ArrayRef<const Tensor*> ins);

/// Float for half types and float, double for double, int64 for integers and bool; complex types are their own.
ScalarType compute_type(ScalarType t);
/// What two or three operands are computed in: their promoted type under the rules for 0-d and wrapped numbers.
ScalarType result_type_of(ArrayRef<const Tensor*> tensors);
/// A 0-d tensor that promotes like a number.
Tensor wrapped_scalar(const Scalar& value, const Device& device);

}  // namespace hb
