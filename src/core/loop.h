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

/// Element-wise kernels, uniform in the number of operands: out[k][i] = f(in[0][i], in[1][i], …; params).
/// T is float, double, int64_t or a complex type: `compute` says which. Half types are computed in float, integers and
/// bool in int64. The runner converts, gathers strided operands and splits the work among threads, so that a formula is
/// one plain loop.
struct ElementwiseFn {
  const char* name = nullptr;
  void (*f32)(float* const* out, const float* const* in, int64_t n, const double* params) = nullptr;
  void (*f64)(double* const* out, const double* const* in, int64_t n, const double* params) = nullptr;
  /// Set where the function takes complex numbers. A real result, of abs say, is the real part.
  void (*c64)(Complex<float>* const* out, const Complex<float>* const* in, int64_t n, const double* params) = nullptr;
  void (*c128)(Complex<double>* const* out, const Complex<double>* const* in, int64_t n,
               const double* params) = nullptr;
  void (*i64)(int64_t* const* out, const int64_t* const* in, int64_t n, const double* params) = nullptr;
  /// Whether i64 is right for the bits of uint64.
  bool modular = false;
  /// Work per element relative to an addition; decides from which size threads help.
  int cost = 1;
};

/// Float for half types and float, double for double, int64 for integers and bool; complex types are their own.
ScalarType compute_type(ScalarType t);
/// What two or three operands are computed in: their promoted type under the rules for 0-d and wrapped numbers.
ScalarType result_type_of(ArrayRef<const Tensor*> tensors);
/// A 0-d tensor that promotes like a number.
Tensor wrapped_scalar(const Scalar& value, const Device& device);

}  // namespace hb
