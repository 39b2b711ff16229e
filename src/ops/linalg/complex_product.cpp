// Products of complex matrices, by the device or by products of real ones: rows of parts (re, im, re, im, ...) times
// what their products' parts are sums of.
#include "ops/linalg/complex_product.h"

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "backend/complex_gemm.h"
#include "ops/linalg/matrix_product.h"

namespace hb::ops {
namespace {

/// 1 and i, one above the other.
Tensor one_and_i(const TensorOptions& options) {
  Tensor units = ones({2, 1}, options);
  units.select(0, 1).fill_(Scalar(Complex<double>(0, 1)));
  return units;
}

/// (..., 2 n) numbers of n complex ones.
Tensor parts_of(const Tensor& x) { return view_as_real(x).flatten(-2); }

/// A factor without history, or its conjugate.
struct Factor {
  const Tensor& x;
  bool conjugate = false;
  Tensor value() const { return conjugate ? conj(x.detach()) : x.detach(); }
};

/// a (m, k) times b (k, n) where the device multiplies complex matrices itself, or an undefined tensor.
Tensor multiplied_by_device(const Factor& a, const Factor& b) {
  if (a.x.dim() != 2 || b.x.dim() != 2 || !complex_gemm_kernel.available(a.x.device())) return {};
  const Folded rows = fold_rows(a.x), columns = fold_rows(b.x);
  const Tensor out = empty({rows.rows, columns.cols}, a.x.options());
  ComplexGemm g;
  g.dtype = out.scalar_type();
  g.m = rows.rows, g.n = columns.cols, g.k = rows.cols;
  g.a = rows.matrix(), g.b = columns.matrix();
  g.conj_a = a.conjugate, g.conj_b = b.conjugate;
  g.c = out.impl().visible_data();
  complex_gemm_kernel(out.device())(g);
  return out;
}

/// By one product of real matrices.
Tensor product_value(const Factor& a, const Factor& b) {
  const NoGradGuard guard;
  if (Tensor out = multiplied_by_device(a, b); out.defined()) return out;
  const Tensor x = a.value(), y = b.value();
  // (..., 2 k, 2 n): a row of b is followed by that row times i.
  const Tensor rows = parts_of(y.unsqueeze(-2) * one_and_i(y.options())).flatten(-3, -2);
  const Tensor parts = matmul(parts_of(x), rows);
  return view_as_complex(parts.unflatten(-1, {y.size(-1), 2}).contiguous());
}

Tensor mv_value(const Factor& a, const Factor& x) {
  const NoGradGuard guard;
  return product_value(a, {x.x.detach().unsqueeze(1), x.conjugate}).view({a.x.size(0)});
}

Tensor adjoint_of(const Tensor& x) { return conj(x).transpose(-2, -1); }

/// Gradients of a b: with history where it is asked for, without a copy of the conjugates where it is not.
Tensor gradient_of_left(const Tensor& grad, const Tensor& b) {
  if (GradMode::is_enabled()) return complex_product(grad, adjoint_of(b));
  return product_value({grad}, {b.transpose(-2, -1), true});
}
Tensor gradient_of_right(const Tensor& a, const Tensor& grad) {
  if (GradMode::is_enabled()) return complex_product(adjoint_of(a), grad);
  return product_value({a.transpose(-2, -1), true}, {grad});
}
Tensor gradient_of_vector(const Tensor& a, const Tensor& grad) {
  if (GradMode::is_enabled()) return complex_mv(adjoint_of(a), grad);
  return mv_value({a.t(), true}, {grad});
}

}  // namespace

Tensor complex_product(const Tensor& a, const Tensor& b) {
  if (b.dim() == 2 && a.dim() != 2) {
    DimVector sizes(a.impl().sizes());
    sizes.back() = b.size(-1);
    return complex_product(a.reshape({-1, a.size(-1)}), b).view(sizes);
  }
  Tensor out = product_value({a}, {b});
  if (needs_grad(a, b))
    record(a.dim() == 2 && b.dim() == 2 ? "MmBackward0" : "BmmBackward0", out, {&a, &b},
           {b.requires_grad() ? SavedTensor::input(a) : SavedTensor(),
            a.requires_grad() ? SavedTensor::input(b) : SavedTensor()},
           [batch_a = DimVector(a.impl().sizes()), batch_b = DimVector(b.impl().sizes())](Backward& c,
                                                                                          auto& s) -> variable_list {
             return {c.needs(0) ? sum_to(gradient_of_left(c.grad(), s[1]), batch_a) : Tensor(),
                     c.needs(1) ? sum_to(gradient_of_right(s[0], c.grad()), batch_b) : Tensor()};
           });
  return out;
}

Tensor complex_mv(const Tensor& a, const Tensor& x) {
  Tensor out = mv_value({a}, {x});
  if (needs_grad(a, x))
    record("MvBackward0", out, {&a, &x},
           {x.requires_grad() ? SavedTensor::input(a) : SavedTensor(),
            a.requires_grad() ? SavedTensor::input(x) : SavedTensor()},
           [](Backward& c, auto& s) -> variable_list {
             return {c.needs(0) ? outer(c.grad(), conj(s[1])) : Tensor(),
                     c.needs(1) ? gradient_of_vector(s[0], c.grad()) : Tensor()};
           });
  return out;
}

}  // namespace hb::ops
