// Reductions, running products, statistics and interpolation of complex tensors.
#include "parity/complex_leaf.h"

using parity::complex_leaf;
using torch::Tensor;

PARITY_CASE(complex_reductions, products) {
  for (const int64_t n : {1, 2, 5}) {
    c.scope("n" + std::to_string(n), [&] {
      const Tensor z = complex_leaf(c, {3, n}, torch::kDouble);
      c.gradients("prod", {z}, [&] { return z.prod(); });
      c.gradients("along", {z}, [&] { return z.prod(1); });
      c.gradients("kept", {z}, [&] { return z.prod(-1, true); });
      c.gradients("cumprod", {z}, [&] { return z.cumprod(1); });
      c.gradients("cumprod of columns", {z}, [&] { return z.cumprod(0); });
    });
  }
  const Tensor scalar = complex_leaf(c, {}, torch::kDouble);
  c.gradients("scalar", {scalar}, [&] { return scalar.prod(0) + scalar.cumprod(0) + scalar.cumsum(0); });
  c.out("nothing", torch::empty({0, 3}, torch::kComplexFloat).prod(0));
  c.out("as real", complex_leaf(c, {4}, torch::kDouble).detach().prod(0, false, torch::kDouble));
}

PARITY_CASE(complex_reductions, sums) {
  const Tensor z = complex_leaf(c, {3, 4}, torch::kDouble);
  c.out("sum as real", z.detach().sum(torch::kDouble));
  c.out("sums as real", z.detach().sum(1, false, torch::kFloat));
  c.out("running sum as real", z.detach().cumsum(1, torch::kDouble));
  c.gradients("logsumexp", {z}, [&] { return z.logsumexp(1); });
  c.gradients("logsumexp, kept", {z}, [&] { return z.logsumexp(torch::IntArrayRef{0, 1}, true); });
  c.out("logsumexp of nothing", torch::empty({0, 2}, torch::kComplexFloat).logsumexp(0));
  c.value("count_nonzero", (z.detach() * 0 + 1).count_nonzero().item<int64_t>());
  c.value("is_nonzero", torch::is_nonzero(torch::complex(torch::zeros({1}), torch::ones({1}))));
}

PARITY_CASE(complex_reductions, spread) {
  const Tensor z = complex_leaf(c, {4, 5}, torch::kDouble);
  c.gradients("var", {z}, [&] { return z.var(); });
  c.gradients("std of rows", {z}, [&] { return z.std(1); });
  c.gradients("var, biased", {z}, [&] { return z.var(0, false, true); });
  c.gradients("std_mean", {z}, [&] {
    const auto [std, mean] = torch::std_mean(z, 0);
    return torch::view_as_real(mean).sum(-1) * std;
  });
  c.gradients("cov", {z}, [&] { return torch::cov(z); });
  c.gradients("corrcoef", {z}, [&] { return torch::corrcoef(z); });
}

PARITY_CASE(complex_reductions, element_wise) {
  const Tensor z = complex_leaf(c, {5}, torch::kDouble), w = complex_leaf(c, {5}, torch::kDouble);
  c.gradients("sinc", {z}, [&] { return torch::sinc(z); });
  c.out("sinc of 0", torch::sinc(torch::zeros({2}, torch::kComplexDouble)));
  c.gradients("lerp", {z, w}, [&] { return torch::lerp(z, w, 0.3); });
  c.gradients("lerp by a tensor", {z, w}, [&] { return torch::lerp(z, w, z); });
  c.out("float_power", torch::float_power(z.detach(), 2));
  c.out("float_power of a real base", torch::float_power(torch::ones({5}) * 2, w.detach()));
  c.out("vander", torch::vander(z.detach(), 3));
  c.out("l1_loss", torch::l1_loss(z.detach(), w.detach()));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  c.out("nan_to_num", torch::nan_to_num(torch::complex(c.values({nan, 1}), c.values({2, nan}))));
  const Tensor planes = complex_leaf(c, {1, 2, 4}, torch::kDouble);
  c.gradients("reflected", {planes}, [&] {
    namespace F = torch::nn::functional;
    return F::pad(planes, F::PadFuncOptions({1, 2}).mode(torch::kReflect));
  });
  c.throws("logit", [&] { torch::logit(z.detach()); });
  c.throws("copysign", [&] { torch::copysign(z.detach(), 1); });
  c.throws("deg2rad", [&] { torch::deg2rad(z.detach()); });
}
