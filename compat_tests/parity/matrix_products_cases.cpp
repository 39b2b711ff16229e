#include "parity/case.h"

using torch::Tensor;

PARITY_CASE(matrix_products, mm) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    for (auto [m, k, n] : std::vector<std::tuple<int64_t, int64_t, int64_t>>{{1, 1, 1},
                                                                             {2, 3, 4},
                                                                             {1, 37, 19},
                                                                             {19, 37, 1},
                                                                             {5, 1, 6},
                                                                             {33, 65, 17},
                                                                             {64, 100, 48},
                                                                             {0, 3, 4},
                                                                             {3, 0, 4},
                                                                             {3, 4, 0}}) {
      c.scope(std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n), [&] {
        auto a = c.leaf({m, k}, dtype), b = c.leaf({k, n}, dtype);
        c.gradients("mm", {a, b}, [&] { return torch::mm(a, b); });
        auto at = c.randn({k, m}, dtype), bt = c.randn({n, k}, dtype);
        c.out("ta", torch::mm(at.t(), b.detach()));
        c.out("tb", torch::mm(a.detach(), bt.t()));
        c.out("tab", torch::mm(at.t(), bt.t()));
      });
    }
  });
  auto a = c.leaf({3, 5}, torch::kDouble), b = c.leaf({5, 4}, torch::kDouble);
  c.gradcheck([&] { return torch::mm(a, b); }, {a, b});
  c.gradgradcheck([&] { return torch::mm(a, b); }, {a, b});
}

PARITY_CASE(matrix_products, integers) {
  c.for_dtypes(parity::kInts, [&](torch::Dtype dtype) {
    c.out("mm", torch::mm(c.any({3, 5}, dtype), c.any({5, 4}, dtype)));
    c.out("bmm", torch::bmm(c.any({2, 3, 5}, dtype), c.any({2, 5, 4}, dtype)));
    c.out("mv", torch::mv(c.any({3, 5}, dtype), c.any({5}, dtype)));
    c.out("dot", torch::dot(c.any({5}, dtype), c.any({5}, dtype)));
  });
}

PARITY_CASE(matrix_products, layouts) {
  auto b = c.randn({6, 5});
  c.for_layouts({4, 6}, torch::kFloat, [&](Tensor x) {
    c.out("left", torch::mm(x, b));
    x.requires_grad_();
    c.gradients("right", {x}, [&] { return torch::mm(b.t(), x.t()); });
  });
  auto wide = c.randn({8, 40});
  c.out("narrow", torch::mm(wide.narrow(1, 3, 20), c.randn({20, 7})));
  c.out("every_second", torch::mm(wide.slice(1, 0, 40, 2), c.randn({20, 7})));
  c.out("rows", torch::mm(wide.slice(0, 0, 8, 2), c.randn({40, 7})));
  c.out("half_rows", torch::mm(wide.slice(1, 0, 40, 2).to(torch::kHalf), c.randn({20, 7}, torch::kHalf)));
}

// Stacks so large that many matrices go to a library at once, also where no tensor of three dimensions has them.
PARITY_CASE(matrix_products, stacks_in_memory) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    const int64_t count = 77, n = 48;
    const auto one = c.randn({n, n}, dtype), other = c.randn({n, n}, dtype), stack = c.randn({count, n, n}, dtype),
               line = c.randn({count * n + n * n}, dtype);
    c.out("both the same", torch::bmm(one.expand({count, n, n}), other.expand({count, n, n})));
    c.out("left the same", torch::bmm(one.expand({count, n, n}), stack));
    c.out("right the same", torch::bmm(stack, one.t().expand({count, n, n})));
    c.out("left overlaps", torch::bmm(line.as_strided({count, n, n}, {n, n, 1}), stack));
    c.out("right overlaps", torch::bmm(stack, line.as_strided({count, n, n}, {3, n, 1})));
    c.out("transposed", torch::bmm(stack.transpose(1, 2), stack.transpose(1, 2)));
    c.out("between rows", torch::bmm(stack.transpose(0, 1).contiguous().transpose(0, 1), stack));
    c.out("elements", torch::bmm(stack.permute({1, 2, 0}).contiguous().permute({2, 0, 1}), stack));
    c.out("parts", torch::bmm(stack.narrow(1, 3, 40), stack.narrow(2, 5, 40)));
    c.out("added", torch::baddbmm(stack, stack, stack, 0.5, 2));
  });
}

PARITY_CASE(matrix_products, matmul) {
  using S = parity::Shape;
  const std::vector<std::pair<S, S>> shapes{{{5}, {5}},
                                            {{3, 5}, {5}},
                                            {{5}, {5, 3}},
                                            {{3, 4}, {4, 5}},
                                            {{2, 3, 4}, {4, 5}},
                                            {{2, 3, 4}, {4}},
                                            {{4}, {2, 4, 5}},
                                            {{2, 3, 4}, {2, 4, 5}},
                                            {{1, 3, 4}, {6, 4, 5}},
                                            {{3, 4}, {6, 4, 5}},
                                            {{2, 1, 3, 4}, {3, 4, 5}},
                                            {{2, 3, 2, 4}, {2, 3, 4, 5}},
                                            {{2, 1, 2, 1, 3, 4}, {1, 3, 1, 2, 4, 5}},
                                            {{0, 3, 4}, {4, 5}}};
  c.for_dtypes({torch::kFloat, torch::kDouble, torch::kBFloat16, torch::kHalf}, [&](torch::Dtype dtype) {
    int i = 0;
    for (const auto& [sa, sb] : shapes) {
      auto a = c.leaf(sa, dtype), b = c.leaf(sb, dtype);
      c.gradients("shape" + std::to_string(i++), {a, b}, [&] { return torch::matmul(a, b); });
    }
  });
  auto x = c.randn({2, 3, 4, 5}).transpose(1, 2);
  c.out("strided_heads", torch::matmul(x, x.transpose(-2, -1)));
  c.out("expanded", torch::matmul(c.randn({4, 1, 3}).expand({4, 5, 3}), c.randn({3, 2})));
  c.throws("inner", [&] { torch::matmul(c.randn({3, 4}), c.randn({3, 4})); });
  c.throws("dtype", [&] { torch::matmul(c.randn({3, 4}), c.randn({4, 3}, torch::kDouble)); });
  c.throws("zero_dim", [&] { torch::matmul(c.randn({}), c.randn({4})); });
  auto a = c.leaf({2, 3, 4}, torch::kDouble), b = c.leaf({2, 4, 2}, torch::kDouble);
  c.gradcheck([&] { return torch::matmul(a, b); }, {a, b});
  c.gradgradcheck([&] { return torch::matmul(a, b); }, {a, b});
}

PARITY_CASE(matrix_products, linear) {
  namespace F = torch::nn::functional;
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto w = c.leaf({7, 12}, dtype), b = c.leaf({7}, dtype);
    for (auto shape : std::vector<parity::Shape>{{12}, {1, 12}, {5, 12}, {2, 3, 12}, {2, 0, 12}}) {
      auto x = c.leaf(shape, dtype);
      c.scope("d" + std::to_string(shape.size()) + "n" + std::to_string(shape[0]), [&] {
        c.gradients("bias", {x, w, b}, [&] { return F::linear(x, w, b); });
        c.gradients("plain", {x, w}, [&] { return F::linear(x, w); });
      });
    }
    auto x = c.randn({12, 4}, dtype).t();
    c.out("transposed", F::linear(x, w, b));
  });
  auto x = c.leaf({3, 4}, torch::kDouble), w = c.leaf({5, 4}, torch::kDouble), b = c.leaf({5}, torch::kDouble);
  c.gradcheck([&] { return F::linear(x, w, b); }, {x, w, b});
  c.gradgradcheck([&] { return F::linear(x, w, b); }, {x, w, b});
  c.gradients("expanded_grad", {x, w, b}, [&] { return F::linear(x, w, b).sum(); });
  c.throws("features", [&] { F::linear(c.randn({3, 5}), c.randn({2, 4})); });
}

PARITY_CASE(matrix_products, added) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto m = c.leaf({3, 5}, dtype), a = c.leaf({3, 4}, dtype), b = c.leaf({4, 5}, dtype), row = c.leaf({5}, dtype);
    c.gradients("addmm", {m, a, b}, [&] { return torch::addmm(m, a, b); });
    c.gradients("addmm_row", {row, a, b}, [&] { return torch::addmm(row, a, b); });
    c.gradients("addmm_scaled", {row, a, b}, [&] { return torch::addmm(row, a, b, 0.5, 2); });
    auto v = c.leaf({4}, dtype), u = c.leaf({3}, dtype);
    c.gradients("addmv", {u, a, v}, [&] { return torch::addmv(u, a, v, 0.5, 2); });
    c.gradients("addr", {a, u, v}, [&] { return torch::addr(a, u, v, 0.5, 2); });
    auto x = c.leaf({2, 3, 4}, dtype), y = c.leaf({2, 4, 5}, dtype), z = c.leaf({2, 3, 5}, dtype);
    c.gradients("baddbmm", {z, x, y}, [&] { return torch::baddbmm(z, x, y, 0.5, 2); });
    c.gradients("addbmm", {m, x, y}, [&] { return torch::addbmm(m, x, y, 0.5, 2); });
    c.gradients("outer", {u, v}, [&] { return torch::outer(u, v); });
    c.out("in_place", m.detach().clone().addmm_(a.detach(), b.detach(), 2, 0.5));
  });
  auto nan = torch::full({2, 2}, std::numeric_limits<float>::quiet_NaN());
  c.out("beta_zero_ignores_nan", torch::addmm(nan, c.randn({2, 3}), c.randn({3, 2}), 0, 1));
}

// Sums over many rows of matrices whose sizes are powers of two: blocked otherwise than small ones.
PARITY_CASE(matrix_products, long_sums) {
  for (const auto& [m, k, n] :
       std::vector<std::tuple<int, int, int>>{{64, 1100, 256}, {256, 520, 40}, {33, 600, 512}}) {
    const auto a = c.randn({k, m}), b = c.randn({k, n}), row = c.randn({n}), full = c.randn({m, n});
    c.scope("m" + std::to_string(m), [&, k = k] {
      const double scale = 1 / std::sqrt(static_cast<double>(k));  // of the order of 1, as the tolerance is
      c.out("mm", torch::mm(a.t(), b) * scale);
      c.out("addmm_row", torch::addmm(row, a.t(), b, 1, scale));
      c.out("addmm_scaled", torch::addmm(full, a.t(), b, 0.5, 2 * scale));
      const auto nan = torch::full_like(full, std::numeric_limits<double>::quiet_NaN());
      c.out("beta_zero_ignores_nan", torch::addmm(nan, a.t(), b, 0, scale));
      const auto x = a.t().contiguous();
      c.out("rows", torch::addmm(full, x, b, 0.5, 2 * scale));
      c.out("half", torch::mm(a.t().to(torch::kHalf), b.to(torch::kHalf) * scale));
    });
  }
}

// A small matrix of doubles times many rows, and a small result of long sums.
PARITY_CASE(matrix_products, long_doubles) {
  for (const auto& [m, k, n] : std::vector<std::tuple<int, int, int>>{
           {5003, 16, 16}, {300, 64, 63}, {9000, 3, 50}, {16, 3001, 16}, {64, 200, 64}, {3, 9000, 37}}) {
    c.scope(std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n), [&, m = m, k = k, n = n] {
      const auto a = c.randn({m, k}, torch::kDouble), b = c.randn({k, n}, torch::kDouble);
      const auto at = a.t().contiguous().t(), bt = b.t().contiguous().t();
      const auto row = c.randn({n}, torch::kDouble), full = c.randn({m, n}, torch::kDouble);
      c.out("mm", torch::mm(a, b));
      c.out("left by columns", torch::mm(at, b));
      c.out("right by columns", torch::mm(a, bt));
      c.out("by columns", torch::mm(at, bt));
      c.out("row", torch::addmm(row, a, b));
      c.out("scaled", torch::addmm(full, a, b, 0.5, 2));
      const auto nan = torch::full_like(full, std::numeric_limits<double>::quiet_NaN());
      c.out("beta zero ignores nan", torch::addmm(nan, a, b, 0, 3));
    });
  }
}

PARITY_CASE(matrix_products, others) {
  auto a = c.leaf({2, 3}), b = c.leaf({4, 5});
  c.gradients("kron", {a, b}, [&] { return torch::kron(a, b); });
  const auto tall = c.randn({9, 6}), narrow = c.randn({7, 3}), cube = c.randn({4, 5, 6});
  c.out("kron of short rows", torch::kron(tall, narrow));
  c.out("kron of wider rows", torch::kron(tall.to(torch::kDouble), narrow));
  c.out("kron of cubes", torch::kron(cube, narrow));
  c.out("kron of a cube on the right", torch::kron(narrow, cube));
  auto x = c.leaf({4, 3}), y = c.leaf({4, 3});
  c.gradients("cross", {x, y}, [&] { return torch::cross(x, y, 1); });
  const auto row = c.randn({1, 3}).requires_grad_(), square = c.randn({3, 3}).requires_grad_();
  const auto planes = c.randn({2, 3, 40}, torch::kDouble).requires_grad_();
  const auto turned = c.randn({40, 3, 2}, torch::kDouble).requires_grad_();
  c.gradients("cross.of_planes", {planes, turned},
              [&] { return torch::linalg_cross(planes, turned.transpose(0, 2), 1); });
  c.out("cross.of_integers", torch::linalg_cross(c.randint(-9, 9, {5, 3}), c.randint(-9, 9, {5, 3}), -1));
  c.out("cross.of_bfloat16",
        torch::linalg_cross(c.randn({5, 3}).to(torch::kBFloat16), c.randn({5, 3}).to(torch::kBFloat16)));
  c.gradients("cross.of_a_row", {row, square}, [&] { return torch::cross(row, square); });
  c.gradients("dot", {x, y}, [&] { return torch::dot(x.flatten(), y.flatten()); });
  c.gradients("inner", {x, y}, [&] { return torch::inner(x, y); });
  c.gradients("einsum_mm", {x, y}, [&] { return torch::einsum("ij,kj->ik", {x, y}); });
  c.gradients("einsum_implicit", {x, y}, [&] { return torch::einsum("ij,kj", {x, y}); });
  c.gradients("einsum_trace", {x}, [&] { return torch::einsum("ij->", {x}); });
  c.gradients("einsum_transpose", {x}, [&] { return torch::einsum("ij->ji", {x}); });
  auto p = c.leaf({2, 3, 4, 5}), q = c.leaf({2, 3, 6, 5});
  c.gradients("einsum_heads", {p, q}, [&] { return torch::einsum("bhid,bhjd->bhij", {p, q}); });
  c.gradients("einsum_ellipsis", {p, q}, [&] { return torch::einsum("...id,...jd->...ij", {p, q}); });
  auto s = c.leaf({3, 3});
  c.gradients("einsum_diagonal", {s}, [&] { return torch::einsum("ii->i", {s}); });
  c.gradients("tensordot", {p, q}, [&] { return torch::tensordot(p, q, {1, 3}, {1, 3}); });
  auto i1 = c.leaf({4, 3}), i2 = c.leaf({4, 5}), w = c.leaf({2, 3, 5}), bias = c.leaf({2});
  c.gradients("bilinear", {i1, i2, w, bias}, [&] { return torch::bilinear(i1, i2, w, bias); });
  c.gradients("chain", {x}, [&] { return torch::chain_matmul({x, x.t(), x}); });
  c.gradients("power", {s}, [&] { return torch::matrix_power(s, 3); });
  auto t1 = c.leaf({5, 3}), t2 = c.leaf({4, 3});
  c.gradients("cdist", {t1, t2}, [&] { return torch::cdist(t1, t2); });
  c.gradients("cdist1", {t1, t2}, [&] { return torch::cdist(t1, t2, 1); });
  auto many = c.leaf({2, 30, 3}), few = c.leaf({1, 4, 3});
  c.gradients("cdist_by_product", {many, few}, [&] { return torch::cdist(many, few); });
  c.gradients("cdist_by_product_swapped", {many, few}, [&] { return torch::cdist(few, many); });
  c.gradients("cdist_always_by_product", {t1, t2}, [&] { return torch::cdist(t1, t2, 2, 1); });
  c.gradients("cdist_never_by_product", {many, few}, [&] { return torch::cdist(many, few, 2, 2); });
}
