// QR, and powers of a matrix.
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
  const Tensor m = r.matmul(gr.mH()) - gq.mH().matmul(q);
  // R's diagonal is real.
  const Tensor lower = m.tril(-1), diagonal = m.diagonal(0, -2, -1);
  const Tensor hermitian =
      lower + lower.mH() + diag_embed(m.is_complex() ? real(diagonal).to(m.scalar_type()) : diagonal);
  return linalg_solve_triangular(r.mH(), gq + q.matmul(hermitian), /*upper=*/false, /*left=*/false);
}

Tensor qr_gradient(const Tensor& a, const Tensor& q, const Tensor& r, const Tensor& gq, const Tensor& gr) {
  const int64_t m = a.size(-2), n = a.size(-1);
  if (m >= n) return tall_qr_gradient(q, r, gq, gr);
  // A = (X | Y), R = (U | V): X = Q U is square, and V = Q^H Y.
  const Tensor y = a.narrow(-1, m, n - m), gv = gr.narrow(-1, m, n - m);
  const Tensor gx = tall_qr_gradient(q, r.narrow(-1, 0, m), gq + y.matmul(gv.mH()), gr.narrow(-1, 0, m));
  return cat({gx, q.matmul(gv)}, -1);
}

}  // namespace

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& a, std::string_view mode) {
  HB_AUTOCAST(linalg_qr, fp32, as_is, a, mode);
  check_matrices("linalg.qr", a, false);
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
