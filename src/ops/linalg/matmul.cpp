#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "ops/common/inplace.h"
#include "ops/common/or_undefined.h"
#include "ops/linalg/complex_product.h"
#include "ops/linalg/matrix_product.h"
#include "ops/sparse/sparse.h"

namespace hb {

using ops::affine;
using ops::check_same_dtype;
using ops::stack_product;

Tensor mm(const Tensor& self, const Tensor& mat2) {
  HB_AUTOCAST(mm, half, half, self, mat2);
  HB_CHECK(self.dim() == 2, "[mm] self must be a matrix, got ", self.sizes());
  HB_CHECK(mat2.dim() == 2, "[mm] mat2 must be a matrix, got ", mat2.sizes());
  ops::check_inner("mm", self, mat2);
  check_same_dtype("mm", self, mat2);
  if (HB_UNLIKELY(sparse::either(self, mat2))) return sparse::mm(self, mat2, false);
  return affine("MmBackward0", self, mat2, false, {});
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  HB_AUTOCAST(bmm, half, half, self, mat2);
  HB_CHECK(self.dim() == 3, "[bmm] batch1 must be a 3D tensor, got ", self.sizes());
  HB_CHECK(mat2.dim() == 3, "[bmm] batch2 must be a 3D tensor, got ", mat2.sizes());
  ops::check_stacks("bmm", self, mat2);
  if (HB_UNLIKELY(sparse::either(self, mat2))) return sparse::bmm(self, mat2);
  return stack_product("bmm", self, mat2);
}

Tensor dot(const Tensor& self, const Tensor& tensor) {
  HB_AUTOCAST(dot, as_is, widest, self, tensor);
  HB_CHECK(self.dim() == 1 && tensor.dim() == 1, "[dot] 1D tensors expected, but got ", self.dim(), "D and ",
           tensor.dim(), "D tensors");
  HB_CHECK(self.size(0) == tensor.size(0), "[dot] inconsistent tensor size, expected tensor ", self.sizes(),
           " and src ", tensor.sizes(), " to have the same number of elements, but got ", self.numel(), " and ",
           tensor.numel(), " elements respectively");
  check_same_dtype("dot", self, tensor);
  if (self.is_complex()) return (self * tensor).sum();
  Tensor out = empty({}, self.options());
  const auto a = ops::fold_rows(self), b = ops::fold_rows(tensor);
  ops::product_into(out, a, false, b, true);
  if (needs_grad(self, tensor)) {
    record("DotBackward0", out, {&self, &tensor}, {SavedTensor::input(self), SavedTensor::input(tensor)},
           [](Backward& c, auto& s) -> variable_list {
             return {c.needs(0) ? c.grad() * s[1] : Tensor(), c.needs(1) ? c.grad() * s[0] : Tensor()};
           });
  }
  return out;
}
Tensor vdot(const Tensor& self, const Tensor& other) {
  HB_AUTOCAST(vdot, as_is, widest, self, other);
  return named("VdotBackward0", dot(conj(self), other), self);
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  HB_AUTOCAST(mv, closed, half, self, vec);
  HB_CHECK(self.dim() == 2 && vec.dim() == 1, "[mv] vector + matrix @ vector expected, got ", self.sizes(), " and ",
           vec.sizes());
  HB_CHECK(self.size(1) == vec.size(0), "[mv] size mismatch, got mat (", self.size(0), "x", self.size(1), "), vec (",
           vec.size(0), ")");
  check_same_dtype("mv", self, vec);
  if (HB_UNLIKELY(sparse::either(self, vec))) return sparse::mm(self, vec.unsqueeze(1), false).squeeze(1);
  if (self.is_complex()) return ops::complex_mv(self, vec);
  Tensor out = empty({self.size(0)}, self.options());
  ops::product_into(out, ops::fold_rows(self), false, ops::fold_rows(vec), true);
  if (needs_grad(self, vec)) {
    record("MvBackward0", out, {&self, &vec}, {SavedTensor::input(self), SavedTensor::input(vec)},
           [](Backward& c, auto& s) -> variable_list {
             return {c.needs(0) ? outer(c.grad(), s[1]) : Tensor(), c.needs(1) ? mv(s[0].t(), c.grad()) : Tensor()};
           });
  }
  return out;
}

Tensor matmul(const Tensor& self, const Tensor& other) {
  HB_AUTOCAST(matmul, half, half, self, other);
  const int64_t da = self.dim(), db = other.dim();
  HB_CHECK(da > 0 && db > 0, "[matmul] both arguments to matmul need to be at least 1D, but they are ", da, "D and ",
           db, "D");
  check_same_dtype("matmul", self, other);
  const int64_t inner = other.size(db == 1 ? 0 : -2);
  if (da <= 2 && db == 2)
    HB_CHECK(self.size(-1) == inner, "[matmul] mat1 and mat2 shapes cannot be multiplied (", da == 2 ? self.size(0) : 1,
             "x", self.size(-1), " and ", inner, "x", other.size(-1), ")");
  if (da > 1 || db > 1)
    HB_CHECK(self.size(-1) == inner, "[matmul] size mismatch, got ", self.sizes(), " and ", other.sizes(),
             ", whose inner dimensions differ");
  if (da == 1 && db == 1) return dot(self, other);
  if (da == 2 && db == 1) return mv(self, other);
  if (da == 1) return matmul(self.unsqueeze(0), other).squeeze(-2);
  if (db == 1) return matmul(self, other.unsqueeze(1)).squeeze(-1);
  if (HB_UNLIKELY(sparse::either(self, other)) && da == 2 && db == 2) return sparse::mm(self, other, false);
  if (HB_UNLIKELY(sparse::either(self, other)) && da == 3 && db == 3) return sparse::bmm(self, other);
  if (db == 2) return affine("MmBackward0", self, other, false, {});
  return stack_product("matmul", self, other);
}

Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return self * other;
  HB_CHECK(self.size(-1) == other.size(-1),
           "[inner] inner() the last dimension must match on both input tensors but got shapes ", self.sizes(), " and ",
           other.sizes());
  return tensordot(self, other, {-1}, {-1});
}

Tensor outer(const Tensor& self, const Tensor& vec2) {
  HB_CHECK(self.dim() == 1, "[outer] outer: Expected 1-D argument self, but got ", self.dim(), "-D");
  HB_CHECK(vec2.dim() == 1, "[outer] outer: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  return self.unsqueeze(1) * vec2;
}
Tensor ger(const Tensor& self, const Tensor& vec2) { return outer(self, vec2); }

Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2) {
  front::Excluded excluded;
  return assign_out("mm", out, mm(self, mat2));
}
Tensor& matmul_out(Tensor& out, const Tensor& self, const Tensor& other) {
  front::Excluded excluded;
  return assign_out("matmul", out, matmul(self, other));
}

}  // namespace hb
