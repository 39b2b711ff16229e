#pragma once

#include "backend/kernel.h"

namespace hb {

/// One matrix operand or a stack of them; strides in elements. A stack has up to two dimensions, which may have stride
/// 0.
struct GemmMatrix {
  void* data = nullptr;
  int64_t row = 0, col = 0;
  int64_t batch[2] = {0, 0};
};

/// c (m, n) = alpha a (m, k) b (k, n) + beta c + bias (n), for each of batch[0] x batch[1] matrices, rounded once to
/// dtype. Rows of c are dense: c.col is 1.
struct Gemm {
  ScalarType dtype = kFloat;  // of everything
  int64_t batch[2] = {1, 1};
  int64_t m = 0, n = 0, k = 0;
  GemmMatrix a, b, c;
  const void* bias = nullptr;
  double alpha = 1, beta = 0;
  int64_t batch_count() const { return batch[0] * batch[1]; }
};
inline void operands(capture::Operands& v, Gemm& g) {
  v.reads(g.a.data), v.reads(g.b.data), v.reads(g.bias);
  if (g.beta == 0)
    v.writes(g.c.data);
  else
    v.changes(g.c.data);
}
HB_API inline Kernel<void(const Gemm& gemm)> gemm_kernel{"matmul"};

/// What a product and the sums over k of one of its operands are, in one call: a weight's gradient with its bias's.
/// Where a device has none, gemm_kernel and column_sum_kernel do the same. For a single matrix.
struct SummedOperand {
  void* sums = nullptr;  // of b (n), or of a (m)
  bool of_a = false;
};
inline void operands(capture::Operands& v, SummedOperand& s) { v.writes(s.sums); }
HB_API inline Kernel<void(const Gemm& gemm, const SummedOperand& summed)> gemm_and_sums_kernel{"matmul"};

/// out (cols) = sum over rows of in (rows, cols), rows `stride` elements apart; half types are summed in float.
HB_API inline Kernel<void(ScalarType dtype, void* out, const void* in, int64_t rows, int64_t cols, int64_t stride)>
    column_sum_kernel{"column_sum"};

}  // namespace hb
