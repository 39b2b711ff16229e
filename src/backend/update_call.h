#pragma once
// What the update kernels of the optimizers take: parameters with their state, and how to read the gradients.

#include <cmath>
#include <cstdint>

#include <halfbridge/array_ref.h>

#include "backend/kernel.h"

namespace hb {

/// One parameter and its state: all dense and in one layout. What is unused is null. All pointers are to the memory of
/// the device.
struct UpdateTensor {
  static constexpr int kMaxStates = 3;
  void* param;
  /// Not null: this copy is updated, and the parameter is its rounded value. Where the parameter is not (it was changed
  /// since the last step), the copy starts again from the parameter.
  float* master;
  const void* grad;
  void* state[kMaxStates];
  int64_t* step;   // counts the updates made
  double* scalar;  // a number that the rule carries from step to step
  int64_t numel;
};
inline void operands(capture::Operands& v, UpdateTensor& t) {
  v.changes(t.param), v.changes(t.master), v.reads(t.grad), v.changes(t.step), v.changes(t.scalar);
  for (void*& state : t.state) v.changes(state);
}

/// What the parameters of one call have in common. They are double and so are gradients and states, or each of the
/// three is float, fp16 or bf16; computed is in double or in float.
struct UpdateCall {
  ScalarType param, grad, state;
  unsigned flags;           // of the rule
  bool maximize;            // the gradient counts with the opposite sign
  const float* grad_scale;  // not null: gradients are divided by this number
  const float* found_inf;   // not null and not zero: nothing is changed, no step counted
  /// On the CPU, not null: element i of the only parameter's gradient is left[i / width] * right[i % width], as
  /// gemm_kernel computes it, and `grad` of the tensor is not read. For float or double throughout, no master weights.
  const void *left = nullptr, *right = nullptr;
  int64_t width = 0;
  /// On the CPU, not null: gradients are multiplied by this number. For float gradients, without `grad_scale`.
  const float* grad_factor = nullptr;
};
inline void operands(capture::Operands& v, UpdateCall& c) {
  v.reads(c.grad_scale), v.reads(c.found_inf), v.reads(c.left), v.reads(c.right), v.reads(c.grad_factor);
}
/// Rules are numbers alone.
template <class Rule>
requires requires { &Rule::states; }
void operands(capture::Operands&, Rule&) {}

/// Whether two of the tensors share memory: then their updates must follow each other.
HB_API bool overlap(ArrayRef<UpdateTensor> tensors, size_t itemsize);

/// Updates all tensors of a list in one pass over memory.
template <class Rule>
using UpdateKernel = Kernel<void(const UpdateCall& call, ArrayRef<UpdateTensor> tensors, const Rule& rule)>;

}  // namespace hb
