#pragma once

#include "backend/kernel.h"
#include "core/loop.h"

namespace hb {

/// The simplest loop: operands of numel elements one after the other, outputs first. What small operations use, for
/// which making a Loop would cost more than the work.
struct FlatLoop {
  int outputs = 0, operands = 0;
  int64_t numel = 0;
  char* data[Loop::kMaxOperands];
  ScalarType dtype[Loop::kMaxOperands];
  /// Bit i: operand i is one number of its dtype, in host memory.
  unsigned single = 0;
};

/// Runs `fn` over a loop in the given compute type (kFloat, kDouble, kLong or a complex one).
inline Kernel<void(const Loop& loop, const ElementwiseFn& fn, ScalarType compute, const double* params)>
    elementwise_kernel{"elementwise"};
inline Kernel<void(const FlatLoop& loop, const ElementwiseFn& fn, ScalarType compute, const double* params)>
    flat_elementwise_kernel{"elementwise"};
/// Copies with conversion between any two dtypes and layouts: loop of one output and one input.
inline Kernel<void(const Loop& loop)> copy_kernel{"copy_"};
/// Fills a loop of one output and no input.
inline Kernel<void(const Loop& loop, const Scalar& value)> fill_kernel{"fill_"};

/// The functions of unary.def and binary.def and the irregular ones, by name. Filled by src/cpu/isa (or src/cuda).
#define HB_UNARY(name, ...) inline Kernel<ElementwiseFn()> name##_formula{#name};
#include <halfbridge/ops/unary.def>
#define HB_BINARY(name, ...) inline Kernel<ElementwiseFn()> name##_formula{#name};
#include <halfbridge/ops/binary.def>
#define HB_FORMULA(name) inline Kernel<ElementwiseFn()> name##_formula{#name};
#include "formulas/formulas.def"

}  // namespace hb
