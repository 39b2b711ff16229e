// Products of complex matrices by products of real ones: rows of parts (re, im, re, im, ...) times what their products'
// parts are sums of.
#include "ops/linalg/complex_product.h"

#include <halfbridge/ops.h>

#include "autograd/record.h"
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

Tensor product_value(const Tensor& a, const Tensor& b) {
  const NoGradGuard guard;
  const Tensor x = a.detach(), y = b.detach();
  // (..., 2 k, 2 n): a row of b is followed by that row times i.
  const Tensor rows = parts_of(y.unsqueeze(-2) * one_and_i(y.options())).flatten(-3, -2);
  const Tensor parts = matmul(parts_of(x), rows);
  return view_as_complex(parts.unflatten(-1, {b.size(-1), 2}).contiguous());
}

Tensor mv_value(const Tensor& a, const Tensor& x) {
  const NoGradGuard guard;
  const Tensor y = conj(x.detach());
  // A row of parts times those of conj(x) is the real part, times those of i conj(x) the imaginary one.
  const Tensor columns = parts_of(y.unsqueeze(0) * one_and_i(y.options()));
  Tensor parts = empty({a.size(0), 2}, columns.options());
  product_into(parts, fold_rows(parts_of(a.detach())), false, fold_rows(columns), true);
  return view_as_complex(parts);
}

Tensor adjoint_of(const Tensor& x) { return conj(x).transpose(-2, -1); }

}  // namespace

Tensor complex_product(const Tensor& a, const Tensor& b) {
  if (b.dim() == 2 && a.dim() != 2) {
    DimVector sizes(a.impl().sizes());
    sizes.back() = b.size(-1);
    return complex_product(a.reshape({-1, a.size(-1)}), b).view(sizes);
  }
  Tensor out = product_value(a, b);
  if (needs_grad(a, b))
    record(a.dim() == 2 && b.dim() == 2 ? "MmBackward0" : "BmmBackward0", out, {&a, &b},
           {b.requires_grad() ? SavedTensor::input(a) : SavedTensor(),
            a.requires_grad() ? SavedTensor::input(b) : SavedTensor()},
           [batch_a = DimVector(a.impl().sizes()), batch_b = DimVector(b.impl().sizes())](Backward& c,
                                                                                          auto& s) -> variable_list {
             return {c.needs(0) ? sum_to(complex_product(c.grad(), adjoint_of(s[1])), batch_a) : Tensor(),
                     c.needs(1) ? sum_to(complex_product(adjoint_of(s[0]), c.grad()), batch_b) : Tensor()};
           });
  return out;
}

Tensor complex_mv(const Tensor& a, const Tensor& x) {
  Tensor out = mv_value(a, x);
  if (needs_grad(a, x))
    record("MvBackward0", out, {&a, &x},
           {x.requires_grad() ? SavedTensor::input(a) : SavedTensor(),
            a.requires_grad() ? SavedTensor::input(x) : SavedTensor()},
           [](Backward& c, auto& s) -> variable_list {
             return {c.needs(0) ? outer(c.grad(), conj(s[1])) : Tensor(),
                     c.needs(1) ? complex_mv(adjoint_of(s[0]), c.grad()) : Tensor()};
           });
  return out;
}

}  // namespace hb::ops
