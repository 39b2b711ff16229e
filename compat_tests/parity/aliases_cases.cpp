// Second names of functions, and functions that are written with others.
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>

#include "parity/case.h"

using torch::Tensor;

#define UNARY_ALIAS(name, low, high)                                       \
  PARITY_CASE(aliases, name) {                                             \
    c.unary([](const Tensor& x) { return torch::name(x); }, low, high);    \
    c.out("method", c.rand({3, 5}, torch::kFloat, low, high).name());      \
    c.out("in_place", c.rand({3, 5}, torch::kFloat, low, high).name##_()); \
  }
UNARY_ALIAS(absolute, -2, 2)
UNARY_ALIAS(negative, -2, 2)
UNARY_ALIAS(fix, -3, 3)
UNARY_ALIAS(arcsin, -0.9, 0.9)
UNARY_ALIAS(arccos, -0.9, 0.9)
UNARY_ALIAS(arctan, -2, 2)
UNARY_ALIAS(arcsinh, -2, 2)
UNARY_ALIAS(arccosh, 1.2, 4)
UNARY_ALIAS(arctanh, -0.9, 0.9)
UNARY_ALIAS(sgn, 0.1, 2)

PARITY_CASE(aliases, sinc) {
  // Near 0 the gradient is a small difference of large terms, which LibTorch rounds to half one by one.
  c.tolerance(torch::kFloat, 1e-4, 1e-5);
  c.tolerance(torch::kHalf, 4e-3, 4e-3);
  c.tolerance(torch::kBFloat16, 1.6e-2, 1.6e-2);
  c.unary([](const Tensor& x) { return torch::sinc(x); }, 0.3, 2);
  c.out("in_place", c.rand({3, 5}, torch::kFloat, -2, 2).sinc_());
  auto zero = c.values({0, 0.5}, torch::kDouble).requires_grad_();
  c.gradients("zero", {zero}, [&] { return torch::sinc(zero); });
}
PARITY_CASE(aliases, deg2rad) {
  c.unary([](const Tensor& x) { return torch::deg2rad(x); }, -200, 200);
  c.unary([](const Tensor& x) { return torch::rad2deg(x); }, -3, 3);
  c.out("integer", torch::deg2rad(c.randint(0, 180, {6})));
  c.out("in_place", c.rand({4}, torch::kFloat, -90, 90).deg2rad_().rad2deg_());
}
PARITY_CASE(aliases, logit) {
  c.unary([](const Tensor& x) { return torch::logit(x); }, 0.1, 0.9);
  c.unary([](const Tensor& x) { return torch::logit(x, 0.2); }, 0.25, 0.75);
  c.out("clamped", torch::logit(c.values({0, 0.1, 0.5, 1}), 1e-3));
  c.out("in_place", c.rand({4}, torch::kFloat, 0.1, 0.9).logit_());
}

#define COMPARISON_ALIAS(name)                                                                            \
  PARITY_CASE(aliases, name) {                                                                            \
    c.for_dtypes({torch::kFloat, torch::kHalf, torch::kLong}, [&](torch::Dtype dtype) {                   \
      const auto a = c.randint(0, 4, {4, 5}, torch::kLong).to(dtype), b = c.randint(0, 4, {5}).to(dtype); \
      c.out("tensor", torch::name(a, b));                                                                 \
      c.out("number", torch::name(a, 2));                                                                 \
      c.out("method", a.name(b));                                                                         \
      c.out("in_place", a.clone().name##_(b));                                                            \
      c.out("in_place_number", a.clone().name##_(2));                                                     \
    });                                                                                                   \
  }
COMPARISON_ALIAS(greater)
COMPARISON_ALIAS(greater_equal)
COMPARISON_ALIAS(less)
COMPARISON_ALIAS(less_equal)
COMPARISON_ALIAS(not_equal)

PARITY_CASE(aliases, arithmetic) {
  auto a = c.leaf_in(0.5, 2, {4, 5}), b = c.leaf_in(0.5, 2, {5});
  c.gradients("arctan2", {a, b}, [&] { return torch::arctan2(a, b) + a.arctan2(b); });
  c.gradients("true_divide", {a, b}, [&] { return torch::true_divide(a, b) + a.true_divide(2); });
  c.gradients("subtract", {a, b}, [&] { return torch::subtract(a, b, 2) + a.subtract(b); });
  c.out("integers", torch::true_divide(c.randint(1, 9, {6}), c.randint(1, 9, {6})));
  c.out("in_place", c.rand({4}).true_divide_(c.rand({4}) + 1).true_divide_(3).subtract_(c.rand({4})).multiply_(2));
  c.out("arctan2_in_place", c.rand({4}).arctan2_(c.rand({4})));
}

PARITY_CASE(aliases, copysign) {
  auto a = c.leaf({4, 5}), b = c.leaf({5});
  c.gradients("tensor", {a}, [&] { return torch::copysign(a, b.detach()); });
  c.gradients("number", {a}, [&] { return torch::copysign(a, -1.5); });
  c.out("integer", torch::copysign(c.randint(1, 5, {5}), b.detach()));
  c.out("in_place", c.randn({5}).copysign_(c.randn({5})).copysign_(-0.0));
}
PARITY_CASE(aliases, heaviside) {
  c.out("values", torch::heaviside(c.values({-1, 0, 2, 0}), c.values({5, 6, 7, 8})));
  c.out("in_place", c.values({-1, 0, 2}, torch::kLong).heaviside_(c.values({5, 6, 7}, torch::kLong)));
  for (auto dtype : {torch::kFloat, torch::kDouble, torch::kBFloat16, torch::kLong, torch::kByte, torch::kBool})
    c.scope(parity::dtype_name(dtype), [&] {
      const auto x = c.randint(0, 3, {3, 5}).sub(1).to(dtype), values = c.randint(4, 9, {5}).to(dtype);
      c.out("row", torch::heaviside(x, values));
      c.out("number", torch::heaviside(x, values[1]));
      c.out("of_number", torch::heaviside(x[0][0], values));
    });
  c.out("nan", torch::heaviside(c.values({NAN, 0, -0.0, INFINITY}), c.values({1, NAN, 2, 3})));
  c.throws("dtype", [&] { torch::heaviside(c.randn({3}), c.randint(0, 3, {3})); });
}
PARITY_CASE(aliases, powers) {
  c.out("float_power", torch::float_power(c.randint(1, 5, {4, 5}), c.randn({5})));
  c.out("float_power_number", torch::float_power(c.rand({4}), 2));
  auto a = c.leaf({4, 5}), b = c.leaf({5});
  c.gradients("logaddexp2", {a, b}, [&] { return torch::logaddexp2(a, b); });
  c.gradients("ldexp", {a, b}, [&] { return torch::ldexp(a, b); });
  c.out("ldexp_integers", torch::ldexp(a.detach(), c.values({-2, -1, 0, 1, 3}, torch::kLong)));
  c.out("ldexp_half", torch::ldexp(a.detach().to(torch::kHalf), c.values({-2, -1, 0, 1, 3}, torch::kLong)));
  c.out("ldexp_large", torch::ldexp(c.values({3e-30, -1e-38, 0.5}), c.values({140, 130, -140}, torch::kLong)));
  c.out("ldexp_in_place", c.randn({3}).ldexp_(c.values({1, 2, 3}, torch::kLong)));
  c.gradients("dist", {a, b}, [&] { return torch::dist(a, b) + torch::dist(a, b, 1); });
}
PARITY_CASE(aliases, special) {
  c.unary([](const Tensor& x) { return torch::special::expit(x); }, -2, 2);
  c.unary([](const Tensor& x) { return torch::special::ndtr(x); }, -2, 2);
  auto a = c.leaf_in(0.5, 2, {4, 5}), b = c.leaf_in(0.5, 2, {5});
  c.gradients("xlog1py", {a, b}, [&] { return torch::special::xlog1py(a, b) + torch::special::xlog1py(a, 2.0); });
  c.gradients("gammaln", {a}, [&] { return torch::special::gammaln(a) + torch::special::psi(a); });
}
PARITY_CASE(aliases, windows) {
  for (const auto& [label, options] :
       {std::pair<const char*, torch::TensorOptions>{"float", torch::kFloat}, {"double", torch::kDouble}})
    c.scope(label, [&, options = options] {
      for (int64_t n : {0, 1, 2, 7, 8}) {
        const auto name = std::to_string(n);
        c.out("hann" + name, torch::hann_window(n, options));
        c.out("hann_symmetric" + name, torch::hann_window(n, false, options));
        c.out("hamming" + name, torch::hamming_window(n, options));
        c.out("hamming_given" + name, torch::hamming_window(n, false, 0.6, 0.4, options));
        c.out("blackman" + name, torch::blackman_window(n, false, options));
        c.out("bartlett" + name, torch::bartlett_window(n, options));
      }
    });
  c.throws("negative", [] { torch::hann_window(-1); });
}
PARITY_CASE(aliases, undefined) {
  const Tensor none;
  c.value("dim", none.dim());
  c.value("numel", none.numel());
  c.value("size", none.size(0));
  c.text("sizes", c10::str(none.sizes()));
  c.value("contiguous", none.is_contiguous());
  c.value("requires_grad", none.requires_grad());
  c.value("cuda", none.is_cuda());
  c.value("floating", none.is_floating_point());
  c.throws("strides", [&] { none.strides(); });
  c.throws("options", [&] { none.options(); });
  c.throws("add", [&] { none + 1; });
  c.throws("add_to", [&] { torch::ones({2}) + none; });
  c.throws("cat", [&] { torch::cat({none, torch::ones({2})}); });
  c.throws("reshape", [&] { none.reshape({0}); });
  c.throws("sum", [&] { none.sum(); });
}
PARITY_CASE(aliases, warnings) {
  struct Keep : c10::WarningHandler {
    void process(const c10::Warning& warning) override { text += warning.msg() + ";"; }
    std::string text;
  } keep;
  {
    c10::WarningUtils::WarningHandlerGuard guard(&keep);
    for (int i = 0; i < 2; ++i) TORCH_WARN_ONCE("once ", 1);
    TORCH_WARN("twice ", 2.5);
    c10::WarningUtils::WarnAlways always;
    for (int i = 0; i < 2; ++i) TORCH_WARN_ONCE("always");
  }
  c.text("caught", keep.text);
  c.text("join", c10::Join(", ", std::vector<int>{1, 2, 3}));
}
PARITY_CASE(aliases, packed_accessors) {
  const auto x = c.randn({3, 4});
  const auto a = x.packed_accessor32<float, 2>();
  const torch::PackedTensorAccessor64<float, 2> b = x.packed_accessor64<float, 2>();
  float sum = 0;
  for (int i = 0; i < a.size(0); ++i)
    for (int j = 0; j < a.size(1); ++j) sum += a[i][j] * b[i][j];
  c.value("sum", sum);
  c.value("stride", static_cast<int64_t>(a.stride(0)));
  c.throws("rank", [&] { x.packed_accessor32<float, 3>(); });
  c.throws("dtype", [&] { x.packed_accessor64<double, 2>(); });
}
PARITY_CASE(aliases, dispatch) {
  const auto name_of = [&](const Tensor& x) {
    return AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(at::kHalf, at::kBFloat16, at::kBool, x.scalar_type(), "name", [&] {
      return std::string(c10::toString(c10::CppTypeToScalarType<scalar_t>::value)) +
             std::to_string(sizeof(at::opmath_type<scalar_t>));
    });
  };
  for (auto t :
       {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kBool, torch::kLong, torch::kByte})
    c.text(c10::toString(t), name_of(torch::zeros({1}, t)));
  bool not_implemented = false;
  try {
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(torch::kLong, "floating", [&] { return static_cast<int>(sizeof(scalar_t)); });
  } catch (const c10::NotImplementedError&) {
    not_implemented = true;
  }
  c.value("floating", not_implemented);
}
