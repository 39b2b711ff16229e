// QR, eigenvalues of symmetric matrices, singular values; powers of a matrix.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "backend/decompositions.h"
#include "core/warnings.h"
#include "ops/linalg/decompositions.h"

namespace hb {

namespace {

/// Gradient of A = Q R for m >= n; Q (m, n), R (n, n).
Tensor tall_qr_gradient(const Tensor& q, const Tensor& r, const Tensor& gq, const Tensor& gr) {
  const Tensor m = r.matmul(gr.mT()) - gq.mT().matmul(q);
  const Tensor symmetric = m.tril() + m.tril(-1).mT();
  const Tensor x = gq + q.matmul(symmetric);
  return linalg_solve(r, x.mT()).mT();
}

Tensor qr_gradient(const Tensor& a, const Tensor& q, const Tensor& r, const Tensor& gq, const Tensor& gr) {
  const int64_t m = a.size(-2), n = a.size(-1);
  if (m >= n) return tall_qr_gradient(q, r, gq, gr);
  // A = (X | Y), R = (U | V): X = Q U is square, and V = Q^T Y.
  const Tensor y = a.narrow(-1, m, n - m), gv = gr.narrow(-1, m, n - m);
  const Tensor gx = tall_qr_gradient(q, r.narrow(-1, 0, m), gq + y.matmul(gv.mT()), gr.narrow(-1, 0, m));
  return cat({gx, q.matmul(gv)}, -1);
}

/// Iterations do not converge on NaN and infinities.
void check_finite(const char* name, const Tensor& a) {
  NoGradGuard no_grad;
  HB_CHECK(isfinite(a.detach()).all().item<bool>(), name,
           ": The algorithm failed to converge because the input matrix contained non-finite values.");
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& a, std::string_view mode) {
  HB_AUTOCAST(linalg_qr, fp32, as_is, a, mode);
  check_matrices("linalg.qr", a, false);
  HB_CHECK(mode == "reduced" || mode == "complete" || mode == "r", "qr received unrecognized mode '", mode,
           "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const int64_t m = a.size(-2), n = a.size(-1), columns = mode == "complete" ? m : std::min(m, n);
  Tensor q = empty(batch_sizes(a, {m, columns}), a.options()), r = empty(batch_sizes(a, {columns, n}), a.options());
  {
    NoGradGuard no_grad;
    const Tensor flat = flat_batch(a);
    if (flat.size(0) > 0) qr_kernel(a.device())(flat, as_batch(q), as_batch(r));
  }
  if (mode == "r") {
    HB_CHECK(!needs_grad(a),
             "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
             "linalg.qr(A, mode='reduced') if you are going to require gradients through linalg.qr.");
    return {empty({0}, a.options()), r};
  }
  if (needs_grad(a)) {
    HB_CHECK(columns <= n || m <= n,
             "The QR decomposition is not differentiable when mode='complete' and nrows > ncols");
    record_many("LinalgQrBackward0", {&q, &r}, {&a},
                {SavedTensor::input(a), SavedTensor::output(q, 0), SavedTensor::output(r, 1)},
                [](Backward& b, const variable_list& s) -> variable_list {
                  return {qr_gradient(s[0], s[1], s[2], b.grad(0), b.grad(1))};
                });
  }
  return {q, r};
}
TensorTuple2 qr(const Tensor& self, bool some) {
  HB_AUTOCAST(qr, fp32, as_is, self, some);
  HB_WARN_ONCE("torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future release.");
  return linalg_qr(self, some ? "reduced" : "complete");
}

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& a, std::string_view uplo) {
  HB_AUTOCAST(linalg_eigh, fp32, as_is, a, uplo);
  check_matrices("linalg.eigh", a, true);
  HB_CHECK(uplo == "L" || uplo == "U" || uplo == "l" || uplo == "u",
           "Expected UPLO argument to be 'L' or 'U', but got ", uplo);
  Tensor values = empty(batch_sizes(a, {a.size(-1)}), a.options());
  Tensor vectors = empty(a.sizes(), a.options());
  {
    NoGradGuard no_grad;
    vectors.copy_(uplo == "L" || uplo == "l" ? a.detach() : a.detach().mT());
    const Tensor flat = as_batch(vectors);
    if (flat.size(0) > 0) eigh_kernel(a.device())(flat, values.view({flat.size(0), a.size(-1)}));
  }
  if (needs_grad(a))
    record_many("LinalgEighBackward0", {&values, &vectors}, {&a},
                {SavedTensor::output(values, 0), SavedTensor::output(vectors, 1)},
                [](Backward& b, const variable_list& s) -> variable_list {
                  const Tensor &l = s[0], &v = s[1];
                  const Tensor one = eye(l.size(-1), l.options());
                  const Tensor gaps = l.unsqueeze(-2) - l.unsqueeze(-1) + one;
                  const Tensor turned = v.mT().matmul(b.grad(1));
                  // Only symmetric changes of A are meant: the gradient is symmetric.
                  const Tensor inner = (turned - turned.mT()) * 0.5 / gaps + diag_embed(b.grad(0));
                  return {v.matmul(inner).matmul(v.mT())};
                });
  return {values, vectors};
}

namespace {

struct Svd {
  Tensor u, s, vh;
};

/// U (m, k), S (k), V^T (k, n), without history.
Svd reduced_svd(const Tensor& a) {
  NoGradGuard no_grad;
  const int64_t m = a.size(-2), n = a.size(-1);
  if (m < n) {
    const Svd t = reduced_svd(a.mT());
    return {t.vh.mT().contiguous(), t.s, t.u.mT().contiguous()};
  }
  const Tensor flat = flat_batch(a);
  const int64_t batch = flat.size(0);
  Tensor u = empty(a.sizes(), a.options()), s = empty(batch_sizes(a, {n}), a.options());
  Tensor v = empty(batch_sizes(a, {n, n}), a.options());
  if (flat.numel() > 0) svd_kernel(a.device())(flat, as_batch(u), s.view({batch, n}), as_batch(v));
  return {u, s, v.mT().contiguous()};
}

/// Orthonormal columns (m, k) with m - k further ones, orthogonal to them, appended.
Tensor completed(const Tensor& columns) {
  const int64_t m = columns.size(-2), k = columns.size(-1);
  if (m == k) return columns;
  return cat({columns, std::get<0>(linalg_qr(columns, "complete")).narrow(-1, k, m - k)}, -1);
}

Tensor svd_gradient(const Svd& f, const Tensor& gu, const Tensor& gs, const Tensor& gvh) {
  const auto skew = [](const Tensor& t) { return t - t.mT(); };
  const Tensor v = f.vh.mT(), gv = gvh.mT();
  const Tensor squares = f.s * f.s;
  const Tensor gaps = squares.unsqueeze(-2) - squares.unsqueeze(-1) + eye(f.s.size(-1), f.s.options());
  const Tensor inner = skew(f.u.mT().matmul(gu)) / gaps * f.s.unsqueeze(-2) +
                       f.s.unsqueeze(-1) * (skew(v.mT().matmul(gv)) / gaps) + diag_embed(gs);
  Tensor left = f.u.matmul(inner);
  if (f.u.size(-2) > f.u.size(-1)) {
    const Tensor scaled = gu / f.s.unsqueeze(-2);
    left = left + scaled - f.u.matmul(f.u.mT().matmul(scaled));
  }
  Tensor ga = left.matmul(f.vh);
  if (f.vh.size(-1) > f.vh.size(-2)) {
    const Tensor scaled = gvh / f.s.unsqueeze(-1);
    ga = ga + f.u.matmul(scaled - scaled.matmul(v).matmul(f.vh));
  }
  return ga;
}

}  // namespace

namespace {
void check_driver(const char* name, const std::optional<std::string_view>& driver) {
  HB_CHECK(!driver, "[", name, "] keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend");
}

Svd checked_svd(const Tensor& a) {
  check_matrices("linalg.svd", a, false);
  check_finite("linalg.svd", a);
  return reduced_svd(a);
}
}  // namespace

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& a, bool full_matrices,
                                              std::optional<std::string_view> driver) {
  check_driver("linalg.svd", driver);
  HB_AUTOCAST(linalg_svd, fp32, as_is, a, full_matrices);
  Svd f = checked_svd(a);
  if (full_matrices && a.size(-2) != a.size(-1)) {
    HB_CHECK(!needs_grad(a), "svd_backward: gradients need full_matrices=false (some=true), got full matrices of a ",
             a.size(-2), " by ", a.size(-1), " input");
    f.u = completed(f.u);
    f.vh = completed(f.vh.mT()).mT();
  }
  if (needs_grad(a))
    record_many("LinalgSvdBackward0", {&f.u, &f.s, &f.vh}, {&a},
                {SavedTensor::output(f.u, 0), SavedTensor::output(f.s, 1), SavedTensor::output(f.vh, 2)},
                [](Backward& b, const variable_list& s) -> variable_list {
                  return {svd_gradient({s[0], s[1], s[2]}, b.grad(0), b.grad(1), b.grad(2))};
                });
  return {f.u, f.s, f.vh};
}

TensorTuple3 svd(const Tensor& self, bool some, bool compute_uv) {
  HB_AUTOCAST(svd, fp32, as_is, self, some, compute_uv);
  auto [u, s, vh] = linalg_svd(self, !some && compute_uv);
  if (compute_uv) return {u, s, vh.mT()};
  const int64_t m = self.size(-2), n = self.size(-1);
  return {zeros(batch_sizes(self, {m, m}), self.options()), s, zeros(batch_sizes(self, {n, n}), self.options())};
}

Tensor matrix_power(const Tensor& self, int64_t n) {
  HB_CHECK(self.dim() >= 2 && self.size(-1) == self.size(-2),
           "linalg.matrix_power: A must be batches of square matrices, got sizes ", self.sizes());
  if (n < 0) return matrix_power(linalg_inv(self), -n);
  if (n == 0) return eye(self.size(-1), self.options()).expand(self.sizes()).clone();
  Tensor result, power = self;
  for (;; power = power.matmul(power)) {
    if (n & 1) result = result.defined() ? result.matmul(power) : power;
    n >>= 1;
    if (n == 0) return result;
  }
}

Tensor linalg_eigvalsh(const Tensor& a, std::string_view uplo) {
  HB_AUTOCAST(linalg_eigvalsh, fp32, as_is, a, uplo);
  return std::get<0>(linalg_eigh(a, uplo));
}
Tensor linalg_svdvals(const Tensor& a, std::optional<std::string_view> driver) {
  check_driver("linalg.svdvals", driver);
  HB_AUTOCAST(linalg_svdvals, fp32, as_is, a);
  Svd f = checked_svd(a);
  if (needs_grad(a))
    record("LinalgSvdBackward0", f.s, {&a}, {SavedTensor::input(a), SavedTensor::input(f.u), SavedTensor::input(f.vh)},
           [](Backward& b, auto& s) -> variable_list {
             // Without the gaps between values that vectors bring in; vectors again where gradients are to have
             // gradients.
             const auto gradient = [&](const Tensor& u, const Tensor& vh) {
               return (u * b.grad().unsqueeze(-2)).matmul(vh);
             };
             if (!GradMode::is_enabled()) return {gradient(s[1], s[2])};
             const auto [u, values, vh] = linalg_svd(s[0], false);
             return {gradient(u, vh)};
           });
  return f.s;
}
Tensor linalg_matrix_power(const Tensor& self, int64_t n) { return matrix_power(self, n); }

namespace {
// atol and rtol of PyTorch's rule: without them rtol is the larger side times epsilon.
std::pair<Tensor, Tensor> tolerances(const Tensor& a, const std::optional<Tensor>& atol,
                                     const std::optional<Tensor>& rtol) {
  const Tensor absolute = atol ? *atol : zeros({}, a.options().dtype(kDouble));
  if (rtol) return {absolute, *rtol};
  const double ratio = epsilon_of(a.scalar_type()) * static_cast<double>(std::max(a.size(-1), a.size(-2)));
  const Tensor by_default = full({}, ratio, a.options().dtype(kDouble));
  return {absolute, atol ? where(absolute > 0, 0, by_default) : by_default};
}
}  // namespace

Tensor linalg_pinv(const Tensor& a, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol,
                   bool hermitian) {
  check_matrices("linalg.pinv", a, hermitian);
  Tensor p;
  {
    NoGradGuard no_grad;
    const Svd f = reduced_svd(a);
    const auto [absolute, relative] = tolerances(a, atol, rtol);
    const Tensor limit =
        f.s.numel() > 0 ? maximum(absolute.unsqueeze(-1), relative.unsqueeze(-1) * f.s.amax({-1}, true)).to(f.s) : f.s;
    const Tensor inverses = where(f.s > limit, f.s.reciprocal(), zeros_like(f.s));
    p = (f.vh.mT() * inverses.unsqueeze(-2)).matmul(f.u.mT());
  }
  if (needs_grad(a))
    record(
        "LinalgPinvBackward0", p, {&a}, {SavedTensor::input(a), SavedTensor::output(p)},
        [](Backward& b, auto& s) -> variable_list {
          const Tensor &a = s[0], &p = s[1], pt = p.mT(), gt = b.grad().mT();
          const Tensor left = gt.matmul(p).matmul(pt), right = pt.matmul(p).matmul(gt);
          return {left - a.matmul(p.matmul(left)) + right - right.matmul(p).matmul(a) - pt.matmul(b.grad()).matmul(pt)};
        });
  return p;
}
Tensor linalg_pinv(const Tensor& a, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  const auto number = [&](std::optional<double> x) {
    return x ? std::optional(full({}, *x, a.options().dtype(kDouble))) : std::nullopt;
  };
  return linalg_pinv(a, number(atol), number(rtol), hermitian);
}
Tensor linalg_pinv(const Tensor& a, const Tensor& rcond, bool hermitian) {
  return linalg_pinv(a, zeros({}, a.options().dtype(kDouble)), rcond, hermitian);
}
Tensor linalg_pinv(const Tensor& a, double rcond, bool hermitian) {
  return linalg_pinv(a, full({}, rcond, a.options().dtype(kDouble)), hermitian);
}
Tensor linalg_matrix_rank(const Tensor& self, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol,
                          bool hermitian) {
  check_matrices("linalg.matrix_rank", self, hermitian);
  NoGradGuard no_grad;
  const Tensor values = hermitian ? linalg_eigvalsh(self).abs() : linalg_svdvals(self);
  if (values.size(-1) == 0) return zeros(values.sizes().slice(0, values.dim() - 1), values.options().dtype(kLong));
  const auto [absolute, relative] = tolerances(self, atol, rtol);
  return (values > maximum(absolute.unsqueeze(-1), relative.unsqueeze(-1) * values.amax({-1}, true))).sum(-1);
}
Tensor linalg_matrix_rank(const Tensor& self, const Tensor& tol, bool hermitian) {
  return linalg_matrix_rank(self, tol, zeros({}, self.options().dtype(kDouble)), hermitian);
}
Tensor pinverse(const Tensor& self, double rcond) {
  HB_AUTOCAST(pinverse, fp32, as_is, self, rcond);
  return linalg_pinv(self, rcond, false);
}

}  // namespace hb
