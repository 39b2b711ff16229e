// Singular values, and what is made with them.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record_some.h"
#include "backend/decompositions.h"
#include "ops/linalg/decompositions.h"

namespace hb {

namespace {

enum class SvdParts { values, reduced, full };
struct Svd {
  Tensor u, s, vh;
};

/// Without history. Throws where the iterations do not converge.
Svd computed_svd(const char* name, const Tensor& a, SvdParts parts) {
  check_finite(name, a, "The algorithm failed to converge because the input matrix contained non-finite values.");
  NoGradGuard no_grad;
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const bool full = parts == SvdParts::full, wanted = parts != SvdParts::values;
  Svd f{Tensor(), empty(batch_sizes(a, {k}), a.options().dtype(to_real_type(a.scalar_type()))), Tensor()};
  if (a.numel() == 0) {  // the vectors of no values are those of the identity
    const auto identity = [&](int64_t rows, int64_t columns) {
      return eye(rows, columns, a.options()).expand(batch_sizes(a, {rows, columns})).clone();
    };
    if (wanted) f.u = identity(m, full ? m : k), f.vh = identity(full ? n : k, n);
    return f;
  }
  if (wanted) f.u = by_columns(a, m, full ? m : k), f.vh = by_columns(a, full ? n : k, n);
  const Tensor info = no_info(a);
  svd_kernel(a.device())(as_stack(a), wanted ? as_stack(f.u) : f.u, as_rows(f.s), wanted ? as_stack(f.vh) : f.vh, info);
  check_info(name, info, HB_NO_CONVERGENCE("singular values"));
  return f;
}

/// U diag(S) V^H of a hermitian matrix, from its eigenvalues; S is not in order.
Svd hermitian_svd(const Tensor& a) {
  const auto [values, vectors] = linalg_eigh(a);
  return {vectors * sign(values).unsqueeze(-2), abs(values), vectors.mH()};
}

/// The part of X^H dX that changes singular vectors.
Tensor skew(const Tensor& t) { return t - t.mH(); }

/// Of the values alone: without the gaps between values that vectors bring in.
Tensor values_gradient(const Tensor& u, const Tensor& gs, const Tensor& vh) {
  return (u * gs.unsqueeze(-2)).matmul(vh);
}

Tensor svd_gradient(const Svd& f, const Tensor& gu, const Tensor& gs, const Tensor& gvh) {
  const Tensor v = f.vh.mH(), gv = gvh.mH();
  const Tensor squares = f.s * f.s;
  const Tensor gaps = squares.unsqueeze(-2) - squares.unsqueeze(-1) + eye(f.s.size(-1), f.s.options());
  const Tensor in_u = skew(f.u.mH().matmul(gu)), in_v = skew(v.mH().matmul(gv));
  Tensor inner = in_u / gaps * f.s.unsqueeze(-2) + f.s.unsqueeze(-1) * (in_v / gaps) + diag_embed(gs);
  if (f.u.is_complex()) {
    // A common phase of a pair of vectors changes nothing: a loss that sees it has no gradient.
    const Tensor phase_u = imag(in_u.diagonal(0, -2, -1)), phase_v = imag(in_v.diagonal(0, -2, -1));
    HB_CHECK(allclose(phase_u, neg(phase_v), 1e-2, 1e-2),
             "svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i phi}. "
             "The specified loss function depends on this phase term, making it ill-defined.");
    inner = inner - diag_embed(in_u.diagonal(0, -2, -1) * f.s) - diag_embed(f.s * in_v.diagonal(0, -2, -1)) +
            diag_embed(in_u.diagonal(0, -2, -1) / (2 * f.s));
  }
  Tensor left = f.u.matmul(inner);
  if (f.u.size(-2) > f.u.size(-1)) {
    const Tensor scaled = gu / f.s.unsqueeze(-2);
    left = left + scaled - f.u.matmul(f.u.mH().matmul(scaled));
  }
  Tensor ga = left.matmul(f.vh);
  if (f.vh.size(-1) > f.vh.size(-2)) {
    const Tensor scaled = gvh / f.s.unsqueeze(-1);
    ga = ga + f.u.matmul(scaled - scaled.matmul(v).matmul(f.vh));
  }
  return ga;
}

void check_driver(const char* name, const std::optional<std::string_view>& driver) {
  HB_CHECK(!driver, "torch.", name,
           ": keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& a, bool full_matrices,
                                              std::optional<std::string_view> driver) {
  check_driver("linalg.svd", driver);
  HB_AUTOCAST(linalg_svd, fp32, as_is, a, full_matrices);
  check_matrices("linalg.svd", a, false, Refused::halves_by_kernel);
  const bool full = full_matrices && a.size(-2) != a.size(-1);
  HB_CHECK(!full || !needs_grad(a),
           "svd_backward: gradients need full_matrices=false (some=true), got full matrices of a ", a.size(-2), " by ",
           a.size(-1), " input");
  Svd f = computed_svd("linalg.svd", a, full ? SvdParts::full : SvdParts::reduced);
  if (needs_grad(a))
    record_some(
        "LinalgSvdBackward0", {&f.u, &f.s, &f.vh}, {&a},
        {SavedTensor::output(f.u, 0), SavedTensor::output(f.s, 1), SavedTensor::output(f.vh, 2)},
        [](Backward& b, const variable_list& s) -> variable_list {
          const Tensor &gu = b.grad(0), &gs = b.grad(1), &gvh = b.grad(2);
          if (!gu.defined() && !gvh.defined()) return {gs.defined() ? values_gradient(s[0], gs, s[2]) : gs};
          const auto or_zeros = [](const Tensor& g, const Tensor& x) { return g.defined() ? g : zeros_like(x); };
          return {svd_gradient({s[0], s[1], s[2]}, or_zeros(gu, s[0]), or_zeros(gs, s[1]), or_zeros(gvh, s[2]))};
        });
  return {f.u, f.s, f.vh};
}

TensorTuple3 svd(const Tensor& self, bool some, bool compute_uv) {
  HB_AUTOCAST(svd, fp32, as_is, self, some, compute_uv);
  auto [u, s, vh] = linalg_svd(self, !some && compute_uv);
  if (compute_uv) return {u, s, vh.mH()};
  const int64_t m = self.size(-2), n = self.size(-1);
  return {zeros(batch_sizes(self, {m, m}), self.options()), s, zeros(batch_sizes(self, {n, n}), self.options())};
}

Tensor linalg_svdvals(const Tensor& a, std::optional<std::string_view> driver) {
  check_driver("linalg.svdvals", driver);
  HB_AUTOCAST(linalg_svdvals, fp32, as_is, a);
  check_matrices("linalg.svdvals", a, false, Refused::halves_by_kernel);
  Svd f = computed_svd("linalg.svdvals", a, needs_grad(a) ? SvdParts::reduced : SvdParts::values);
  if (needs_grad(a))
    record("LinalgSvdBackward0", f.s, {&a}, {SavedTensor::input(a), SavedTensor::input(f.u), SavedTensor::input(f.vh)},
           [](Backward& b, auto& s) -> variable_list {
             if (!GradMode::is_enabled()) return {values_gradient(s[1], b.grad(), s[2])};
             const auto [u, values, vh] = linalg_svd(s[0], false);  // vectors whose gradients are known
             return {values_gradient(u, b.grad(), vh)};
           });
  return f.s;
}

namespace {
// atol and rtol of PyTorch's rule: without them rtol is the larger side times epsilon.
std::pair<Tensor, Tensor> tolerances(const Tensor& a, const std::optional<Tensor>& atol,
                                     const std::optional<Tensor>& rtol) {
  const Tensor absolute = atol ? *atol : zeros({}, a.options().dtype(kDouble));
  if (rtol) return {absolute, *rtol};
  const double ratio =
      epsilon_of(to_real_type(a.scalar_type())) * static_cast<double>(std::max(a.size(-1), a.size(-2)));
  const Tensor by_default = full({}, ratio, a.options().dtype(kDouble));
  return {absolute, atol ? where(absolute > 0, 0, by_default) : by_default};
}
}  // namespace

Tensor pinv_gradient(const Tensor& grad, const Tensor& a, const Tensor& p) {
  const Tensor ph = p.mH(), gh = grad.mH();
  const Tensor left = gh.matmul(p).matmul(ph), right = ph.matmul(p).matmul(gh);
  return left - a.matmul(p.matmul(left)) + right - right.matmul(p).matmul(a) - ph.matmul(grad).matmul(ph);
}

Tensor linalg_pinv(const Tensor& a, const std::optional<Tensor>& atol, const std::optional<Tensor>& rtol,
                   bool hermitian) {
  check_matrices("linalg.pinv", a, hermitian);
  Tensor p;
  {
    NoGradGuard no_grad;
    const Svd f = hermitian ? hermitian_svd(a) : computed_svd("linalg.svd", a, SvdParts::reduced);
    const auto [absolute, relative] = tolerances(a, atol, rtol);
    const Tensor limit =
        f.s.numel() > 0 ? maximum(absolute.unsqueeze(-1), relative.unsqueeze(-1) * f.s.amax({-1}, true)).to(f.s) : f.s;
    const Tensor inverses = where(f.s > limit, f.s.reciprocal(), zeros_like(f.s));
    p = (f.vh.mH() * inverses.unsqueeze(-2)).matmul(f.u.mH());
  }
  if (needs_grad(a))
    record("LinalgPinvBackward0", p, {&a}, {SavedTensor::input(a), SavedTensor::output(p)},
           [](Backward& b, auto& s) -> variable_list { return {pinv_gradient(b.grad(), s[0], s[1])}; });
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
