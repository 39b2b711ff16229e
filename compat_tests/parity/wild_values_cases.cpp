// Values that end a formula: NaN, infinities, no deviation, negative bases of complex powers.
#include <limits>

#include "parity/complex_leaf.h"

using parity::complex_leaf;
using torch::Tensor;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

PARITY_CASE(wild_values, powers_of_negative_bases) {
  const auto exponent = complex_leaf(c, {4}, torch::kDouble);
  for (const double base : {-3.0, -0.5, 2.0})
    c.gradients(c10::str("scalar ", base), {exponent}, [&] { return torch::view_as_real(torch::pow(base, exponent)); });
}

PARITY_CASE(wild_values, deviations_of_equal_numbers) {
  const auto equal = torch::full({3, 4}, c10::complex<double>(0.5, -0.25)).requires_grad_(),
             some = complex_leaf(c, {3, 4}, torch::kDouble);
  const auto both = torch::cat({equal.detach(), some.detach()}).requires_grad_();
  c.gradients("all", {equal}, [&] { return torch::std(equal); });
  c.gradients("rows", {both}, [&] { return torch::std(both, 1); });
  c.gradients("with the mean", {both}, [&] { return std::get<0>(torch::std_mean(both, 1)); });
}

PARITY_CASE(wild_values, complex_numbers_made_finite_in_place) {
  const auto x =
      torch::tensor({c10::complex<double>(0.5, kInfinity), c10::complex<double>(kNan, -2), c10::complex<double>(1, 3)})
          .requires_grad_();
  c.gradients("nan_to_num_", {x}, [&] { return torch::view_as_real(x.clone().nan_to_num_(0.25, 7, -7)); });
}

PARITY_CASE(wild_values, exponentials_of_matrices) {
  auto x = c.randn({3, 2, 2}, torch::kDouble);
  x[1][0][1] = kNan;
  c.out("one of three is NaN", torch::matrix_exp(x));
  // The scale of one is not that of the others.
  c.tolerance(torch::kFloat, 1e-4, 1e-5);
  const auto sizes = c.randn({4, 3, 3}) * torch::tensor({0.1F, 1.F, 4.F, 12.F}).view({4, 1, 1});
  const auto rotations = (sizes - sizes.mT()).detach().requires_grad_();
  c.gradients("of several sizes", {rotations}, [&] { return torch::matrix_exp(rotations); });
  c.out("in double",
        torch::matrix_exp(rotations.detach().to(torch::kDouble) * torch::tensor({1., 1., 1., 1e4}).view({4, 1, 1}))
            .slice(0, 0, 3));
}

PARITY_CASE(wild_values, alignments_with_nan) {
  auto x = torch::log_softmax(c.randn({4, 2, 3}, torch::kDouble), 2).clone();
  x[3][0][0] = kNan;  // the blank of the last step
  for (const bool zero_infinity : {false, true})
    c.out(c10::str("ctc_loss ", zero_infinity),
          torch::ctc_loss(x, torch::tensor({{1, 2}, {2, 1}}), torch::tensor({4, 4}), torch::tensor({2, 2}), 0, 0,
                          zero_infinity));
  x.select(2, 1).fill_(-kInfinity);
  c.out("no alignment, and NaN",
        torch::ctc_loss(x, torch::tensor({{1, 2}, {2, 1}}), torch::tensor({4, 4}), torch::tensor({2, 2}), 0, 0, true));
}

PARITY_CASE(wild_values, complex_elements_that_share_a_place) {
  const auto row = complex_leaf(c, {3}, torch::kDouble), shared = row.detach().expand({4, 3}).requires_grad_();
  c.gradients("as_strided", {shared}, [&] { return torch::view_as_real(torch::as_strided(shared, {2, 2}, {1, 1})); });
}

PARITY_CASE(wild_values, volumes_sampled_at_infinity) {
  namespace F = torch::nn::functional;
  const auto volume = c.randn({1, 2, 3, 3, 3});
  const auto places =
      torch::tensor({0.5, -0.25, 0.0, kInfinity, 0.0, 0.5, 0.1, -kInfinity, 0.2, kInfinity, 0.3, -kInfinity})
          .view({1, 1, 2, 2, 3})
          .to(volume.scalar_type());
  for (const bool corners : {true, false})
    c.out(c10::str("corners ", corners),
          F::grid_sample(volume, places, F::GridSampleFuncOptions().mode(torch::kBilinear).align_corners(corners)));
}

PARITY_CASE(wild_values, attention_of_nan) {
  // LibTorch gives zeros of f32 where nothing is masked.
  auto q = c.randn({1, 2, 5, 8}, torch::kDouble), k = c.randn({1, 2, 5, 8}, torch::kDouble),
       v = c.randn({1, 2, 5, 8}, torch::kDouble);
  q.index_put_({0, 0, 3, 2}, kNan);
  k.index_put_({0, 1, 4, 0}, kNan);
  auto seen = torch::ones({5, 5}, torch::kBool);
  seen.select(0, 1).fill_(false);  // a row that sees nothing is 0
  c.out("all", torch::scaled_dot_product_attention(q, k, v));
  c.out("causal", torch::scaled_dot_product_attention(q, k, v, {}, 0.0, true));
  c.out("masked", torch::scaled_dot_product_attention(q, k, v, seen));
  const auto x = q.clone().requires_grad_();
  torch::scaled_dot_product_attention(x, k, v).sum().backward();
  c.out("gradient", x.grad());
}

PARITY_CASE(wild_values, gradients_at_nan) {
  const auto some = torch::tensor({kNan, 0.5, kInfinity, -0.25, -kInfinity, -4.0, 4.0, 0.0}).repeat({16});
  const auto gradient = [&](const char* name, torch::ScalarType dtype, auto f) {
    const auto x = some.to(dtype).requires_grad_();
    f(x).sum().backward();
    c.out(c10::str(name, " ", dtype), x.grad());
  };
  for (const auto dtype : {torch::kFloat, torch::kDouble}) {
    gradient("elu", dtype, [](auto& x) { return torch::elu(x); });
    gradient("celu", dtype, [](auto& x) { return torch::celu(x, 0.7); });
    gradient("selu", dtype, [](auto& x) { return torch::selu(x); });
    gradient("hardswish", dtype, [](auto& x) { return torch::hardswish(x); });
    gradient("relu", dtype, [](auto& x) { return torch::relu(x); });
    gradient("leaky_relu", dtype, [](auto& x) { return torch::leaky_relu(x); });
    gradient("clamp", dtype, [](auto& x) { return torch::clamp(x, torch::full_like(x, -1), torch::full_like(x, 1)); });
    gradient("l1_loss", dtype, [](auto& x) { return torch::l1_loss(x, torch::zeros_like(x), at::Reduction::Sum); });
  }
}
