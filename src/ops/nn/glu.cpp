// The gated linear unit: one half of a tensor times the sigmoid of the other.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb {
namespace {

Tensor gradient(const Tensor& g, const Tensor& x, int64_t dim) {
  const auto halves = x.chunk(2, dim);
  if (needs_grad(g, x)) {
    const Tensor s = sigmoid(halves[1]);
    return named("GluBackwardBackward0", cat({g * s, g * halves[0] * (s * (1 - s))}, dim), g);
  }
  const Tensor out = empty_like(x, MemoryFormat::Contiguous);
  const auto parts = out.chunk(2, dim);
  const ScalarType compute = compute_type(x.scalar_type());
  ops::launch(glu_formula, compute, parts[0], {g, halves[1]});
  ops::launch(glu_gate_backward_formula, compute, parts[1], {g, halves[0], halves[1]});
  return out;
}

}  // namespace

Tensor glu(const Tensor& self, int64_t dim) {
  HB_FUNCTION(glu, self, dim);
  HB_CHECK(self.is_floating_point(), "[glu] expected a floating tensor, got ", toString(self.scalar_type()));
  HB_CHECK(self.dim() > 0, "[glu] glu does not support 0-dimensional tensors");
  HB_CHECK(self.size(dim) % 2 == 0, "[glu] Halving dimension must be even, but dimension ",
           dim < 0 ? dim + self.dim() : dim, " is size ", self.size(dim));
  const auto halves = self.detach().chunk(2, dim);
  Tensor out = ops::floating_op("glu", glu_formula, {halves[0], halves[1]});
  if (needs_grad(self))
    record("GluBackward0", out, {&self}, {SavedTensor::input(self)},
           [dim](Backward& b, auto& s) { return ops::gradients(gradient(b.grad(), s[0], dim)); });
  return out;
}

}  // namespace hb
