// What LU and Cholesky give: solutions, inverses, determinants.
#include <cmath>
#include <limits>
#include <tuple>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "backend/decompositions.h"
#include "core/warnings.h"
#include "ops/linalg/decompositions.h"

namespace hb {

void check_matrices(const char* name, const Tensor& a, bool square) {
  HB_CHECK(a.dim() >= 2, name, ": The input tensor A must have at least 2 dimensions.");
  HB_CHECK(a.is_floating_point(), name, ": Expected a floating point or complex tensor as input. Got ",
           a.scalar_type());
  HB_CHECK(!is_half_type(a.scalar_type()), name, ": Low precision dtypes not supported. Got ", a.scalar_type());
  HB_CHECK(!square || a.size(-1) == a.size(-2), name, ": A must be batches of square matrices, but they are ",
           a.size(-2), " by ", a.size(-1), " matrices");
}

Tensor as_batch(const Tensor& a) {
  int64_t batch = 1;
  for (int64_t d = 0; d + 2 < a.dim(); ++d) batch *= a.size(d);
  return a.detach().view({batch, a.size(-2), a.size(-1)});
}
Tensor flat_batch(const Tensor& a) { return as_batch(a.detach().clone(MemoryFormat::Contiguous)); }

std::vector<int64_t> batch_sizes(const Tensor& like, std::initializer_list<int64_t> last) {
  std::vector<int64_t> sizes(like.sizes().begin(), like.sizes().end() - 2);
  sizes.insert(sizes.end(), last);
  return sizes;
}

void check_info(const char* name, const Tensor& info, bool batched,
                const std::function<std::string(int64_t)>& explain) {
  const Tensor here = info.cpu();
  for (int64_t i = 0; i < here.numel(); ++i) {
    const int64_t code = here.data_ptr<int64_t>()[i];
    if (code == 0) continue;
    const std::string where = batched ? detail::str(": (Batch element ", i, "): ") : ": ";
    throw LinAlgError(detail::str(name, where, explain(code)));
  }
}

namespace {

struct Factors {
  Tensor lu, pivots, info;  // (b, n, n), (b, n), (b)
};
Factors factorise(const Tensor& a) {
  NoGradGuard no_grad;
  Factors f{flat_batch(a), Tensor(), Tensor()};
  const TensorOptions integers = a.options().dtype(kLong);
  f.pivots = empty({f.lu.size(0), f.lu.size(1)}, integers);
  f.info = empty({f.lu.size(0)}, integers);
  if (f.lu.size(0) > 0) lu_kernel(a.device())(f.lu, f.pivots, f.info);
  return f;
}

std::string singular(const char* action, int64_t code) {
  return detail::str("The diagonal element ", code, " is zero, the ", action,
                     " could not be completed because the input matrix is singular.");
}

/// A result, and where its factorisation failed, matrix by matrix.
struct Checked {
  Tensor result, info;
};
/// Info as the _ex functions give it.
Tensor info_for(const Tensor& a, const Tensor& info) { return info.to(kInt).reshape(batch_sizes(a, {})); }

/// X of A X = B for whole batches, B (*, n, columns) broadcast to A's batch; throws for singular matrices if `check`.
Checked solve_matrices(const char* name, const char* action, const Tensor& a, const Tensor& b, bool check) {
  NoGradGuard no_grad;
  const Factors f = factorise(a);
  if (check) check_info(name, f.info, a.dim() > 2, [&](int64_t code) { return singular(action, code); });
  Tensor x = empty(batch_sizes(a, {b.size(-2), b.size(-1)}), a.options());
  x.copy_(b.detach());
  if (x.numel() > 0) lu_solve_kernel(a.device())(f.lu, f.pivots, as_batch(x));
  return {x, info_for(a, f.info)};
}

/// A with the batch that it and B have together.
Tensor with_batch_of(const Tensor& a, const Tensor& b) {
  if (b.dim() <= 2) return a;
  std::vector<int64_t> sizes = broadcast_shapes(a.sizes().slice(0, a.dim() - 2), b.sizes().slice(0, b.dim() - 2));
  sizes.insert(sizes.end(), {a.size(-2), a.size(-1)});
  return a.expand(sizes);
}

/// X of U X = B for an upper triangle: U is its own LU. Zeros on the diagonal give infinities.
Tensor solve_upper(const Tensor& u, const Tensor& b) {
  Tensor x = empty(batch_sizes(u, {b.size(-2), b.size(-1)}), u.options());
  {
    NoGradGuard no_grad;
    x.copy_(b.detach());
    const Tensor flat = flat_batch(u),
                 pivots = arange(u.size(-1), u.options().dtype(kLong)).expand({flat.size(0), u.size(-1)});
    if (x.numel() > 0) lu_solve_kernel(u.device())(flat, pivots.contiguous(), as_batch(x));
  }
  if (needs_grad(u, b))
    record("LinalgSolveTriangularBackward0", x, {&u, &b}, {SavedTensor::input(u), SavedTensor::output(x)},
           [](Backward& back, auto& s) -> variable_list {
             const Tensor gb = linalg_solve_triangular(s[0].mT(), back.grad(), /*upper=*/false);
             return {back.needs(0) ? neg(gb.matmul(s[1].mT())) : Tensor(), gb};
           });
  return x;
}

Checked inverse_of(const Tensor& a, bool check) {
  check_matrices("linalg.inv", a, true);
  Checked inverse = solve_matrices("linalg.inv", "inversion", a, eye(a.size(-1), a.options()), check);
  Tensor& out = inverse.result;
  if (needs_grad(a))
    record("LinalgInvExBackward0", out, {&a}, {SavedTensor::output(out)}, [](Backward& b, auto& s) -> variable_list {
      const Tensor inverse_t = s[0].transpose(-2, -1);
      return {neg(inverse_t.matmul(b.grad()).matmul(inverse_t))};
    });
  return inverse;
}

/// Sign and logarithm of the absolute value of U's diagonal product, from LU.
std::pair<Tensor, Tensor> sign_and_log(const Tensor& a) {
  const Factors f = factorise(a);
  const int64_t n = a.size(-1), batch = f.lu.size(0);
  const Tensor diagonal = f.lu.diagonal(0, -2, -1).to(kDouble).contiguous().cpu(), pivots = f.pivots.cpu();
  Tensor sign = empty({batch}, diagonal.options()), log = empty({batch}, diagonal.options());
  for (int64_t i = 0; i < batch; ++i) {
    double s = 1, sum = 0;
    for (int64_t k = 0; k < n; ++k) {
      const double d = diagonal.data_ptr<double>()[i * n + k];
      s *= (d > 0) - (d < 0);
      if (pivots.data_ptr<int64_t>()[i * n + k] != k) s = -s;
      sum += std::log(std::fabs(d));
    }
    sign.data_ptr<double>()[i] = s;
    log.data_ptr<double>()[i] = sum;
  }
  const auto shaped = [&](const Tensor& t) { return t.reshape(batch_sizes(a, {})).to(a.options(), false, true); };
  return {shaped(sign), shaped(log)};
}

Tensor determinant(const Tensor& a) {
  NoGradGuard no_grad;
  const Factors f = factorise(a);
  const int64_t n = a.size(-1), batch = f.lu.size(0);
  const Tensor diagonal = f.lu.diagonal(0, -2, -1).to(kDouble).contiguous().cpu(), pivots = f.pivots.cpu();
  Tensor det = empty({batch}, diagonal.options());
  for (int64_t i = 0; i < batch; ++i) {
    double product = 1;
    for (int64_t k = 0; k < n; ++k) {
      product *= diagonal.data_ptr<double>()[i * n + k];
      if (pivots.data_ptr<int64_t>()[i * n + k] != k) product = -product;
    }
    det.data_ptr<double>()[i] = product;
  }
  return det.reshape(batch_sizes(a, {})).to(a.options(), false, true);
}

/// The matrix of cofactors, transposed twice: d det / d A. Where A is regular it is det * A^-T.
Tensor det_gradient(const Tensor& a, const Tensor& det) {
  if ((det == 0).any().item<bool>()) {
    // A = U S V^T: cofactors are sign * U diag(products of the other singular values) V^T.
    auto [u, s, vh] = linalg_svd(a, false);
    const int64_t n = a.size(-1);
    std::vector<Tensor> others;
    for (int64_t i = 0; i < n; ++i) {
      Tensor product = ones_like(s.select(-1, 0));
      for (int64_t k = 0; k < n; ++k)
        if (k != i) product = product * s.select(-1, k);
      others.push_back(product);
    }
    const Tensor sign = linalg_det(u) * linalg_det(vh);
    return sign.unsqueeze(-1).unsqueeze(-1) * (u * stack(others, -1).unsqueeze(-2)).matmul(vh);
  }
  return det.unsqueeze(-1).unsqueeze(-1) * linalg_inv(a).transpose(-2, -1);
}

}  // namespace

namespace {
/// The equations of real and imaginary parts are real ones of twice the size.
Tensor complex_solution(const Tensor& a, const Tensor& b, bool left) {
  HB_CHECK(a.scalar_type() == b.scalar_type(),
           "linalg.solve: Expected A and B to have the same dtype, but found A of type ", a.scalar_type(),
           " and B of type ", b.scalar_type(), " instead");
  HB_CHECK(a.dim() >= 2 && a.size(-1) == a.size(-2),
           "linalg.solve: A must be batches of square matrices, but they are ", a.sizes());
  if (!left) return complex_solution(a.mT(), b.mT(), true).mT();
  const bool vector = b.dim() == 1 || (a.dim() - 1 == b.dim() && b.sizes().equals(a.sizes().slice(0, b.dim())));
  const Tensor columns = vector ? b.unsqueeze(-1) : b;
  const Tensor re = real(a), im = imag(a);
  const Tensor whole = cat({cat({re, neg(im)}, -1), cat({im, re}, -1)}, -2);
  const Tensor x = linalg_solve(whole, cat({real(columns), imag(columns)}, -2));
  const int64_t n = a.size(-1);
  const Tensor out = complex(x.narrow(-2, 0, n), x.narrow(-2, n, n));
  return vector ? out.squeeze(-1) : out;
}
}  // namespace

Tensor linalg_inv(const Tensor& a) {
  HB_AUTOCAST(linalg_inv, fp32, as_is, a);
  if (a.is_complex()) return complex_solution(a, eye(a.size(-1), a.options()), true);
  return inverse_of(a, true).result;
}
std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& a, bool check_errors) {
  HB_AUTOCAST(linalg_inv_ex, fp32, as_is, a, check_errors);
  const Checked inverse = inverse_of(a, check_errors);
  return {inverse.result, inverse.info};
}
Tensor inverse(const Tensor& self) {
  HB_AUTOCAST(inverse, fp32, as_is, self);
  if (self.is_complex()) return linalg_inv(self);
  return inverse_of(self, true).result;
}

Tensor linalg_det(const Tensor& a) {
  check_matrices("linalg.det", a, true);
  Tensor out = determinant(a);
  if (needs_grad(a))
    record("LinalgDetBackward0", out, {&a}, {SavedTensor::input(a), SavedTensor::output(out)},
           [](Backward& b, auto& s) -> variable_list {
             return {b.grad().unsqueeze(-1).unsqueeze(-1) * det_gradient(s[0], s[1])};
           });
  return out;
}
Tensor det(const Tensor& self) { return linalg_det(self); }

Tensor logdet(const Tensor& self) {
  check_matrices("logdet", self, true);
  Tensor out;
  {
    NoGradGuard no_grad;
    const auto [sign, log] = sign_and_log(self);
    out = where(sign < 0, full_like(log, std::numeric_limits<double>::quiet_NaN()), log);
  }
  if (needs_grad(self))
    record("LogdetBackward0", out, {&self}, {SavedTensor::input(self)}, [](Backward& b, auto& s) -> variable_list {
      return {b.grad().unsqueeze(-1).unsqueeze(-1) * linalg_inv(s[0]).transpose(-2, -1)};
    });
  return out;
}

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& a) {
  check_matrices("linalg.slogdet", a, true);
  Tensor sign, log;
  {
    NoGradGuard no_grad;
    std::tie(sign, log) = sign_and_log(a);
  }
  if (needs_grad(a))
    record("LinalgSlogdetBackward0", log, {&a}, {SavedTensor::input(a)}, [](Backward& b, auto& s) -> variable_list {
      return {b.grad().unsqueeze(-1).unsqueeze(-1) * linalg_inv(s[0]).transpose(-2, -1)};
    });
  return {sign, log};
}
std::tuple<Tensor, Tensor> slogdet(const Tensor& self) { return linalg_slogdet(self); }

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& a, bool pivot, bool check_errors) {
  check_matrices("linalg.lu_factor", a, true);
  HB_CHECK(pivot, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
  HB_CHECK(!needs_grad(a), "linalg.lu_factor: gradients are not supported");
  const Factors f = factorise(a);
  if (check_errors)
    check_info("linalg.lu_factor", f.info, a.dim() > 2, [](int64_t code) {
      return detail::str("U[", code, ",", code,
                         "] is zero and using it on lu_solve would result in a division by zero.");
    });
  return {f.lu.reshape(a.sizes()), (f.pivots + 1).to(kInt).reshape(batch_sizes(a, {a.size(-1)})), info_for(a, f.info)};
}
std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& a, bool pivot) {
  const auto [lu, pivots, info] = linalg_lu_factor_ex(a, pivot, true);
  return {lu, pivots};
}

namespace {
Checked solution_of(const Tensor& a, const Tensor& b, bool left, bool check) {
  check_matrices("linalg.solve", a, true);
  HB_CHECK(a.scalar_type() == b.scalar_type(),
           "linalg.solve: Expected A and B to have the same dtype, but found A of type ", a.scalar_type(),
           " and B of type ", b.scalar_type(), " instead");
  // LibTorch's rule: one vector, or a batch of vectors exactly as large as A's batch, else matrices.
  const bool vectors = b.dim() == 1 || (a.dim() - 1 == b.dim() && b.sizes().equals(a.sizes().slice(0, a.dim() - 1)));
  HB_CHECK(left || !vectors,
           "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False.");
  if (vectors) {
    const Checked x = solution_of(a, b.unsqueeze(-1), true, check);
    return {x.result.squeeze(-1), x.info};
  }
  if (!left) {
    const Checked x = solution_of(a.transpose(-2, -1), b.transpose(-2, -1), true, check);
    return {x.result.transpose(-2, -1), x.info};
  }
  HB_CHECK(a.size(-1) == b.size(-2), "linalg.solve: Incompatible shapes of A and B for the equation AX = B (",
           a.size(-2), "x", a.size(-1), " and ", b.size(-2), "x", b.size(-1), ")");
  const Tensor wide = with_batch_of(a, b);
  Checked x = solve_matrices("linalg.solve", "solve", wide, b, check);
  if (needs_grad(wide, b))
    record("LinalgSolveExBackward0", x.result, {&wide, &b}, {SavedTensor::input(wide), SavedTensor::output(x.result)},
           [](Backward& back, auto& s) -> variable_list {
             const Tensor gb = linalg_solve(s[0].transpose(-2, -1), back.grad());
             return {back.needs(0) ? neg(gb.matmul(s[1].transpose(-2, -1))) : Tensor(), gb};
           });
  return x;
}
}  // namespace
Tensor linalg_solve(const Tensor& a, const Tensor& b, bool left) {
  HB_AUTOCAST(linalg_solve, fp32, as_is, a, b, left);
  if (a.is_complex()) return complex_solution(a, b, left);
  return solution_of(a, b, left, true).result;
}
std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& a, const Tensor& b, bool left, bool check_errors) {
  HB_FUNCTION(linalg_solve_ex, a, b, left, check_errors);
  const Checked x = solution_of(a, b, left, check_errors);
  return {x.result, x.info};
}

Tensor linalg_solve_triangular(const Tensor& self, const Tensor& b, bool upper, bool left, bool unitriangular) {
  HB_ONE_DEVICE(linalg_solve_triangular, self, b);
  check_matrices("linalg.solve_triangular", self, true);
  HB_CHECK(b.dim() >= 2, "linalg.solve_triangular: The input tensor B must have at least 2 dimensions.");
  HB_CHECK(self.scalar_type() == b.scalar_type(),
           "linalg.solve_triangular: Expected A and B to have the same dtype, but found A of type ", self.scalar_type(),
           " and B of type ", b.scalar_type(), " instead");
  if (!left) return linalg_solve_triangular(self.mT(), b.mT(), !upper, true, unitriangular).mT();
  HB_CHECK(self.size(-1) == b.size(-2),
           "linalg.solve_triangular: Incompatible shapes of A and B for the equation AX = B (", self.size(-2), "x",
           self.size(-1), " and ", b.size(-2), "x", b.size(-1), ")");
  Tensor a = upper ? self.triu(unitriangular ? 1 : 0) : self.tril(unitriangular ? -1 : 0);
  if (unitriangular) a = a + eye(a.size(-1), a.options());
  a = with_batch_of(a, b);
  if (upper) return solve_upper(a, b);
  return solve_upper(a.flip({-2, -1}), b.flip({-2})).flip({-2});  // a lower triangle is turned around
}

namespace {
Checked cholesky_of(const Tensor& a, bool upper, bool check) {
  check_matrices("linalg.cholesky", a, true);
  if (upper) {
    const Checked lower = cholesky_of(a.transpose(-2, -1), false, check);
    return {lower.result.transpose(-2, -1), lower.info};
  }
  Tensor l = empty(a.sizes(), a.options()), failed;
  {
    NoGradGuard no_grad;
    l.copy_(a.detach());
    const Tensor flat = as_batch(l), info = empty({flat.size(0)}, a.options().dtype(kLong));
    if (flat.size(0) > 0) cholesky_kernel(a.device())(flat, info);
    if (check)
      check_info("linalg.cholesky", info, a.dim() > 2, [](int64_t order) {
        return detail::str(
            "The factorization could not be completed because the input is not positive-definite (the "
            "leading minor of order ",
            order, " is not positive-definite).");
      });
    failed = info_for(a, info);
  }
  if (needs_grad(a))
    record("LinalgCholeskyExBackward0", l, {&a}, {SavedTensor::output(l)}, [](Backward& b, auto& s) -> variable_list {
      // L^-T (lower half of L^T g, its diagonal halved, made symmetric) L^-1
      const Tensor lt = s[0].transpose(-2, -1);
      Tensor half = lt.matmul(b.grad()).tril();
      half = half - diag_embed(half.diagonal(0, -2, -1)) * 0.5;
      const Tensor symmetric = (half + half.transpose(-2, -1)) * 0.5;
      const Tensor left = linalg_solve(lt, symmetric);
      return {linalg_solve(lt, left.transpose(-2, -1)).transpose(-2, -1)};
    });
  return {l, failed};
}
}  // namespace
Tensor linalg_cholesky(const Tensor& a, bool upper) {
  HB_AUTOCAST(linalg_cholesky, fp32, as_is, a, upper);
  return cholesky_of(a, upper, true).result;
}
std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
  HB_AUTOCAST(linalg_cholesky_ex, fp32, as_is, self, upper, check_errors);
  const Checked l = cholesky_of(self, upper, check_errors);
  return {l.result, l.info};
}
Tensor cholesky(const Tensor& self, bool upper) {
  HB_AUTOCAST(cholesky, fp32, as_is, self, upper);
  HB_WARN_ONCE(
      "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future release.");
  return linalg_cholesky(self, upper);
}

}  // namespace hb
