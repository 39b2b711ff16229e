#pragma once

#include "backend/gemm.h"

namespace hb {

/// c (m, n) = op(a) (m, k) op(b) (k, n) of complex numbers, where op(x) is x or its conjugate. Strides in complex
/// numbers; c is dense.
struct ComplexGemm {
  ScalarType dtype = kComplexFloat;  // or kComplexDouble
  int64_t m = 0, n = 0, k = 0;
  GemmMatrix a, b;
  bool conj_a = false, conj_b = false;
  void* c = nullptr;
};
inline void operands(capture::Operands& v, ComplexGemm& g) { v.reads(g.a.data), v.reads(g.b.data), v.writes(g.c); }
/// Where a device has none, products of real matrices do the same.
HB_API inline Kernel<void(const ComplexGemm& gemm)> complex_gemm_kernel{"matmul"};

}  // namespace hb
