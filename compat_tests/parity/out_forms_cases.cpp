// name_out(out, …): what lies in the caller's tensors, whose shape was another.
#include "parity/case.h"

using torch::Tensor;

namespace {

// `write(out…)` for as many fresh tensors as its results.
void one(parity::Case& c, const char* name, const std::function<Tensor&(Tensor&)>& write,
         torch::Dtype dtype = torch::kFloat) {
  Tensor out = torch::empty({0}, dtype);
  const Tensor& given = write(out);
  c.check(&given == &out, std::string(name) + ": not the tensor that was given");
  c.out(name, out.is_complex() ? torch::view_as_real(out) : out);
  if (out.numel() == 0) return;
  Tensor sized = torch::full_like(out, 3);  // in which a function may compute at once
  write(sized);
  c.out(std::string(name) + ", sized", sized.is_complex() ? torch::view_as_real(sized) : sized);
}
void two(parity::Case& c, const char* name, const std::function<void(Tensor&, Tensor&)>& write,
         torch::Dtype second = torch::kFloat) {
  Tensor a = torch::empty({0}), b = torch::empty({0}, second);
  write(a, b);
  c.out(std::string(name) + ".0", a), c.out(std::string(name) + ".1", b);
}

}  // namespace

#define ONE(name, ...) one(c, #name, [&](Tensor& out) -> Tensor& { return at::name##_out(out, __VA_ARGS__); })
#define ONE_OF(dtype, name, ...) \
  one(                           \
      c, #name, [&](Tensor& out) -> Tensor& { return at::name##_out(out, __VA_ARGS__); }, dtype)

PARITY_CASE(out_forms, elementwise) {
  const Tensor x = c.randn({3, 4}), y = c.rand({3, 4}, torch::kFloat, 0.1, 1);
  ONE(gelu, x, "tanh");
  ONE(elu, x, 0.5);
  ONE(celu, x, 0.5);
  ONE(glu, x, 1);
  ONE(hardtanh, x, -0.5, 0.5);
  ONE(leaky_relu, x, 0.1);
  ONE(softplus, x, 2);
  ONE(softshrink, x);
  ONE(threshold, x, 0.1, 7);
  ONE(arctan2, x, y);
  ONE(multiply, x, y);
  ONE(true_divide, x, y);
  ONE(diff, x, 1, 0);
  ONE_OF(torch::kBool, greater, x, y);
  ONE_OF(torch::kBool, less_equal, x, 0.2);
  ONE_OF(torch::kComplexFloat, complex, x, y);
  ONE_OF(torch::kComplexFloat, polar, y, x);
}

PARITY_CASE(out_forms, special) {
  const Tensor x = c.rand({7}, torch::kDouble, 0.1, 0.9), y = c.rand({7}, torch::kDouble, 1.5, 3);
#define SPECIAL(name) ONE_OF(torch::kDouble, special_##name, x)
  SPECIAL(digamma), SPECIAL(psi), SPECIAL(entr), SPECIAL(erf), SPECIAL(erfc), SPECIAL(erfcx), SPECIAL(erfinv);
  SPECIAL(exp2), SPECIAL(expit), SPECIAL(expm1), SPECIAL(gammaln), SPECIAL(i0), SPECIAL(i0e), SPECIAL(i1);
  SPECIAL(i1e), SPECIAL(log1p), SPECIAL(log_ndtr), SPECIAL(logit), SPECIAL(ndtr), SPECIAL(ndtri), SPECIAL(sinc);
#undef SPECIAL
  ONE_OF(torch::kDouble, special_gammainc, x, y);
  ONE_OF(torch::kDouble, special_zeta, y, x);
  ONE_OF(torch::kDouble, special_xlogy, x, y);
  ONE_OF(torch::kDouble, special_xlog1py, 2, y);
  ONE_OF(torch::kDouble, special_polygamma, 2, x);
  ONE_OF(torch::kDouble, special_multigammaln, y, 2);
  ONE_OF(torch::kDouble, special_logsumexp, x, torch::IntArrayRef(0));
  Tensor out = torch::empty({0}, torch::kDouble);
  c.out("special::erfcx_out", torch::special::erfcx_out(out, x));
  c.out("special::round_out", torch::special::round_out(out, x));
}

PARITY_CASE(out_forms, layers) {
  const Tensor im = c.randn({2, 3, 6, 6}), line = c.randn({2, 3, 6});
  ONE(adaptive_avg_pool2d, im, {2, 3});
  ONE(avg_pool2d, im, {2, 2}, {1, 1}, {1, 1});
  ONE(reflection_pad2d, im, {1, 1, 2, 2});
  ONE(replication_pad1d, line, {1, 2});
  ONE(constant_pad_nd, line, {1, 1}, 3);
  ONE(upsample_nearest2d, im, {12, 3});
  ONE(upsample_bilinear2d, im, {9, 9}, true);
  ONE(upsample_linear1d, line, {11}, false);
  ONE(im2col, im, {2, 2}, {1, 1}, {0, 0}, {1, 1});
  ONE(embedding, c.randn({5, 3}), c.randint(0, 5, {2, 2}));
  two(
      c, "max_pool2d",
      [&](Tensor& a, Tensor& b) {
        at::max_pool2d_with_indices_out(a, b, im, {2, 2});
      },
      torch::kLong);
  two(
      c, "adaptive_max",
      [&](Tensor& a, Tensor& b) {
        at::adaptive_max_pool2d_out(a, b, im, {2, 2});
      },
      torch::kLong);
  const Tensor x = c.randn({4, 5}), y = c.randn({4, 5}), target = c.randint(0, 5, {4});
  ONE(huber_loss, x, y, at::Reduction::Mean, 0.5);
  ONE(smooth_l1_loss, x, y, at::Reduction::Sum);
  ONE(soft_margin_loss, x, y.sign());
  ONE(multi_margin_loss, x, target);
  ONE(binary_cross_entropy_with_logits, x, y.sigmoid());
}

PARITY_CASE(out_forms, matrices_and_transforms) {
  const Tensor x = c.randn({4, 4}), y = c.randn({4, 4}), spd = x.matmul(x.t()) + torch::eye(4) * 4;
  ONE(linalg_multi_dot, {x, y, x});
  ONE(linalg_matrix_power, x, 2);
  ONE(linalg_matrix_norm, x, "fro");
  ONE(linalg_cross, x.narrow(1, 0, 3), y.narrow(1, 0, 3));
  ONE(linalg_solve_triangular, spd.triu(), y, true);
  ONE(linalg_vecdot, x, y);
  ONE(block_diag, {x, y});
  ONE(concat, {x, y}, 1);
  ONE(row_stack, {x, y});
  ONE(narrow_copy, x, 0, 1, 2);
  two(c, "slogdet", [&](Tensor& a, Tensor& b) { at::linalg_slogdet_out(a, b, spd); });
  two(c, "std_mean", [&](Tensor& a, Tensor& b) { at::std_mean_out(a, b, x, torch::IntArrayRef(1)); });
  two(c, "eigh", [&](Tensor& a, Tensor& b) { at::linalg_eigh_out(a, b, spd), b.abs_(); });
  ONE_OF(torch::kComplexFloat, fft_fft, x);
  ONE_OF(torch::kComplexFloat, fft_rfft2, x);
  ONE(fft_irfft, torch::complex(x, y), 6);
  ONE_OF(torch::kComplexFloat, fft_ifftn, torch::complex(x, y));
  ONE_OF(torch::kLong, bincount, c.randint(0, 6, {10}));
}

PARITY_CASE(out_forms, refusals) {
  const Tensor x = c.leaf({2, 2});
  Tensor half = torch::empty({2, 2}, torch::kHalf), out = torch::empty({2, 2});
  c.throws("another dtype", [&] { at::gelu_out(half, x.detach()); });
  c.throws("a gradient", [&] { at::softplus_out(out, x); });
}
