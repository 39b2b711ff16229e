#pragma once

#include "core/loop.h"
#include "kernels/kernel.h"

namespace hb {

/// Runs `fn` over a loop in the given compute type (kFloat, kDouble or kLong).
inline Kernel<void(const Loop& loop, const ElementwiseFn& fn, ScalarType compute, const double* params)>
    elementwise_kernel{"elementwise"};
/// Copies with conversion between any two dtypes and layouts: loop of one output and one input.
inline Kernel<void(const Loop& loop)> copy_kernel{"copy_"};
/// Fills a loop of one output and no input.
inline Kernel<void(const Loop& loop, const Scalar& value)> fill_kernel{"fill_"};

/// The functions of unary.def and binary.def and the irregular ones, by name. Filled by src/cpu/isa (or src/cuda).
#define HB_UNARY(name, ...) inline Kernel<ElementwiseFn()> name##_formula{#name};
#include <halfbridge/ops/unary.def>
#define HB_BINARY(name, ...) inline Kernel<ElementwiseFn()> name##_formula{#name};
#include <halfbridge/ops/binary.def>

}  // namespace hb
