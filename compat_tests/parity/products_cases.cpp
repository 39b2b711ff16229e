// Matrix and vector products.
#include "parity/case.h"

using torch::Tensor;
using Shape = parity::Shape;

namespace {

void product(
    parity::Case& c, const std::string& name, Shape left, Shape right,
    const std::function<Tensor(const Tensor&, const Tensor&)>& fn = [](const Tensor& a, const Tensor& b) {
      return torch::matmul(a, b);
    }) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto a = c.leaf(left, dtype), b = c.leaf(right, dtype);
    c.gradients(name, {a, b}, [&] { return fn(a, b); });
  });
}

}  // namespace

PARITY_CASE(products, matmul_shapes) {
  product(c, "vector_vector", {5}, {5});
  product(c, "matrix_vector", {3, 5}, {5});
  product(c, "vector_matrix", {5}, {5, 3});
  product(c, "matrix_matrix", {3, 5}, {5, 4});
  product(c, "batched", {2, 3, 5}, {2, 5, 4});
  product(c, "broadcast_right", {2, 3, 5}, {5, 4});
  product(c, "broadcast_left", {3, 5}, {2, 5, 4});
  product(c, "broadcast_batches", {2, 1, 3, 5}, {4, 5, 2});
  product(c, "batch_vector", {2, 3, 5}, {5});
  product(c, "vector_batch", {5}, {2, 5, 3});
  product(c, "large", {70, 130}, {130, 65});
  product(c, "empty_rows", {0, 5}, {5, 3});
  product(c, "empty_inner", {2, 0}, {0, 3});
  c.throws("inner", [&] { torch::matmul(c.randn({2, 3}), c.randn({4, 5})); });
  c.throws("scalars", [&] { torch::matmul(c.randn({}), c.randn({3})); });
  c.throws("dtypes", [&] { torch::matmul(c.randn({2, 3}), c.randn({3, 2}, torch::kDouble)); });
}

PARITY_CASE(products, matmul_layouts) {
  auto other = c.randn({6, 3});
  c.for_layouts({4, 6}, torch::kFloat, [&](Tensor a) {
    a.requires_grad_();
    auto b = other.clone().requires_grad_();
    c.gradients("left", {a, b}, [&] { return a.matmul(b); });
    auto d = c.leaf({5, 4});
    c.gradients("right", {a, d}, [&] { return d.matmul(a); });
  });
  auto a = c.leaf({3, 4}), b = c.leaf({5, 4});
  c.gradients("transposed", {a, b}, [&] { return a.mm(b.t()); });
  c.gradients("both_transposed", {a, b}, [&] { return b.t().contiguous().t().mm(a.t()); });
}

PARITY_CASE(products, gradcheck) {
  auto a = c.leaf({2, 3}, torch::kDouble), b = c.leaf({3, 2}, torch::kDouble);
  c.gradcheck([&] { return a.mm(b); }, {a, b});
  c.gradgradcheck([&] { return a.mm(b); }, {a, b});
  auto p = c.leaf({2, 2, 3}, torch::kDouble), q = c.leaf({2, 3, 2}, torch::kDouble);
  c.gradcheck([&] { return p.bmm(q); }, {p, q});
  c.gradgradcheck([&] { return torch::matmul(p, b); }, {p, b});
}

PARITY_CASE(products, mm_bmm_mv_dot) {
  using F = Tensor (*)(const Tensor&, const Tensor&);
  product(c, "mm", {3, 4}, {4, 2}, F([](const Tensor& a, const Tensor& b) { return torch::mm(a, b); }));
  product(c, "bmm", {2, 3, 4}, {2, 4, 2}, F([](const Tensor& a, const Tensor& b) { return torch::bmm(a, b); }));
  product(c, "mv", {3, 4}, {4}, F([](const Tensor& a, const Tensor& b) { return torch::mv(a, b); }));
  product(c, "dot", {6}, {6}, F([](const Tensor& a, const Tensor& b) { return torch::dot(a, b); }));
  product(c, "outer", {3}, {4}, F([](const Tensor& a, const Tensor& b) { return torch::outer(a, b); }));
  product(c, "inner", {2, 4}, {3, 4}, F([](const Tensor& a, const Tensor& b) { return torch::inner(a, b); }));
  c.throws("mm_rank", [&] { torch::mm(c.randn({2, 3, 4}), c.randn({4, 2})); });
  c.throws("bmm_batches", [&] { torch::bmm(c.randn({2, 3, 4}), c.randn({3, 4, 2})); });
  c.throws("dot_sizes", [&] { torch::dot(c.randn({2}), c.randn({3})); });
  c.out("integers", torch::mm(c.randint(-4, 5, {3, 4}), c.randint(-4, 5, {4, 2})));
}

PARITY_CASE(products, addmm_family) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto bias = c.leaf({4}, dtype), a = c.leaf({3, 5}, dtype), b = c.leaf({5, 4}, dtype);
    c.gradients("addmm", {bias, a, b}, [&] { return torch::addmm(bias, a, b); });
    c.gradients("addmm_scaled", {bias, a, b}, [&] { return torch::addmm(bias, a, b, 0.5, 2); });
    auto batch = c.leaf({2, 3, 4}, dtype), p = c.leaf({2, 3, 5}, dtype), q = c.leaf({2, 5, 4}, dtype);
    c.gradients("baddbmm", {batch, p, q}, [&] { return torch::baddbmm(batch, p, q, 1, 0.5); });
    auto v = c.leaf({3}, dtype), x = c.leaf({5}, dtype);
    c.gradients("addmv", {v, a, x}, [&] { return torch::addmv(v, a, x); });
  });
  auto bias = c.randn({3, 4});
  c.out("addmm_", bias.clone().addmm_(c.randn({3, 2}), c.randn({2, 4}), 0.5, 1));
  c.out("beta_zero_ignores_nan",
        torch::addmm(torch::full({3, 4}, NAN), c.randn({3, 2}), c.randn({2, 4}), /*beta=*/0, /*alpha=*/1));
  c.throws("shapes", [&] { torch::addmm(c.randn({5}), c.randn({3, 2}), c.randn({2, 4})); });
}

PARITY_CASE(products, linear) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto w = c.leaf({4, 5}, dtype), b = c.leaf({4}, dtype);
    for (auto shape : {Shape{3, 5}, Shape{5}, Shape{2, 3, 5}, Shape{0, 5}}) {
      auto x = c.leaf(shape, dtype);
      c.gradients("rank" + std::to_string(shape.size()) + "_" + std::to_string(shape[0]), {x, w, b},
                  [&] { return torch::linear(x, w, b); });
    }
    auto x = c.leaf({3, 5}, dtype);
    c.gradients("no_bias", {x, w}, [&] { return torch::linear(x, w); });
  });
  auto x = c.leaf({2, 3}, torch::kDouble), w = c.leaf({2, 3}, torch::kDouble), b = c.leaf({2}, torch::kDouble);
  c.gradcheck([&] { return torch::linear(x, w, b); }, {x, w, b});
  c.gradgradcheck([&] { return torch::linear(x, w, b).tanh(); }, {x, w, b});
  c.throws("shapes", [&] { torch::linear(c.randn({3, 4}), c.randn({2, 5})); });
}

PARITY_CASE(products, einsum) {
  auto a = c.leaf({2, 3}), b = c.leaf({3, 4}), p = c.leaf({2, 3, 4}), q = c.leaf({2, 4, 5});
  c.gradients("ij,jk->ik", {a, b}, [&] { return torch::einsum("ij,jk->ik", {a, b}); });
  c.gradients("bij,bjk->bik", {p, q}, [&] { return torch::einsum("bij,bjk->bik", {p, q}); });
  c.gradients("ij->ji", {a}, [&] { return torch::einsum("ij->ji", {a}); });
  c.gradients("ij->", {a}, [&] { return torch::einsum("ij->", {a}); });
  c.gradients("i,j->ij", {a, b}, [&] { return torch::einsum("i,j->ij", {a.select(0, 0), b.select(0, 0)}); });
}

PARITY_CASE(products, layout_of_results) {
  c.layout("mm", c.randn({3, 4}).mm(c.randn({4, 2})));
  c.layout("matmul", c.randn({2, 3, 4}).matmul(c.randn({4, 2})));
  c.layout("linear", torch::linear(c.randn({2, 3, 4}), c.randn({5, 4})));
}
