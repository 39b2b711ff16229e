#include "ops/linalg/matrix_product.h"

#include <halfbridge/ops.h>

#include "autograd/destination.h"
#include "autograd/record.h"
#include "core/physical.h"
#include "ops/common/layout.h"
#include "ops/linalg/complex_product.h"
#include "ops/linalg/late_product.h"

namespace hb::ops {

void check_same_dtype(const char* name, const Tensor& a, const Tensor& b) {
  HB_CHECK(a.scalar_type() == b.scalar_type(), "[", name, "] mat1 and mat2 must have the same dtype, but got ",
           a.scalar_type(), " and ", b.scalar_type(), ": expected m1 and m2 to have the same dtype, got ", a.sizes(),
           " and ", b.sizes());
  HB_CHECK(a.device() == b.device(), "[", name, "] expected both operands on one device, got ", a.device(), " and ",
           b.device());
}

void check_inner(const char* name, const Tensor& a, const Tensor& b) {
  HB_CHECK(a.size(1) == b.size(0), "[", name, "] mat1 and mat2 shapes cannot be multiplied (", a.size(0), "x",
           a.size(1), " and ", b.size(0), "x", b.size(1), ")");
}

void check_stacks(const char* name, const Tensor& a, const Tensor& b) {
  HB_CHECK(a.size(0) == b.size(0) && a.size(2) == b.size(1), "[", name,
           "] Expected size for first two dimensions of batch2 tensor to be: [", a.size(0), ", ", a.size(2),
           "] but got: [", b.size(0), ", ", b.size(1), "].");
}

namespace {
bool merge_rows(const TensorImpl& t, Folded& f) {
  const auto &sizes = t.sizes(), &strides = t.physical_strides();
  f.rows = 1, f.row_stride = f.cols;
  for (size_t d = sizes.size() - 1; d-- > 0;) {
    if (sizes[d] == 1) continue;
    if (f.rows == 1) {
      f.row_stride = strides[d];
    } else if (strides[d] != f.row_stride * f.rows) {
      return false;
    }
    f.rows *= sizes[d];
  }
  return true;
}
}  // namespace

Folded fold_rows(const Tensor& t) {
  Folded f;
  f.holder = physical(t);
  const auto fill = [&f] {
    const TensorImpl& impl = f.holder.impl();
    f.cols = impl.sizes().back();
    f.col_stride = f.cols == 1 ? 1 : impl.physical_strides().back();
    return merge_rows(impl, f);
  };
  if (t.numel() == 0) {
    f.cols = t.size(-1), f.rows = 1, f.col_stride = 1, f.row_stride = f.cols;
    for (int64_t d = 0; d + 1 < t.dim(); ++d) f.rows *= t.size(d);
    return f;
  }
  if (!fill()) {
    NoGradGuard guard;
    f.holder = t.detach().contiguous();
    fill();
  }
  f.data = f.holder.impl().raw_data();
  return f;
}

namespace {
Gemm product_of(const Tensor& out, const Folded& a, bool transpose_a, const Folded& b, bool transpose_b) {
  Gemm g;
  g.dtype = out.scalar_type();
  g.m = transpose_a ? a.cols : a.rows;
  g.k = transpose_a ? a.rows : a.cols;
  g.n = transpose_b ? b.rows : b.cols;
  g.a = a.matrix(transpose_a), g.b = b.matrix(transpose_b);
  g.c.data = out.impl().visible_data();
  g.c.row = g.n, g.c.col = 1;
  return g;
}
/// The bias of a product, which the caller holds until it is done.
Tensor dense_bias(Gemm& g, const Tensor& bias) {
  if (!bias.defined()) return bias;
  Tensor dense = bias.impl().is_contiguous() ? bias : bias.contiguous();
  g.bias = dense.impl().visible_data();
  return dense;
}
}  // namespace

void product_into(const Tensor& out, const Folded& a, bool transpose_a, const Folded& b, bool transpose_b,
                  const Tensor& bias, double alpha, double beta) {
  Gemm g = product_of(out, a, transpose_a, b, transpose_b);
  g.alpha = alpha, g.beta = beta;
  const Tensor added = dense_bias(g, bias);
  gemm_kernel(out.device())(g);
}

Tensor sum_rows(const Folded& x, const Tensor& like) {
  Tensor out = empty({x.cols}, like.options());
  Folded dense = x;
  if (x.col_stride != 1 && x.cols > 1) {
    dense = fold_rows(x.holder.contiguous());
  }
  column_sum_kernel(like.device())(like.scalar_type(), out.impl().visible_data(), dense.data, dense.rows, dense.cols,
                                   dense.row_stride);
  return out;
}

Tensor product_and_row_sums(const Tensor& out, const Folded& grad, const Folded& x, bool grad_first) {
  const Folded &a = grad_first ? grad : x, &b = grad_first ? x : grad;
  const bool rows_are_dense = grad.col_stride == 1 || grad.cols == 1;
  if (!rows_are_dense || !gemm_and_sums_kernel.available(out.device())) {
    product_into(out, a, true, b, false);
    return sum_rows(grad, out);
  }
  Tensor sums = empty({grad.cols}, out.options());
  gemm_and_sums_kernel(out.device())(product_of(out, a, true, b, false), {sums.impl().visible_data(), grad_first});
  return sums;
}

namespace {

Tensor affine_value(const Folded& x, const DimVector& leading, const Tensor& w, bool transposed, const Tensor& bias) {
  const Folded weight = fold_rows(w);
  DimVector sizes = leading;
  sizes.push_back(transposed ? weight.rows : weight.cols);
  Tensor out = empty(sizes, w.options());
  Gemm g = product_of(out, x, false, weight, transposed);
  const Tensor added = dense_bias(g, bias);
  if (!multiply_later(out, g, {x.holder, weight.holder, added}, {w.impl().physical_storage().get(), transposed}))
    gemm_kernel(out.device())(g);
  return out;
}

DimVector leading_sizes(const Tensor& x) {
  const auto& sizes = x.impl().sizes();
  return DimVector(sizes.begin(), sizes.end() - 1);
}

/// Which operands of a product lie column by column: so do their gradients, for what turned them turns those back.
struct Columns {
  bool x, w;
};
bool lies_by_columns(const Tensor& t) {
  if (t.dim() != 2 || t.impl().is_deferred() || t.impl().physically_contiguous()) return false;
  return t.impl().physical_strides()[0] == 1 && t.impl().physical_strides()[1] == t.impl().sizes()[0];
}

variable_list affine_gradients(Backward& b, const Tensor& x, const Tensor& w, bool transposed, Columns columns) {
  const Tensor& g = b.grad();
  Tensor dx, dw, db;
  if (GradMode::is_enabled()) {
    if (b.needs(0)) dx = columns.x ? matmul(transposed ? w.t() : w, g.t()).t() : matmul(g, transposed ? w : w.t());
    const Tensor rows = g.reshape({-1, g.size(-1)});
    if (b.needs(1)) {
      const Tensor xs = x.reshape({-1, x.size(-1)});
      dw = transposed ? mm(rows.t(), xs) : columns.w ? mm(rows.t(), xs).t() : mm(xs.t(), rows);
    }
    if (b.needs(2)) db = rows.sum(0);
    return {dx, dw, db};
  }
  const Folded grad = fold_rows(g);
  if (b.needs(1) && columns.w) {
    const Folded xs = fold_rows(x);
    dw = empty({grad.cols, xs.cols}, g.options());
    product_into(dw, grad, true, xs, false);
    dw = turned(std::move(dw));
    if (b.needs(2)) db = sum_rows(grad, g);
  } else if (b.needs(1)) {
    const Folded xs = fold_rows(x);
    const int64_t rows = transposed ? grad.cols : xs.cols, cols = transposed ? xs.cols : grad.cols;
    dw = destination_or_empty(b, 1, {rows, cols}, g.options());
    if (b.needs(2))
      db = product_and_row_sums(dw, grad, xs, transposed);
    else
      transposed ? product_into(dw, grad, true, xs, false) : product_into(dw, xs, true, grad, false);
  } else if (b.needs(2)) {
    db = sum_rows(grad, g);
  }
  // Last: it may wait for the gradient of an activation, which nothing else shall come before.
  if (b.needs(0) && columns.x) {
    const Folded weight = fold_rows(w);
    dx = empty({transposed ? weight.cols : weight.rows, grad.rows}, g.options());
    product_into(dx, weight, transposed, grad, true);
    dx = turned(std::move(dx));
  } else if (b.needs(0)) {
    dx = affine_value(grad, leading_sizes(g), w, !transposed, {});
  }
  return {dx, dw, db};
}

}  // namespace

Tensor affine(const char* node, const Tensor& x, const Tensor& w, bool transposed, const Tensor& bias) {
  if (HB_UNLIKELY(x.is_complex())) {
    const Tensor out = complex_product(x, transposed ? w.t() : w);
    return bias.defined() ? out + bias : out;
  }
  Tensor out = affine_value(fold_rows(x), leading_sizes(x), w, transposed, bias);
  if (needs_grad(x, w, bias)) {
    record(node, out, {&x, &w, &bias},
           {w.requires_grad() ? SavedTensor::input(x) : SavedTensor(),
            x.requires_grad() ? SavedTensor::input(w) : SavedTensor()},
           [transposed, columns = Columns{lies_by_columns(x), !transposed && lies_by_columns(w)}](
               Backward& b, auto& s) -> variable_list { return affine_gradients(b, s[0], s[1], transposed, columns); });
  }
  return out;
}

}  // namespace hb::ops
