// QR, and powers of a matrix.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "autograd/record_some.h"
#include "backend/decompositions.h"
#include "core/warnings.h"
#include "ops/linalg/decompositions.h"

namespace hb {

namespace {

Tensor sum_of_defined(const Tensor& a, const Tensor& b) { return !a.defined() ? b : b.defined() ? a + b : a; }

/// Gradient of A = Q R for m >= n; Q (m, n), R (n, n). Gradients of what was not used are undefined.
Tensor tall_qr_gradient(const Tensor& q, const Tensor& r, const Tensor& gq, const Tensor& gr) {
  const Tensor of_r = gr.defined() ? r.matmul(gr.mH()) : Tensor(),
               of_q = gq.defined() ? neg(gq.mH().matmul(q)) : Tensor();
  const Tensor m = sum_of_defined(of_r, of_q), lower = m.tril(-1), diagonal = m.diagonal(0, -2, -1);
  // R's diagonal is real.
  const Tensor hermitian =
      m.is_complex() ? lower + lower.mH() + diag_embed(real(diagonal).to(m.scalar_type())) : m.tril() + lower.mH();
  return linalg_solve_triangular(r.mH(), sum_of_defined(q.matmul(hermitian), gq), /*upper=*/false, /*left=*/false);
}

Tensor qr_gradient(const Tensor& a, const Tensor& q, const Tensor& r, const Tensor& gq, const Tensor& gr) {
  const int64_t m = a.size(-2), n = a.size(-1);
  if (m >= n) return tall_qr_gradient(q, r, gq, gr);
  // A = (X | Y), R = (U | V): X = Q U is square, and V = Q^H Y.
  const Tensor y = a.narrow(-1, m, n - m), u = r.narrow(-1, 0, m);
  if (!gr.defined()) return cat({tall_qr_gradient(q, u, gq, gr), zeros_like(y)}, -1);
  const Tensor gv = gr.narrow(-1, m, n - m);
  const Tensor gx = tall_qr_gradient(q, u, sum_of_defined(y.matmul(gv.mH()), gq), gr.narrow(-1, 0, m));
  return cat({gx, q.matmul(gv)}, -1);
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& a, std::string_view mode) {
  HB_AUTOCAST(linalg_qr, fp32, as_is, a, mode);
  check_matrices("linalg.qr", a, false, Refused::halves_by_kernel);
  HB_CHECK(mode == "reduced" || mode == "complete" || mode == "r", "qr received unrecognized mode '", mode,
           "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const int64_t m = a.size(-2), n = a.size(-1), columns = mode == "complete" ? m : std::min(m, n);
  Tensor q, r = by_columns(a, columns, n);
  {
    NoGradGuard no_grad;
    // Of no columns Q is the identity.
    if (mode != "r")
      q = n > 0 ? by_columns(a, m, columns) : eye(m, columns, a.options()).expand(batch_sizes(a, {m, columns})).clone();
    if (a.numel() > 0) qr_kernel(a.device())(as_stack(a), q.defined() ? as_stack(q) : q, as_stack(r));
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
    record_some("LinalgQrBackward0", {&q, &r}, {&a},
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

Tensor matrix_power(const Tensor& self, int64_t n) {
  HB_CHECK(self.dim() >= 2 && self.size(-1) == self.size(-2),
           "linalg.matrix_power: A must be batches of square matrices, got sizes ", self.sizes());
  if (n < 0) return matrix_power(linalg_inv(self), -n);
  if (n == 0)
    return self.clone(MemoryFormat::Contiguous).copy_(eye(self.size(-1), self.options()));  // with a gradient of zeros
  if (n == 1) return self.clone(MemoryFormat::Contiguous);
  Tensor result, power = self;
  for (;; power = power.matmul(power)) {
    if (n & 1) result = result.defined() ? result.matmul(power) : power;
    n >>= 1;
    if (n == 0) return result;
  }
}

Tensor linalg_matrix_power(const Tensor& self, int64_t n) { return matrix_power(self, n); }

}  // namespace hb
