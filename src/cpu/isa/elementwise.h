#pragma once

#include "backend/elementwise.h"

namespace hb::cpu {

/// The rows that a formula's loop computes in one call, and what the elements of a row share.
struct FormulaRows {
  unsigned shared = 0;             // bit k: operand k is one value for a row, beside half types a float
  int64_t count = 1;               // more, where ElementwiseFn::takes_rows
  const int64_t* steps = nullptr;  // bytes from a row to the next, of the result and of each operand
};

/// The plain loops of a formula, uniform in the number of operands: out[k][i] = f(in[0][i], in[1][i], …; params).
/// T is float, double, int64_t or a complex type: `compute` says which. Half types are computed in float, integers and
/// bool in int64, or as they are where that gives the same. The runner converts, gathers strided operands and splits
/// the work among threads. n: elements of a row.
template <class T>
using FormulaLoop = void (*)(T* const* out, const T* const* in, int64_t n, const double* params,
                             const FormulaRows& rows);

struct ElementwiseFn {
  const char* name = nullptr;
  FormulaLoop<float> f32 = nullptr;
  FormulaLoop<double> f64 = nullptr;
  /// Set where the function takes complex numbers. A real result, of abs say, is the real part.
  FormulaLoop<Complex<float>> c64 = nullptr;
  FormulaLoop<Complex<double>> c128 = nullptr;
  FormulaLoop<int64_t> i64 = nullptr;
  /// The same in one pass where all operands are bf16, or f16: set for cheap formulas, beside which conversions weigh.
  FormulaLoop<BFloat16> bf16 = nullptr;
  FormulaLoop<Half> f16 = nullptr;
  /// On the bits alone: of half types, whatever the exponent, and of integers of a byte.
  FormulaLoop<int16_t> half_bits = nullptr;
  FormulaLoop<int8_t> byte_bits = nullptr;
  /// On int32, where what is kept of an int64 result is the result.
  FormulaLoop<int32_t> i32 = nullptr;
  /// Whether byte_bits makes bool of bool; and whether it makes 0 and 1 of any bytes.
  bool bool_bytes = false, truth = false;
  /// Bit s: the loops of real types take a set s of shared operands.
  unsigned shared_sets = 1;
  /// Whether the loops take several rows.
  bool takes_rows = false;
  /// The steps of chains that compute it on floats (FormulaSteps in step.h, of this instruction set), or null.
  const void* steps = nullptr;
  /// Whether i64 is right for the bits of uint64.
  bool modular = false;
  /// Whether the loop must be given whole vectors, lest what remains be computed otherwise.
  bool wants_whole_vectors = false;
  /// Work per element relative to an addition; decides from which size threads help.
  int cost = 1;
};

namespace HB_ISA {
void run_elementwise(const ElementwiseFn& fn, const ElementwiseCall& call);
}

}  // namespace hb::cpu
