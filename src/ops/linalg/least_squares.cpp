// Least squares.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/record.h"
#include "backend/decompositions.h"
#include "ops/linalg/decompositions.h"

namespace hb {
namespace {

LeastSquares driver_of(const std::optional<std::string_view>& name, const Device& device) {
  if (device.is_cuda()) {
    HB_CHECK(!name || *name == "gels", "torch.linalg.lstsq: `driver` other than `gels` is not supported on CUDA, got ",
             *name);
    return LeastSquares::gels;
  }
  if (!name || *name == "gelsy") return LeastSquares::gelsy;
  if (*name == "gels") return LeastSquares::gels;
  if (*name == "gelsd") return LeastSquares::gelsd;
  HB_CHECK(*name == "gelss",
           "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got ", *name);
  return LeastSquares::gelss;
}

void check_sides(const Tensor& a, const Tensor& b, bool vectors) {
  HB_CHECK(b.dim() >= 1, "torch.linalg.lstsq: other must have at least 1 dimension.");
  HB_CHECK(a.dim() >= b.dim() && a.dim() - b.dim() <= 1,
           "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= "
           "1, got ",
           a.sizes(), " and ", b.sizes());
  HB_CHECK(a.scalar_type() == b.scalar_type(),
           "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype ",
           a.scalar_type(), " and other's dtype ", b.scalar_type());
  HB_CHECK(a.size(-2) == b.size(vectors ? -1 : -2), "torch.linalg.lstsq: input.size(-2) should match other.size(",
           vectors ? -1 : -2, "), got ", a.sizes(), " and ", b.sizes());
}

struct Fitted {
  Tensor x, rank, values;  // x (…, max(m, n), c): solutions, then what squares to the residuals
};

Fitted fit(const Tensor& a, const Tensor& b, LeastSquares driver, double rcond) {
  NoGradGuard no_grad;
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  Fitted f{by_columns(a, std::max(m, n), b.size(-1)), zeros(batch_sizes(a, {}), a.options().dtype(kLong)),
           zeros(batch_sizes(a, {k}), a.options().dtype(to_real_type(a.scalar_type())))};
  f.x.zero_();
  f.x.narrow(-2, 0, m).copy_(b.detach());
  if (a.numel() == 0) f.x.zero_();
  if (a.numel() == 0 || b.numel() == 0) return f;
  const Tensor info = no_info(a);
  least_squares_kernel(a.device())(as_stack(a), as_stack(f.x), driver, rcond, f.rank, as_rows(f.values), info);
  check_info("torch.linalg.lstsq", info,
             driver != LeastSquares::gels
                 ? HB_NO_CONVERGENCE("singular values")
                 : "The least squares solution could not be computed because the input matrix does not have full rank "
                   "(error code: {}).");
  return f;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                        std::optional<double> rcond,
                                                        std::optional<std::string_view> driver) {
  HB_AUTOCAST(linalg_lstsq, fp32, as_is, self, b, rcond, driver);
  check_matrices("torch.linalg.lstsq", self, false);
  const bool vectors = is_vectors(self, b);
  check_sides(self, b, vectors);
  const LeastSquares how = driver_of(driver, self.device());
  const int64_t m = self.size(-2), n = self.size(-1);
  const Tensor columns = vectors ? b.unsqueeze(-1) : b, a = with_batch_of(self, columns),
               right = with_batch_of(columns, a);
  const double limit = rcond && *rcond >= 0 ? *rcond : epsilon_of(to_real_type(self.scalar_type())) * std::max(m, n);
  const Fitted f = fit(a, right, how, limit);
  Tensor x = f.x.narrow(-2, 0, n).detach();
  if (needs_grad(a, right))
    record("LinalgLstsqBackward0", x, {&a, &right}, {SavedTensor::input(a), SavedTensor::input(right)},
           [](Backward& back, auto& s) -> variable_list {
             const Tensor p = linalg_pinv(s[0]);
             return {back.needs(0) ? pinv_gradient(back.grad().matmul(s[1].mH()), s[0], p) : Tensor(),
                     p.mH().matmul(back.grad())};
           });
  const bool ranked = how != LeastSquares::gels, valued = ranked && how != LeastSquares::gelsy;
  const Tensor none = empty({0}, f.values.options());
  Tensor residuals = none;
  // gelsy gives none.
  if (m > n && how != LeastSquares::gelsy && (!ranked || (f.rank == n).all().item<bool>())) {
    const Tensor rest = needs_grad(a, right) ? matmul(a, x) - right : f.x.narrow(-2, n, m - n);
    residuals = rest.abs().pow(2).sum(-2);
  }
  return {vectors ? x.squeeze(-1) : x, residuals, ranked ? f.rank : empty({0}, f.rank.options()),
          valued ? f.values : none};
}

}  // namespace hb
