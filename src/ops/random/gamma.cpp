// Samples of the gamma and Dirichlet distributions.
#include <limits>

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "backend/distributions.h"
#include "core/function_front.h"
#include "ops/common/defined.h"

namespace hb {
namespace {

void check_floating(const char* name, const char* loop, const Tensor& t) {
  ops::check_defined(t);
  if (t.scalar_type() != kFloat && t.scalar_type() != kDouble)
    HB_NOT_SUPPORTED("[", name, "] \"", loop, "\" not implemented for '", toString(t.scalar_type()), "'");
}
void check_same_dtype(const char* name, const Tensor& a, const Tensor& b) {
  ops::check_defined(a, b);
  HB_CHECK(a.scalar_type() == b.scalar_type(), "[", name, "] Found dtype ", toString(b.scalar_type()), " but expected ",
           toString(a.scalar_type()));
}

// The smallest number that is not subnormal.
double smallest(const Tensor& t) {
  return t.scalar_type() == kFloat ? double{std::numeric_limits<float>::min()} : std::numeric_limits<double>::min();
}

Tensor sample_gamma(const Tensor& shape, double least, const std::optional<Generator>& generator) {
  Tensor out = empty(shape.sizes(), shape.options());
  if (out.numel() > 0) standard_gamma_kernel(out.device())(out, shape.detach().contiguous(), least, generator);
  return out;
}

}  // namespace

Tensor _standard_gamma(const Tensor& self, std::optional<Generator> generator) {
  check_floating("_standard_gamma", "gamma_cpu", self);
  Tensor out = sample_gamma(self, smallest(self), generator);
  if (needs_grad(self))
    record("StandardGammaBackward0", out, {&self}, {SavedTensor::input(self), SavedTensor::output(out)},
           [](Backward& b, auto& s) -> variable_list { return {b.grad() * _standard_gamma_grad(s[0], s[1])}; });
  return out;
}

Tensor _standard_gamma_grad(const Tensor& self, const Tensor& output) {
  check_floating("_standard_gamma_grad", "_standard_gamma_grad_cpu", self),
      check_same_dtype("_standard_gamma_grad", self, output);
  const TensorVector both = broadcast_tensors({self.detach(), output.detach()});
  Tensor out = empty(both[0].sizes(), self.options());
  if (out.numel() > 0) standard_gamma_grad_kernel(out.device())(out, both[0].contiguous(), both[1].contiguous());
  return out;
}

Tensor _sample_dirichlet(const Tensor& self, std::optional<Generator> generator) {
  check_floating("_sample_dirichlet", "dirichlet", self);
  Tensor out;
  {
    NoGradGuard no_grad;
    const Tensor gamma = sample_gamma(self.to(kDouble), 0, generator);
    out = (gamma / gamma.sum(IntArrayRef(-1), true)).to(self.scalar_type());
    // Never 0 and never 1, whose logarithms are not finite; where all samples are 0, each is the smallest number.
    const double largest = 1 - (self.scalar_type() == kFloat ? 0x1p-24 : 0x1p-53);
    out.nan_to_num_(smallest(self)).clamp_(smallest(self), largest);
  }
  if (needs_grad(self))
    record("NotImplemented", out, {&self}, [](Backward&) -> variable_list {
      HB_NOT_SUPPORTED("[_sample_dirichlet] derivative for aten::_sample_dirichlet is not implemented");
    });
  return out;
}

Tensor _dirichlet_grad(const Tensor& x, const Tensor& alpha, const Tensor& total) {
  check_floating("_dirichlet_grad", "_dirichlet_grad_cpu", x);
  check_same_dtype("_dirichlet_grad", x, alpha), check_same_dtype("_dirichlet_grad", x, total);
  const TensorVector all = broadcast_tensors({x.detach(), alpha.detach(), total.detach()});
  Tensor out = empty(all[0].sizes(), x.options());
  if (out.numel() > 0)
    dirichlet_grad_kernel(out.device())(out, all[0].contiguous(), all[1].contiguous(), all[2].contiguous());
  return out;
}

}  // namespace hb
