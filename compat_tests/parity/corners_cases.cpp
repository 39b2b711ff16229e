// Values and shapes where a function's general rule does not apply.
#include "parity/case.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using torch::Tensor;
using List = std::vector<int64_t>;

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The gradient, and what depends on it.
void twice(parity::Case& c, const char* name, const std::vector<Tensor>& in, const Tensor& y) {
  auto g = torch::autograd::grad({(y * y).sum()}, in, {}, true, true);
  Tensor sum;
  for (size_t i = 0; i < g.size(); ++i) {
    const Tensor part = torch::is_complex(g[i]) ? torch::view_as_real(g[i]) : g[i];
    c.out(std::string(name) + " g" + std::to_string(i), part);
    const Tensor square = (part * part * part).sum();
    sum = sum.defined() ? sum + square : square;
  }
  auto gg = torch::autograd::grad({sum}, in);
  for (size_t i = 0; i < gg.size(); ++i)
    c.out(std::string(name) + " gg" + std::to_string(i), torch::is_complex(gg[i]) ? torch::view_as_real(gg[i]) : gg[i]);
}
}  // namespace

PARITY_CASE(corners, gradients_where_a_formula_ends) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype t) {
    const auto leaf = [&](std::vector<double> v) { return torch::tensor(v, t).requires_grad_(); };
    auto zero = leaf({0., -0., 0., 1.}), other = leaf({0., 0., 2., 0.});
    c.backward("atan2", torch::atan2(zero, other), {zero, other});
    auto a = leaf({kInf, -kInf, 1., 2., 800.}), b = leaf({1., 2., kInf, -kInf, -800.});
    c.backward("logaddexp", torch::logaddexp(a, b), {a, b});
    c.backward("logaddexp2", torch::logaddexp2(a, b), {a, b});
    auto x = leaf({1., -3., 5., -5., 7.}), y = leaf({-kInf, kInf, 3., 3., -2.});
    c.backward("remainder", torch::remainder(x, y), {x, y});
    auto p = leaf({kNaN, 1., kNaN, 2., 3.}), q = leaf({kNaN, kNaN, 1., 2., 1.});
    c.backward("fmax", torch::fmax(p, q), {p, q});
    c.backward("fmin", torch::fmin(p, q), {p, q});
    auto s = leaf({0., 0., 0., 2., 3.}), u = leaf({1., 0., -1., 0.5, -0.5});
    c.backward("xlog1py", torch::special_xlog1py(s, u), {s, u});
    auto tiny = leaf({0., 1e-30, 1e-18, -1e-12, 1e-3, 0.5, 1.});
    c.backward("sinc", torch::sinc(tiny), {tiny});
  });
  auto matrices = torch::tensor({2., 0., 0., 3., 2., 0., 0., -3.}, torch::kDouble).reshape({2, 2, 2}).requires_grad_();
  c.backward("logdet", torch::logdet(matrices), {matrices});
}

PARITY_CASE(corners, losses) {
  for (const bool again : {false, true})
    for (const double smoothing : {0., 0.2}) {
      auto x = c.leaf({3, 4}, torch::kDouble);
      const Tensor none = torch::full({3}, 2, torch::kLong), weight = c.rand({4}, torch::kDouble, 0.1, 1.);
      for (const Tensor& w : {Tensor(), weight}) {
        c.scope((again ? "again " : "once ") + std::to_string(smoothing) + (w.defined() ? " weighed" : ""), [&] {
          auto loss = torch::cross_entropy_loss(x, none, w, at::Reduction::Mean, 2, smoothing);
          c.out("y", loss.detach());
          c.out("g", torch::autograd::grad({loss}, {x}, {}, true, again)[0].detach());
          auto nll = torch::nll_loss(x, none, w, at::Reduction::Mean, 2);
          c.out("nll", torch::autograd::grad({nll}, {x}, {}, true, again)[0].detach());
        });
      }
    }
  const Tensor i = c.randint(-5, 5, {6}, torch::kLong), j = c.randint(-5, 5, {6}, torch::kLong);
  c.out("l1 of integers", torch::l1_loss(i, j, at::Reduction::None));
  c.out("their sum", torch::l1_loss(i, j, at::Reduction::Sum));
  c.throws("their mean", [&] { torch::l1_loss(i, j); });
  c.throws("smooth l1 of integers", [&] { torch::smooth_l1_loss(i, j, at::Reduction::Mean, 0); });
  c.out("ranking", torch::margin_ranking_loss(c.randn({2, 3}), c.randn({3}), torch::ones({2, 3})));
  c.throws("cosine", [&] { torch::cosine_embedding_loss(c.randn({3}), c.randn({2, 3}), torch::ones({})); });
  c.throws("no classes", [&] { torch::multilabel_margin_loss(c.randn({0}), torch::zeros({0}, torch::kLong)); });
  c.throws("no classes of rows", [&] { torch::multi_margin_loss(c.randn({2, 0}), torch::zeros({2}, torch::kLong)); });
}

PARITY_CASE(corners, products_with_zeros) {
  const Tensor at = torch::tensor(List{0, 0, 1, 1, 1, 3, 4});
  for (const bool with_self : {true, false}) {
    auto self = torch::tensor({2., 0., 3., 0.5, 1.5}, torch::kDouble).requires_grad_();
    auto src = torch::tensor({0., 3., 2., 4., 5., 0., -2.}, torch::kDouble).requires_grad_();
    c.scope(with_self ? "with" : "without", [&] {
      twice(c, "scatter", {self, src}, self.scatter_reduce(0, at, src, "prod", with_self));
      twice(c, "index", {self, src}, self.index_reduce(0, at, src, "prod", with_self));
      auto zeros = torch::tensor({0., 0., 2., 0., 0., 0., 7.}, torch::kDouble).requires_grad_();
      c.backward("several", self.scatter_reduce(0, at, zeros, "prod", with_self), {self, zeros});
      auto y = self.scatter_reduce(0, at, zeros, "prod", with_self);
      auto g = torch::autograd::grad({(y * y).sum()}, {zeros}, {}, true, true)[0];
      c.throws("several twice", [&] { torch::autograd::grad({g.sum()}, {zeros}); });
    });
  }
}

PARITY_CASE(corners, dimensions) {
  const auto x = c.bools({2, 3});
  for (const bool keep : {false, true}) {
    c.out("all of none", torch::all(x, List{}, keep));
    c.out("any of none", torch::any(c.randint(0, 2, {2, 3}, torch::kByte), List{}, keep));
  }
  const Tensor one = c.randn({});
  c.throws("sum twice", [&] { one.sum(List{0, -1}); });
  c.throws("amax twice", [&] { one.amax(List{0, 0}); });
  c.throws("all twice", [&] { (one > 0).all(List{-1, 0}); });
  c.out("sum once", one.sum(List{-1}));
  const auto [values, places] = torch::topk(one, 0);
  c.out("topk", values), c.out("topk places", places);
  c.throws("renorm", [&] { torch::renorm(c.randn({2, 3}), 2, -3, 1); });
  c.throws("unique", [&] { torch::unique_dim(torch::zeros({3, 0}), 0); });
  c.throws("unique_consecutive", [&] { torch::unique_consecutive(torch::zeros({0, 0}), false, false, 0); });
  c.throws("max_pool2d", [&] { torch::max_pool2d(c.randn({1, 6, 6}), {2, 2}, {1, 1}, {2, 2}, {3, 3}); });
  c.throws("vecdot", [&] { torch::linalg_vecdot(torch::ones({2}, torch::kLong), torch::ones({2}, torch::kLong)); });
  c.out("median", torch::median(torch::empty({0}, torch::kInt)));
  for (const auto t : {torch::kInt, torch::kLong, torch::kByte}) c.out("logspace", torch::logspace(0, 1.5, 4, 10., t));
  const Tensor bytes = torch::tensor(List{200, 100, 7}).to(torch::kByte);
  c.out("divided", torch::div(torch::tensor(-10, torch::kLong), bytes, "trunc"));
  c.out("by a number", torch::div(bytes, torch::tensor(-10, torch::kLong), "trunc"));
}

PARITY_CASE(corners, integers_from_numbers_with_a_gradient) {
  const Tensor x = c.leaf_in(0, 9, {3}), y = c.leaf_in(0, 9, {});
  for (const auto t : {torch::kLong, torch::kByte, torch::kBool}) {
    auto whole = torch::zeros({2, 3}, t);
    whole.copy_(x);
    whole.select(0, 1).copy_(y);
    whole.index_put_({0, 0}, y.detach());
    c.out("copied", whole);
    c.value("requires grad", whole.requires_grad());
  }
}

PARITY_CASE(corners, nothing_divided_by_zero) {
  for (const auto t : {torch::kLong, torch::kByte}) {
    const auto none = torch::zeros({0, 3}, t), zero = torch::zeros({}, t);
    c.out("fmod", none.fmod(0));
    c.out("remainder", none.remainder(zero));
    c.out("floor_divide", none.floor_divide(zero));
    c.out("trunc", torch::div(none, zero, "trunc"));
    c.out("remainder_", none.clone().remainder_(0));
    c.out("cumulative_trapezoid", torch::cumulative_trapezoid(none, 0.5, 0));
  }
}

PARITY_CASE(corners, what_does_not_count) {
  const auto m = c.randn({2, 3}), v = c.randn({3}), stack = c.randn({4, 2, 3});
  auto nan = torch::full({2}, kNaN).requires_grad_(), square = torch::full({2, 3}, kNaN).requires_grad_();
  c.backward("addmv", torch::addmv(nan, m, v, 0), {nan});
  c.backward("addr", torch::addr(square, c.randn({2}), v, 0), {square});
  c.backward("addbmm", torch::addbmm(square, stack, c.randn({4, 3, 3}), 0), {square});
  c.out("bincount of nothing", torch::bincount(torch::zeros({0}, torch::kLong), torch::zeros({0}), 3));
  for (const auto t : {torch::kBool, torch::kLong}) {
    auto sum = torch::zeros({}, t);
    c.out("sum", torch::sum_out(sum, torch::tensor({0.3, 0.2}), at::OptionalIntArrayRef(0)));
  }
  auto x = c.leaf({1, 2, 5}), nothing = c.leaf({0});
  for (const List& sides : {List{-1, 2}, List{3, -4}, List{-1, -2}, List{4, -2}})
    c.backward("reflected", torch::pad(x, sides, "reflect"), {x});
  c.throws("reflected too far", [&] { torch::pad(x, List{-3, 5}, "reflect"); });
  c.backward("cov", torch::cov(nothing), {nothing});
  const auto halves = c.rand({64}, torch::kHalf, -50, 50), others = c.rand({64}, torch::kHalf, 0.5, 2);
  c.out("truncated", torch::div(halves, others, "trunc"));
  c.out("truncated by a number", torch::div(halves, 0.7, "trunc"));
  const auto bytes = c.randint(0, 256, {6}, torch::kByte), below = torch::tensor(int64_t{-3});
  c.out("bytes below a negative number", torch::clamp_max(bytes, below));
  c.out("between two", torch::clamp(bytes, below - 20, below));
  auto on_the_edge = torch::tensor({-1., 0.25, 1., 3.}, torch::kDouble).requires_grad_();
  const auto zero = torch::zeros({4}, torch::kDouble);
  twice(c, "huber", {on_the_edge}, torch::huber_loss(on_the_edge, zero, at::Reduction::None, 1));
  twice(c, "smooth_l1", {on_the_edge}, torch::smooth_l1_loss(on_the_edge, zero, at::Reduction::None, 1));
}

PARITY_CASE(corners, refused) {
  const auto empty = torch::zeros({0, 0, 2}), x = c.leaf({4}), three = c.randn({3});
  c.throws("max of no elements", [&] { empty.max(1); });
  c.throws("argmin of no elements", [&] { empty.argmin(1); });
  c.throws("amax of no elements", [&] { empty.amax(1); });
  c.throws("meshgrid of two dtypes", [&] { torch::meshgrid({three, three.to(torch::kDouble)}, "ij"); });
  c.throws("cross of two dimensions and one", [&] { torch::cross(torch::zeros({2, 3}), three, 1); });
  const auto z = torch::complex(three, three);
  c.throws("isin", [&] { torch::isin(z, z); });
  c.throws("nansum", [&] { torch::nansum(z); });
  // What has no derivative says so, where one is asked for.
  const auto refused = [&](const std::string& name, const Tensor& y) {
    c.value(name, y.requires_grad());
    c.throws(name, [&] { y.sum().backward(); });
  };
  refused("heaviside", torch::heaviside(x, torch::ones({})));
  refused("nextafter", torch::nextafter(x, torch::ones({})));
  refused("unique", std::get<0>(torch::_unique2(x)));
  refused("unique_dim", std::get<0>(torch::unique_dim(x, 0)));
  refused("unique_consecutive", std::get<0>(torch::unique_consecutive(x)));
}

PARITY_CASE(corners, complex) {
  const auto z =
      torch::complex(torch::tensor({0., 3., -1.}, torch::kDouble), torch::tensor({0., 4., 0.}, torch::kDouble));
  auto sign = z.clone();
  c.out("sgn_", torch::view_as_real(sign.sgn_()));
  auto power = z.clone().requires_grad_();
  c.out("log2", torch::view_as_real(torch::log2(z)));
  c.out("to the power 0", torch::view_as_real(torch::pow(power, 0).detach()));
  c.out("its gradient",
        torch::view_as_real(torch::autograd::grad({torch::abs(torch::pow(power, 0)).sum()}, {power})[0]));
  c.out("ldexp", torch::view_as_real(torch::ldexp(c.randn({3}, torch::kDouble), z)));
  c.out("running sum in integers", torch::cumsum(z, 0, torch::kInt));
  c.out("isclose", torch::isclose(z, z + 1e-9));
  c.out("isclose of other imaginary parts", torch::isclose(z, z.conj()));
  c.value("allclose of other imaginary parts", torch::allclose(z, z.conj()));
  const auto odd = torch::complex(c.special(), c.special().flip({0}));
  c.out("isclose of infinities", torch::isclose(odd, odd, 1e-5, 1e-8, false));
  c.out("isclose of NaN", torch::isclose(odd, odd, 1e-5, 1e-8, true));
  const auto large = torch::tensor(List{1, 0}) + (int64_t{1} << 60);
  c.out("isclose of integers", torch::isclose(large, large.flip({0}), 0, 0));
  c.out("mean of the real parts", z.mean(List{0}, false, torch::kDouble));
  for (const double p : {1., 2., 3., 0.5}) {
    auto x = z.clone().requires_grad_();
    const auto y = torch::linalg_vector_norm(x, p);
    const auto g = torch::autograd::grad({y}, {x}, {}, true, true)[0];
    c.out("norm", torch::view_as_real(g.detach()));
    if (p == 2)
      c.out("twice", torch::view_as_real(torch::autograd::grad({torch::view_as_real(g).select(1, 0).sum()}, {x})[0]));
  }
}
