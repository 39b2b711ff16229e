#pragma once
// Matrix products below the functions that programs call.

#include <halfbridge/tensor.h>

#include "backend/gemm.h"

namespace hb::ops {

/// A tensor's memory seen as rows of its last dimension.
struct Folded {
  Tensor holder;  // keeps a copy alive where the rows were not evenly spaced
  void* data = nullptr;
  int64_t rows = 0, cols = 0, row_stride = 0, col_stride = 0;
  GemmMatrix matrix(bool transposed = false) const {
    GemmMatrix x;
    x.data = data;
    x.row = transposed ? col_stride : row_stride, x.col = transposed ? row_stride : col_stride;
    return x;
  }
};
Folded fold_rows(const Tensor& t);

/// out = op(a) op(b) + bias, without history; `out` is dense and its last dimension is n.
void product_into(const Tensor& out, const Folded& a, bool transpose_a, const Folded& b, bool transpose_b,
                  const Tensor& bias = {}, double alpha = 1, double beta = 0);
/// out = op(x) op(grad) or op(grad) op(x), a weight's gradient, and the sums of grad's rows beside it.
Tensor product_and_row_sums(const Tensor& out, const Folded& grad, const Folded& x, bool grad_first);
/// Sums over all rows of (…, n): (n), without history.
Tensor sum_rows(const Folded& x, const Tensor& like);

/// x (…, k) times w (k, n), or w (n, k) transposed, plus bias (n): (…, n), with its gradient. Checked by the caller.
Tensor affine(const char* node, const Tensor& x, const Tensor& w, bool transposed, const Tensor& bias);
/// Stacks of matrices, batch dimensions broadcast; a (…, m, k), b (…, k, n), both of at least 2 dimensions.
Tensor stack_product(const char* name, const Tensor& a, const Tensor& b);
/// The same without history, added to beta times `out` (dense).
void stack_product_into(const Tensor& out, const Tensor& a, const Tensor& b, double alpha, double beta);

void check_same_dtype(const char* name, const Tensor& a, const Tensor& b);
/// Throws where two matrices cannot be multiplied.
void check_inner(const char* name, const Tensor& a, const Tensor& b);
/// The same for two stacks (b, m, k) and (b, k, n).
void check_stacks(const char* name, const Tensor& a, const Tensor& b);

}  // namespace hb::ops
