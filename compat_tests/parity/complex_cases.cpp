// Complex tensors: parts, arithmetic, functions, products, indexing, gradients.
#include <c10/util/complex.h>

#include "parity/complex_leaf.h"

using parity::complex_leaf;
using parity::Tensors;
using torch::Tensor;

namespace {
const parity::Dtypes kParts{torch::kFloat, torch::kDouble};
}  // namespace

static_assert(std::is_same_v<at::scalar_value_type<c10::complex<float>>::type, float>);
static_assert(std::is_same_v<c10::scalar_value_type<double>::type, double>);

PARITY_CASE(complex, made_of_parts) {
  c.for_dtypes(kParts, [&](torch::Dtype dtype) {
    const Tensor re = c.leaf_in(0.5, 2, {3, 4}, dtype), im = c.leaf({4}, dtype);
    c.gradients("complex", {re, im}, [&] { return torch::complex(re, im); });
    c.gradients("polar", {re, im}, [&] { return torch::polar(re, im); });
    const Tensor pairs = c.leaf({3, 4, 2}, dtype);
    c.gradients("view_as_complex", {pairs}, [&] { return torch::view_as_complex(pairs); });
    const Tensor z = complex_leaf(c, {3, 4}, dtype);
    c.gradients("view_as_real", {z}, [&] { return torch::view_as_real(z); });
    c.gradients("real", {z}, [&] { return torch::real(z); });
    c.gradients("imag", {z}, [&] { return torch::imag(z); });
    c.gradients("parts of a transpose", {z}, [&] { return torch::view_as_real(z.t()) * 2; });
    c.layout("layout", torch::view_as_real(z.t()));
    c.text("dtype", std::string(z.dtype().name()) + c10::toString(z.scalar_type()));
    c.value("is_complex", z.is_complex());
  });
  c.out("to complex", c.randn({3}).to(torch::kComplexDouble));
  c.out("integers", c.arange({4}, torch::kLong).to(torch::kComplexFloat));
  c.out("from a list", torch::tensor({c10::complex<float>(1, 2), c10::complex<float>(-1, 0.5)}));
  c.out("full", torch::full({2, 2}, c10::complex<double>(0.5, -1), torch::kComplexDouble));
  c.out("zeros", torch::zeros({2, 3}, torch::kComplexFloat));
  c.out("eye", torch::eye(3, torch::kComplexFloat));
  const auto one = torch::complex(torch::tensor(1.5), torch::tensor(-2.0)).item<c10::complex<float>>();
  c.value("real of item", static_cast<double>(one.real()));
  c.value("imag of item", static_cast<double>(std::imag(one)));
  c.value("abs of item", static_cast<double>(std::abs(one)));
}

PARITY_CASE(complex, errors) {
  c.throws("view_as_real", [&] { torch::view_as_real(c.randn({2})); });
  c.throws("imag", [&] { torch::imag(c.randn({2})); });
  c.throws("view_as_complex", [&] { torch::view_as_complex(c.randn({2, 3})); });
  c.throws("strided", [&] { torch::view_as_complex(c.randn({2, 4}).t()); });
  c.throws("mixed parts", [&] { torch::complex(c.randn({2}), c.randn({2}, torch::kDouble)); });
  c.throws("integers", [&] { torch::complex(c.arange({2}, torch::kLong), c.arange({2}, torch::kLong)); });
  c.throws("order", [&] { complex_leaf(c, {3}) < complex_leaf(c, {3}); });
  c.throws("max", [&] { complex_leaf(c, {3}).max(); });
  c.throws("sort", [&] { complex_leaf(c, {3}).sort(); });
  c.throws("floor", [&] { complex_leaf(c, {3}).floor(); });
  c.throws("relu", [&] { torch::relu(complex_leaf(c, {3})); });
  c.throws("backward", [&] { complex_leaf(c, {1}).sum().backward(); });
  c.throws("in place", [&] { c.randn({3}).mul_(complex_leaf(c, {3}).detach()); });
  c.throws("abs in place", [&] { complex_leaf(c, {3}).detach().abs_(); });
  c.throws("item", [&] { complex_leaf(c, {1}).item<float>(); });
}

#define COMPLEX_UNARY(name)                                                             \
  PARITY_CASE(complex, name) {                                                          \
    c.for_dtypes(kParts, [&](torch::Dtype dtype) {                                      \
      const Tensor z = complex_leaf(c, {3, 5}, dtype);                                  \
      c.gradients("y", {z}, [&] { return torch::name(z); });                            \
      c.out("strided", torch::name(z.detach().t().slice(0, 0, 5, 2)));                  \
    });                                                                                 \
    const Tensor parts = c.leaf({4, 2}, torch::kDouble);                                \
    c.gradcheck(                                                                        \
        [&] {                                                                           \
          return torch::view_as_real(torch::name(torch::view_as_complex(parts)) * 1.0 + \
                                     torch::zeros({1}, torch::kComplexDouble));         \
        },                                                                              \
        {parts});                                                                       \
  }
COMPLEX_UNARY(abs)
COMPLEX_UNARY(angle)
COMPLEX_UNARY(sgn)
COMPLEX_UNARY(conj_physical)
COMPLEX_UNARY(neg)
COMPLEX_UNARY(square)
COMPLEX_UNARY(reciprocal)
COMPLEX_UNARY(exp)
COMPLEX_UNARY(log)
COMPLEX_UNARY(log10)
COMPLEX_UNARY(log2)
COMPLEX_UNARY(log1p)
COMPLEX_UNARY(expm1)
COMPLEX_UNARY(sqrt)
COMPLEX_UNARY(rsqrt)
COMPLEX_UNARY(sin)
COMPLEX_UNARY(cos)
COMPLEX_UNARY(tan)
COMPLEX_UNARY(asin)
COMPLEX_UNARY(acos)
COMPLEX_UNARY(atan)
COMPLEX_UNARY(sinh)
COMPLEX_UNARY(cosh)
COMPLEX_UNARY(tanh)
COMPLEX_UNARY(asinh)
COMPLEX_UNARY(acosh)
COMPLEX_UNARY(atanh)
COMPLEX_UNARY(sigmoid)

PARITY_CASE(complex, zeros_have_no_direction) {
  Tensor z = torch::zeros({3}, torch::kComplexDouble).requires_grad_();
  c.gradients("abs", {z}, [&] { return torch::abs(z); });
  c.gradients("angle", {z}, [&] { return torch::angle(z); });
  c.gradients("sgn", {z}, [&] { return torch::sgn(z); });
}

PARITY_CASE(complex, arithmetic) {
  c.for_dtypes(kParts, [&](torch::Dtype dtype) {
    const Tensor a = complex_leaf(c, {3, 4}, dtype), b = complex_leaf(c, {4}, dtype),
                 r = c.leaf_in(0.5, 2, {3, 1}, dtype);
    c.gradients("add", {a, b, r}, [&] { return a + b * 2 - r; });
    c.gradients("alpha", {a, b}, [&] { return torch::add(a, b, 0.5) + torch::sub(a, b, 3); });
    const c10::complex<double> turn(0.5, -2);
    c.gradients("complex alpha", {a, b}, [&] { return torch::add(a, b, turn) + torch::sub(b, a, turn); });
    c.gradients("complex alpha of reals", {a, r}, [&] { return torch::add(a, r, turn); });
    c.gradients("complex alpha, number", {a}, [&] { return torch::add(a, 2, turn) + torch::rsub(a, 2, turn); });
    c.gradients("complex alpha, in place", {a, b}, [&] { return (a * 1).add_(b, turn).sub_(b, turn); });
    Tensor sum = torch::empty({3, 4}, b.options());
    c.out("complex alpha, out", torch::add_out(sum, a.detach(), b.detach(), turn));
    c.throws("complex alpha beside reals", [&] { torch::add(r.detach(), r.detach(), turn); });
    c.gradients("mul", {a, b, r}, [&] { return a * b * r; });
    c.gradients("div", {a, b, r}, [&] { return a / b / r; });
    c.gradients("real by complex", {b, r}, [&] { return r / b + (1 - b) + 2 / b; });
    c.gradients("numbers", {a}, [&] { return a * c10::complex<double>(0.5, -2) + c10::complex<double>(1, 1); });
    c.gradients("real and number", {r}, [&] { return r * c10::complex<double>(0, 1); });
    c.gradients("pow", {a, b}, [&] { return torch::pow(a, b); });
    c.gradients("pow number", {a}, [&] { return a.pow(3) + a.pow(2) + a.pow(0.5) + a.pow(-1) + a.pow(1.7); });
    c.gradients("addcmul", {a, b, r}, [&] { return torch::addcmul(a, b, a, 0.5); });
    c.gradients("addcdiv", {a, b}, [&] { return torch::addcdiv(a, b, a, 0.5); });
    c.gradients("where", {a, b}, [&] { return torch::where(torch::real(a) > 0, a, b); });
    c.gradients("masked_fill", {a}, [&] { return a.masked_fill(torch::imag(a) > 0, 2); });
    c.out("eq", a == a.clone());
    c.out("ne", a != b);
    c.out("isclose", torch::isclose(a, a + 1e-7));
    c.value("allclose", torch::allclose(a, a + 1e-7));
    c.value("equal", torch::equal(a, a.clone()));
    c.out("isreal", torch::isreal(a * torch::bernoulli(torch::zeros_like(r))));
    c.out("in place", a.detach().clone().add_(b.detach()).mul_(r.detach()).div_(2).sub_(1).neg_().exp_());
  });
  c.out("promoted", torch::complex(c.randn({2}), c.randn({2})) + c.randn({2}, torch::kDouble));
  c.out("with 0-d", torch::complex(c.randn({2}), c.randn({2})) + torch::tensor(1.0, torch::kDouble));
  c.out("with integers", torch::complex(c.randn({2}), c.randn({2})) * c.arange({2}, torch::kLong));
  c.out("not finite", torch::isfinite(torch::complex(c.special(), c.special().flip({0}))));
  c.out("infinite", torch::isinf(torch::complex(c.special(), c.special().flip({0}))));
  c.out("nan", torch::isnan(torch::complex(c.special(), c.special().flip({0}))));
}

PARITY_CASE(complex, second_gradients) {
  const Tensor x = c.leaf({3, 2}, torch::kDouble), y = c.leaf({3, 2}, torch::kDouble);
  c.gradgradcheck(
      [&] {
        const Tensor a = torch::view_as_complex(x), b = torch::view_as_complex(y);
        return torch::view_as_real(a * b / (b * b + 2) + a.exp()) + a.abs().unsqueeze(1);
      },
      {x, y});
}

PARITY_CASE(complex, reductions) {
  const Tensor z = complex_leaf(c, {3, 4, 5});
  c.gradients("sum", {z}, [&] { return z.sum() + 0; });
  c.gradients("sum dims", {z}, [&] { return z.sum(std::vector<int64_t>{0, 2}); });
  c.gradients("mean", {z}, [&] { return z.mean(1, true); });
  c.gradients("cumsum", {z}, [&] { return z.cumsum(1); });
  c.gradients("norm", {z}, [&] { return z.norm(); });
  c.gradients("norm of dim", {z}, [&] { return torch::linalg_vector_norm(z, 2, torch::IntArrayRef{1}); });
  c.out("any", z.detach().any());
  c.out("all", (z.detach() * 0).all(1));
  c.out("empty", torch::zeros({0, 3}, torch::kComplexFloat).sum(0));
}

PARITY_CASE(complex, products) {
  c.for_dtypes(kParts, [&](torch::Dtype dtype) {
    const Tensor a = complex_leaf(c, {3, 4}, dtype), b = complex_leaf(c, {4, 5}, dtype),
                 v = complex_leaf(c, {4}, dtype);
    c.gradients("mm", {a, b}, [&] { return torch::mm(a, b); });
    c.gradients("transposed", {a, b}, [&] { return torch::matmul(b.mH(), a.t()); });
    c.gradients("mv", {a, v}, [&] { return torch::mv(a, v); });
    c.gradients("mv of columns", {b, v}, [&] { return torch::mv(b.mH(), v); });
    c.gradients("vector times matrix", {v, b}, [&] { return torch::matmul(v, b); });
    c.gradients("vector times columns", {v, a}, [&] { return torch::matmul(v, a.t()); });
    c.gradients("one row", {v, b}, [&] { return torch::mm(v.unsqueeze(0).conj(), b); });
    c.gradients("one inner", {v}, [&] { return torch::mm(v.unsqueeze(1), v.unsqueeze(0)); });
    c.gradients("of a sum", {a, b}, [&] { return torch::mm(a, b).sum() + torch::mv(a, b.select(1, 2)).sum(); });
    c.gradients("dot", {v}, [&] { return torch::dot(v, v) + torch::vdot(v, v); });
    c.gradients("outer", {v}, [&] { return torch::outer(v, v); });
    const Tensor p = complex_leaf(c, {2, 3, 4}, dtype), q = complex_leaf(c, {2, 4, 5}, dtype),
                 s = complex_leaf(c, {3, 5}, dtype);
    c.gradients("bmm", {p, q}, [&] { return torch::bmm(p, q); });
    c.gradients("broadcast", {a, q}, [&] { return torch::matmul(a, q); });
    c.gradients("addmm", {a, b, s}, [&] { return torch::addmm(s, a, b, 0.5, 2); });
    c.gradients("einsum", {p, q}, [&] { return torch::einsum("bij,bjk->bik", Tensors{p, q}); });
    const Tensor x = complex_leaf(c, {2, 3, 5}, dtype), w = complex_leaf(c, {3, 4, 5}, dtype);
    c.gradients("spectral layer", {x, w}, [&] { return torch::einsum("bix,iox->box", Tensors{x, w}); });
    c.gradients("linear", {a, b, s}, [&] { return torch::nn::functional::linear(a, b.t(), s[0]); });
  });
}

PARITY_CASE(complex, large_products) {
  c.for_dtypes(kParts, [&](torch::Dtype dtype) {
    const Tensor a = complex_leaf(c, {300, 200}, dtype), b = complex_leaf(c, {200, 70}, dtype),
                 v = complex_leaf(c, {200}, dtype);
    c.gradients("mm", {a, b}, [&] { return torch::mm(a, b); });
    c.gradients("turned", {a, b}, [&] { return torch::mm(b.mH(), a.t()); });
    c.gradients("mv", {a, v}, [&] { return torch::mv(a, v); });
    c.gradients("vector times matrix", {v, b}, [&] { return torch::matmul(v, b); });
    c.gradients("vector times columns", {v, a}, [&] { return torch::matmul(v, a.mH()); });
    c.out("every second", torch::mv(a.detach().slice(1, 0, 200, 2), v.detach().slice(0, 0, 200, 2)));
    c.out("nothing within", torch::mm(a.detach().slice(1, 0, 0), b.detach().slice(0, 0, 0)));
  });
}

PARITY_CASE(complex, gradients_of_gradients) {
  const Tensor a = complex_leaf(c, {3, 4}), b = complex_leaf(c, {4, 2}), v = complex_leaf(c, {4});
  const auto twice = [&](const char* name, const Tensor& product, const Tensors& of) {
    const auto first = torch::autograd::grad({product.abs().pow(2).sum()}, of, {}, true, true);
    for (size_t i = 0; i < of.size(); ++i) c.out(name, first[i]);
    Tensor sum = torch::zeros({});
    for (const Tensor& g : first) sum = sum + g.abs().pow(2).sum();
    for (const Tensor& g : torch::autograd::grad({sum}, of)) c.out(std::string(name) + ", again", g);
  };
  twice("mm", torch::mm(a, b), {a, b});
  twice("mv", torch::mv(a, v), {a, v});
}

PARITY_CASE(complex, moved) {
  c.for_dtypes(kParts, [&](torch::Dtype dtype) {
    const Tensor z = complex_leaf(c, {4, 6}, dtype), w = complex_leaf(c, {2, 6}, dtype);
    const Tensor at = c.values({2, 0, 2}, torch::kLong);
    c.gradients("cat", {z, w}, [&] { return torch::cat({z, w}, 0); });
    c.gradients("cat with real", {w}, [&] { return torch::cat({w, torch::real(w)}, 1); });
    c.gradients("stack", {w}, [&] { return torch::stack({w, w * 2}, 1); });
    c.gradients("index_select", {z}, [&] { return z.index_select(0, at) + 0; });
    c.gradients("columns", {z}, [&] { return z.index_select(1, at); });
    c.gradients("gather", {z}, [&] { return z.gather(1, c.randint(0, 6, {4, 3})); });
    c.gradients("index", {z}, [&] { return z.index({at, torch::indexing::Slice(0, 6, 2)}); });
    c.gradients("mask", {z}, [&] { return z.index({torch::real(z) > 0}); });
    c.gradients("permute", {z}, [&] { return z.t().contiguous().view({3, 8}); });
    c.gradients("flip", {z}, [&] { return torch::flip(z, {0, 1}).roll({1, 2}, {0, 1}); });
    c.gradients("pad", {z}, [&] { return torch::constant_pad_nd(z, {1, 2, 0, 1}); });
    c.gradients("repeat", {w}, [&] { return w.repeat({2, 2}) + w.expand({3, 2, 6}).sum(0).repeat({2, 2}); });
    c.gradients("tril", {z}, [&] { return torch::tril(z); });
    c.gradients("diagonal", {z}, [&] { return torch::diag_embed(z.diagonal()); });
    c.gradients("index_add", {z, w}, [&] { return z.index_add(0, c.values({1, 1}, torch::kLong), w); });
    c.gradients("scatter_add", {z, w}, [&] { return z.scatter_add(0, c.randint(0, 4, {2, 6}), w); });
    c.gradients("split", {z}, [&] { return z.split(4, 1)[1] * z.chunk(3, 1)[0]; });
    Tensor put = z.detach().clone();
    put.index_put_({torch::indexing::Slice(), 1}, torch::zeros({4}, z.options().requires_grad(false)));
    put[2] = c10::complex<double>(1, -1);
    c.out("put", put);
    c.out("masked_scatter", put.masked_scatter(torch::imag(put) > 0, z.detach()));
    c.out("nonzero", torch::nonzero(put.tril()));
  });
}

PARITY_CASE(complex, changed_in_place) {
  const Tensor z = complex_leaf(c, {3, 4});
  c.gradients("parts", {z}, [&] {
    Tensor y = z * 1;
    torch::real(y).mul_(3);
    torch::view_as_real(y).select(-1, 1).add_(torch::view_as_real(z).select(-1, 0));
    return y * y;
  });
  const Tensor pairs = c.leaf({3, 2});
  c.gradients("pairs", {pairs}, [&] {
    Tensor y = pairs * 1;
    torch::view_as_complex(y).mul_(c10::complex<double>(0, 2));
    return y * y;
  });
  c.gradients("slice", {z}, [&] {
    Tensor out = torch::zeros({3, 6}, torch::kComplexFloat);
    out.index_put_({torch::indexing::Slice(), torch::indexing::Slice(1, 5)}, z * z);
    return out.sum(0);
  });
}

PARITY_CASE(complex, random) {
  torch::manual_seed(3);
  c.out("randn", torch::randn({50}, torch::kComplexFloat));
  c.out("rand", torch::rand({7}, torch::kComplexDouble));
  c.out("normal_", torch::empty({20}, torch::kComplexFloat).normal_(1, 2));
}

PARITY_CASE(complex, printed) {
  c.printed("matrix", torch::complex(c.values({1.5, -2, 0.25, 100}), c.values({0, 1, -3.5, 2})).reshape({2, 2}));
  std::ostringstream text;
  text << c10::complex<double>(1, -2) << " " << torch::Scalar(c10::complex<double>(0.5, 1));
  c.text("number", text.str());
}

PARITY_CASE(complex, rotary_embedding) {
  // As programs rotate queries: pairs as complex numbers times exp(i position frequency).
  const Tensor q = c.leaf({2, 5, 3, 8});
  const Tensor frequency = torch::pow(10000.0, -torch::arange(0, 8, 2).to(torch::kFloat) / 8);
  const Tensor turn = torch::outer(torch::arange(5).to(torch::kFloat), frequency);
  const Tensor phase = torch::polar(torch::ones_like(turn), turn).view({1, 5, 1, 4});
  c.gradients("rotated", {q}, [&] {
    const Tensor z = torch::view_as_complex(q.reshape({2, 5, 3, 4, 2}));
    return torch::view_as_real(z * phase).flatten(3);
  });
}

PARITY_CASE(complex, trained) {
  c.for_dtypes(kParts, [&](torch::Dtype dtype) {
    const Tensor start = complex_leaf(c, {3, 3}, dtype).detach(), x = complex_leaf(c, {4, 3}, dtype).detach();
    Tensor w = start.clone().requires_grad_();
    torch::optim::SGD sgd({w}, torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01));
    for (int i = 0; i < 5; ++i) {
      sgd.zero_grad();
      (torch::mm(x, w) - x).abs().pow(2).mean().backward();
      sgd.step();
    }
    c.out("sgd", w);
  });
}

namespace {
/// Places of eigenvalues (…, n) in the order of real, then imaginary parts.
Tensor in_order(const Tensor& values) {
  const Tensor z = values.detach().to(torch::kComplexDouble);
  return ((torch::real(z) * 1e3).round() * 1e4 + torch::imag(z)).argsort(int64_t{-1}, false);
}
}  // namespace

PARITY_CASE(complex, eigenvalues) {
  c.tolerance(torch::kFloat, 1e-4, 1e-4);
  c.tolerance(torch::kDouble, 1e-9, 1e-9);
  const auto both = [&](const std::string& name, const Tensor& a) {
    const auto [l, v] = torch::linalg_eig(a);
    const Tensor order = in_order(l);
    c.out(name + " values", l.gather(-1, order));
    c.out(name + " vectors", v.abs().gather(-1, order.unsqueeze(-2).expand(v.sizes())));
    const Tensor left = torch::matmul(a.to(v.scalar_type()), v), right = v * l.unsqueeze(-2);
    c.check(torch::allclose(left, right, 1e-3, 1e-3), name + ": A V is not V L");
    c.out(name + " alone", torch::linalg_eigvals(a).gather(-1, order));
  };
  c.for_dtypes(kParts, [&](torch::Dtype dtype) {
    both("real", c.randn({2, 5, 5}, dtype));
    both("complex", torch::complex(c.randn({3, 4, 4}, dtype), c.randn({3, 4, 4}, dtype)));
    both("symmetric", [&] {
      const Tensor a = c.randn({6, 6}, dtype);
      return a + a.t();
    }());
    both("triangular", c.randn({4, 4}, dtype).triu());
    both("one", c.randn({1, 1}, dtype));
    both("larger", c.randn({40, 40}, dtype));
  });
  both("rotation", torch::tensor({{0.0, -1.0}, {1.0, 0.0}}, torch::kDouble));
  both("permutation", torch::eye(4, torch::kDouble).roll({1}, {0}));
  c.out("zeros", torch::linalg_eigvals(torch::zeros({3, 3})));
  c.out("companion",
        torch::linalg_eigvals(torch::tensor({{6.0, -11.0, 6.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}, torch::kDouble))
            .abs()
            .sum());
  const Tensor a = c.leaf({4, 4}, torch::kDouble);
  c.gradients("vectors", {a}, [&] {
    const auto [l, v] = torch::linalg_eig(a);
    return v.abs().gather(-1, in_order(l).unsqueeze(-2).expand({4, 4}));
  });
  c.gradients("both", {a}, [&] {
    const auto [l, v] = torch::linalg_eig(a);
    return torch::view_as_real((l * v.abs().pow(3).sum(0)).sum());
  });
  c.gradcheck([&] { return torch::view_as_real(torch::linalg_eigvals(a).exp().sum()); }, {a});
  const Tensor z = complex_leaf(c, {3, 3}, torch::kDouble);
  c.gradients("complex", {z}, [&] { return torch::linalg_eigvals(z).gather(-1, in_order(torch::linalg_eigvals(z))); });
  c.throws("square", [&] { torch::linalg_eig(c.randn({2, 3})); });
  c.throws("nan", [&] { torch::linalg_eig(torch::full({2, 2}, NAN)); });
  c.throws("integers", [&] { torch::linalg_eig(torch::ones({2, 2}, torch::kLong)); });
}

PARITY_CASE(complex, equations) {
  c.tolerance(torch::kFloat, 1e-4, 1e-4);
  c.for_dtypes(kParts, [&](torch::Dtype dtype) {
    const Tensor a = complex_leaf(c, {2, 3, 3}, dtype), b = complex_leaf(c, {2, 3, 2}, dtype),
                 v = complex_leaf(c, {3}, dtype);
    c.gradients("solve", {a, b}, [&] { return torch::linalg_solve(a, b); });
    c.gradients("right", {a, b}, [&] { return torch::linalg_solve(a, b.mT(), false); });
    c.gradients("vector", {a, v}, [&] { return torch::linalg_solve(a[0], v); });
    c.gradients("inverse", {a}, [&] { return torch::linalg_inv(a); });
  });
  c.throws("singular", [&] { torch::linalg_inv(torch::zeros({2, 2}, torch::kComplexFloat)); });
}
