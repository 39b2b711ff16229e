// torch::special and other rarer functions, lists of tensors, new tensors and tensors that are written into.
#include "calls.h"

using random_calls::Inputs;
using random_calls::Shape;
using random_calls::Tensors;
using torch::Tensor;

#define SPECIAL(name) ONE(torch::special_##name(x))

SPECIAL(airy_ai)
SPECIAL(bessel_j0)
SPECIAL(bessel_j1)
SPECIAL(bessel_y0)
SPECIAL(bessel_y1)
SPECIAL(entr)
SPECIAL(erfcx)
SPECIAL(exp2)
SPECIAL(i0e)
SPECIAL(i1)
SPECIAL(i1e)
SPECIAL(log_ndtr)
SPECIAL(ndtr)
SPECIAL(ndtri)
SPECIAL(psi)
SPECIAL(gammaln)
SPECIAL(modified_bessel_i0)
SPECIAL(modified_bessel_i1)
SPECIAL(modified_bessel_k0)
SPECIAL(modified_bessel_k1)
SPECIAL(scaled_modified_bessel_k0)
SPECIAL(scaled_modified_bessel_k1)
SPECIAL(spherical_bessel_j0)
ONE(torch::special_chebyshev_polynomial_t(x, p.count))
ONE(torch::special_hermite_polynomial_h(x, p.count))
ONE(torch::special_laguerre_polynomial_l(x, p.count))
ONE(torch::special_legendre_polynomial_p(x, p.count))
ONE(torch::special_logsumexp(x, {p.dim}, p.keepdim))
ONE(torch::special_multigammaln(x, p.count))
ONE(torch::frexp(x))
ONE(torch::logspace(0, p.any, p.count * 3))
ONE(torch::nan_to_num(x / x, p.any, 2, -2))
ONE(torch::log_softmax(x, p.dim, torch::kFloat))
ONE(torch::rrelu(x, 0.1, 0.3, false))
ONE(torch::dropout(x, 0.5, false))
ONE(torch::gelu(x, "tanh"))
ONE(torch::softplus(x, 2, 1))
ONE(torch::elu(x, 1.5, 0.7, 1.2))
ONE(torch::relu6(x))
ONE(torch::hardsigmoid(x))
ONE(torch::hardshrink(x, 1))
ONE(torch::logit(x, 0.1))
ONE(torch::clamp(x, p.any, p.count))
ONE(torch::pow(p.any, x))
ONE(torch::bitwise_left_shift(x, p.count))
ONE(torch::bitwise_right_shift(x, p.count))
ONE(torch::std_mean(x, {p.dim}, p.flag, p.keepdim))
ONE(torch::nansum(x, {p.dim}, p.keepdim))
ONE(torch::nanmedian(x, p.dim, p.keepdim))
ONE(torch::count_nonzero(x, std::optional<int64_t>(p.dim)))
ONE(torch::cummin(x, p.dim))
ONE(torch::linalg_vector_norm(x, p.any, {p.dim}, p.keepdim))
ONE(torch::unflatten(x, p.dim, {1, -1}))
ONE(torch::adjoint(x))
ONE(torch::unsafe_chunk(x, p.count, p.dim))
ONE(torch::split(x, {p.count, p.any}, p.dim))
ONE(torch::hsplit(x, p.count))
ONE(torch::swapdims(x, p.dim, p.other_dim))
ONE(torch::select_copy(x, p.dim, 0))
ONE(x.new_full({p.count}, p.any))
ONE(x.reshape_as(x.flatten()))
ONE(x.sum_to_size({1}))
ONE(x.cov(p.count))
ONE(x.argsort(p.dim, p.keepdim))
ONE(x.to(torch::kCPU, torch::kDouble, false, p.flag))
ONE(x.contiguous(x.dim() == 4 ? torch::MemoryFormat::ChannelsLast : torch::MemoryFormat::Contiguous))
ONE(torch::empty_like(x).fill_(1))
ONE(torch::full_like(x, p.any))
ONE(x.clone().clamp_(p.any, p.count))
ONE(x.clone().cumsum_(p.dim))
ONE(x.clone().cumprod_(p.dim))
ONE(x.clone().tril_(p.any))
ONE(x.clone().transpose_(p.dim, p.other_dim))
ONE(x.clone().unsqueeze_(p.dim))
ONE(x.clone().nan_to_num_())
ONE(x.clone().fill_diagonal_(p.any))
ONE(x.clone().masked_fill_(x.to(torch::kBool), p.any))
ONE(x.clone().resize_({p.count, 2}).zero_())
ONE(x.clone().index_fill_(p.dim, torch::tensor({0}), p.any))
ONE(torch::arange(p.any, p.count, 0.5))
ONE(torch::arange(p.any, p.any + 5, p.count))
ONE(torch::linspace(p.any, p.count, p.count * 3))
ONE(torch::tril_indices(p.count, p.count + 1, p.any))
ONE(torch::eye(p.count, p.count + 1))
ONE(torch::full({p.count, 2}, p.any))
ONE(torch::hann_window(p.count * 2, p.flag))
ONE(torch::hamming_window(p.count * 2, p.flag))
ONE(torch::blackman_window(p.count * 2, p.flag))
ONE(torch::bartlett_window(p.count * 2, p.flag))
ONE(torch::kaiser_window(p.count * 2, p.flag))
TWO(torch::bitwise_right_shift(x, y))
TWO(torch::igammac(x, y))
TWO(torch::special_xlogy(x, y))
TWO(torch::clamp_min(x, y))
TWO(torch::clamp_max(x, y))
TWO(torch::lerp(x, y, y))
TWO(torch::xlogy(x, 2))
TWO(torch::pow(x.abs(), y))
TWO(torch::dstack({x, y}))
TWO(torch::vstack({x, y}))
TWO(torch::column_stack({x, y}))
TWO(torch::linalg_vecdot(x, y))
TWO(torch::addmv(y, x, y))
TWO(torch::where(x > 0, x, y))
TWO(torch::result_type(x, y) == torch::kFloat)
TWO(x.clone().masked_scatter_(x.to(torch::kBool), y))
TWO(x.clone().lerp_(y, 0.5))
TWO(x.clone().addcmul_(y, y, 2))
TWO(x.clone().addcdiv_(y, y, 2))
TWO(x.clone().bitwise_or_(y))
TWO(x.clone().sub_(y, 2))
TWO(x.clone().div_(y, "trunc"))
TWO(x.clone().hypot_(y))
TWO(x.clone().copysign_(y))
TWO(x.clone().clamp_min_(y))
TWO(x.clone().swapaxes_(0, 1).add_(y))

namespace {

/// A destination of some dtype, of the wrong shape now and then, in some order of memory.
Tensor destination(Inputs& in, const Tensor& like) {
  static const std::vector<torch::ScalarType> kinds = {torch::kFloat, torch::kDouble, torch::kLong, torch::kHalf,
                                                       torch::kBool};
  const auto dtype = in.one_of(3) ? in.of(kinds) : like.scalar_type();
  Shape shape = like.sizes().vec();
  const int64_t kind = in.between(0, 5);
  if (kind == 0) shape = {0};
  if (kind == 1) shape.push_back(1);
  Tensor out = torch::zeros(shape, dtype);
  if (kind == 2 && out.dim() >= 2) out = out.transpose(0, 1).contiguous().transpose(0, 1);
  if (kind == 3 && out.dim() >= 1)
    out = torch::zeros({like.size(0) * 2}, dtype).slice(0, 0, std::nullopt, 2).view(-1).slice(0);
  return out;
}

/// What f(out, x, y) writes for two operands of one shape, or one that is broadcast.
template <class F>
Tensor into(Inputs& in, F f) {
  torch::NoGradGuard no_grad;
  const Shape shape = in.numbers(in.between(0, 3), 1, 4);
  const Tensor x = in.tensor(shape), y = in.one_of(3) ? in.tensor({}) : in.tensor(shape);
  Tensor out = in.one_of(6) ? x.clone() : destination(in, x);
  f(out, x, y);
  return out;
}

std::vector<Tensor> list(Inputs& in) {
  std::vector<Tensor> all;
  const int64_t n = in.between(1, 3);
  for (int64_t i = 0; i < n; ++i) all.push_back(in.tensor(in.numbers(in.between(0, 2), 1, 3)));
  return all;
}
std::vector<Tensor> like(Inputs& in, const std::vector<Tensor>& other) {
  std::vector<Tensor> all;
  for (const Tensor& t : other) all.push_back(in.tensor(t.sizes().vec()));
  return all;
}
template <class F>
Tensors of_lists(Inputs& in, F f) {
  const auto a = list(in), b = like(in, a), c = like(in, a);
  return f(a, b, c);
}
template <class F>
Tensors in_place(Inputs& in, F f) {
  torch::NoGradGuard no_grad;
  auto a = list(in);
  for (Tensor& t : a) t = t.clone();
  const auto b = like(in, a);
  f(a, b);
  return a;
}

}  // namespace

#define INTO(name) DRAWN(into(in, [](Tensor& out, auto& x, auto& y) { torch::name(out, x, y); }))
#define INTO_ONE(name) DRAWN(into(in, [](Tensor& out, auto& x, auto&) { torch::name(out, x); }))
INTO(add_out)
INTO(sub_out)
INTO(mul_out)
INTO(div_out)
INTO(pow_out)
INTO(maximum_out)
INTO(atan2_out)
INTO(eq_out)
INTO(lt_out)
INTO(logical_and_out)
INTO(fmod_out)
INTO(floor_divide_out)
INTO(matmul_out)
INTO_ONE(exp_out)
INTO_ONE(sqrt_out)
INTO_ONE(abs_out)
INTO_ONE(tanh_out)
INTO_ONE(sum_out)
INTO_ONE(sigmoid_out)
INTO_ONE(isposinf_out)
INTO_ONE(sign_out)
DRAWN(into(in, [](Tensor& out, auto& x, auto& y) { torch::cat_out(out, {x.reshape({-1}), y.reshape({-1})}); }))
DRAWN(into(in, [](Tensor& out, auto& x, auto& y) { torch::stack_out(out, {x, y.expand_as(x)}); }))
DRAWN(into(in, [](Tensor& out, auto& x, auto&) { torch::cumsum_out(out, x, 0); }))
DRAWN(into(in, [](Tensor& out, auto& x, auto&) { torch::sum_out(out, x, at::OptionalIntArrayRef(0)); }))
DRAWN(into(in, [](Tensor& out, auto& x, auto&) { torch::mean_out(out, x, at::OptionalIntArrayRef(-1), true); }))
DRAWN(into(in, [](Tensor& out, auto& x, auto&) { torch::softmax_out(out, x, -1); }))
DRAWN(into(in, [](Tensor& out, auto& x, auto&) { torch::clamp_out(out, x, -1, 1); }))
DRAWN(into(in, [](Tensor& out, auto& x, auto&) { torch::argmax_out(out, x, 0); }))
DRAWN(into(in, [](Tensor& out, auto& x, auto& y) { torch::where_out(out, x > 0, x, y); }))
DRAWN(into(in, [](Tensor& out, auto& x, auto&) { torch::index_select_out(out, x, 0, torch::tensor({0, 0})); }))
DRAWN(into(in, [](Tensor& out, auto& x, auto& y) { torch::lerp_out(out, x, y, 0.5); }))
DRAWN(of_lists(in, [](auto& a, auto& b, auto&) { return torch::_foreach_add(a, b, 2); }))
DRAWN(of_lists(in, [](auto& a, auto& b, auto&) { return torch::_foreach_mul(a, b); }))
DRAWN(of_lists(in, [](auto& a, auto&, auto&) { return torch::_foreach_div(a, 2.5); }))
DRAWN(of_lists(in, [](auto& a, auto& b, auto& c) { return torch::_foreach_addcmul(a, b, c, 0.5); }))
DRAWN(of_lists(in, [](auto& a, auto& b, auto& c) { return torch::_foreach_addcdiv(a, b, c, 0.5); }))
DRAWN(of_lists(in, [](auto& a, auto& b, auto&) { return torch::_foreach_lerp(a, b, 0.25); }))
DRAWN(of_lists(in, [](auto& a, auto&, auto&) { return torch::_foreach_norm(a, 2); }))
DRAWN(of_lists(in, [](auto& a, auto&, auto&) { return torch::_foreach_exp(a); }))
DRAWN(of_lists(in, [](auto& a, auto& b, auto&) { return torch::_foreach_maximum(a, b); }))
DRAWN(in_place(in, [](auto& a, auto& b) { torch::_foreach_add_(a, b, 0.5); }))
DRAWN(in_place(in, [](auto& a, auto& b) { torch::_foreach_copy_(a, b); }))
DRAWN(in_place(in, [](auto& a, auto&) { torch::_foreach_mul_(a, 3); }))
DRAWN(in_place(in, [](auto& a, auto&) { torch::_foreach_zero_(a); }))
