#pragma once

#include "backend/elementwise.h"

namespace hb::cpu {

/// The plain loops of a formula, uniform in the number of operands: out[k][i] = f(in[0][i], in[1][i], …; params).
/// T is float, double, int64_t or a complex type: `compute` says which. Half types are computed in float, integers and
/// bool in int64. The runner converts, gathers strided operands and splits the work among threads.
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
  /// Whether the compiler calls libmvec for whole vectors of f32 and f64, and other functions for what remains.
  bool calls_vectors = false;
  /// Work per element relative to an addition; decides from which size threads help.
  int cost = 1;
};

namespace HB_ISA {
void run_elementwise(const ElementwiseFn& fn, const ElementwiseCall& call);
}

}  // namespace hb::cpu
