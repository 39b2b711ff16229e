#pragma once

#include "backend/kernel.h"
#include "core/loop.h"

namespace hb {

namespace cpu {
struct ElementwiseFn;
}

/// The simplest loop: operands of numel elements one after the other, outputs first. What small operations use, for
/// which making a Loop would cost more than the work.
struct FlatLoop {
  int outputs = 0, operands = 0;
  int64_t numel = 0;
  char* data[Loop::kMaxOperands];
  ScalarType dtype[Loop::kMaxOperands];
  /// Bit i: operand i is one element, which stands for numel of them.
  unsigned single = 0;
  /// Bit i: it is in host memory, whatever device the loop runs on.
  unsigned numbers = 0;
};

/// One element-wise computation: out[k][i] = f(in[0][i], in[1][i], …; params).
struct ElementwiseCall {
  const FlatLoop* flat;  // null where the operands need a loop
  const Loop* loop;      // null where flat is not
  /// What is computed in: kFloat (half types too), kDouble, kLong (all integers and bool) or a complex type.
  ScalarType compute;
  ArrayRef<double> params;
  /// Where set, nothing is computed: the CPU's routine says what its formula is.
  const cpu::ElementwiseFn** asked = nullptr;
};
/// A call of its own: operands, numbers and parameters.
template <>
struct capture::Kept<ElementwiseCall> {
  FlatLoop flat;
  std::optional<Loop> loop;
  std::vector<double> params;
  alignas(16) char numbers[Loop::kMaxOperands][16];
  ElementwiseCall value;
  explicit Kept(const ElementwiseCall& call);
  ElementwiseCall& get() { return value; }
  void show(Operands& v);
};
template <>
struct capture::Kept<Loop> {
  Loop value;
  explicit Kept(const Loop& loop);
  Loop& get() { return value; }
  void show(Operands& v);
};

using FormulaKernel = Kernel<void(const ElementwiseCall& call)>;

/// Copies with conversion between any two dtypes and layouts: loop of one output and one input.
HB_API inline Kernel<void(const Loop& loop)> copy_kernel{"copy_"};
/// Fills a loop of one output and no input.
HB_API inline Kernel<void(const Loop& loop, const Scalar& value)> fill_kernel{"fill_"};

/// The functions of unary.def and binary.def and the irregular ones, by name. Filled by src/cpu/isa (or src/cuda).
#define HB_UNARY(name) HB_API inline FormulaKernel name##_formula{#name};
#include <halfbridge/ops/unary.def>
#define HB_BINARY(name) HB_API inline FormulaKernel name##_formula{#name};
#include <halfbridge/ops/binary.def>
#define HB_FORMULA(name) HB_API inline FormulaKernel name##_formula{#name};
#include "formulas/formulas.def"

}  // namespace hb
