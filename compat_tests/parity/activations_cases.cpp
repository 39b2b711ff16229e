// Activations and the functions that normalise along a dimension.
#include "parity/case.h"

using torch::Tensor;
namespace F = torch::nn::functional;

#define ACTIVATION(name, call)                                                                     \
  PARITY_CASE(activations, name) {                                                                 \
    c.unary([](const Tensor& x) { return call; }, -3, 3);                                          \
    c.out("large", ([](const Tensor& x) { return call; })(c.rand({50000}, torch::kFloat, -9, 9))); \
  }

ACTIVATION(gelu_tanh, torch::gelu(x, "tanh"))
ACTIVATION(silu, torch::silu(x))
ACTIVATION(mish, torch::mish(x))
ACTIVATION(elu, torch::elu(x, 0.8))
ACTIVATION(selu, torch::selu(x))
ACTIVATION(leaky_relu, torch::leaky_relu(x, 0.1))
ACTIVATION(relu6, torch::relu6(x))
ACTIVATION(hardtanh, torch::hardtanh(x, -1, 2))
ACTIVATION(hardswish, torch::hardswish(x))
ACTIVATION(softplus, torch::softplus(x, 1.5, 2))
ACTIVATION(log_sigmoid, torch::log_sigmoid(x))
ACTIVATION(threshold, torch::threshold(x, 0.3, -1))
ACTIVATION(softsign, F::softsign(x))
ACTIVATION(tanhshrink, F::tanhshrink(x))

PARITY_CASE(activations, gelu) {  // of infinities LibTorch gives NaN where oneDNN computes it
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf_in(-3, 3, {37}, dtype);
    c.gradients("y", {x}, [&] { return torch::gelu(x); });
    c.out("special", torch::gelu(c.values({0, -0.0, 1, -1, 3, -3, 100, -100}, dtype)));
  });
  c.out("large", torch::gelu(c.rand({50000}, torch::kFloat, -9, 9)));
  auto x = c.leaf({3, 4}, torch::kDouble);
  c.gradcheck([&] { return torch::gelu(x); }, {x});
  c.gradgradcheck([&] { return torch::gelu(x); }, {x});
}

PARITY_CASE(activations, celu) {
  c.tolerance(torch::kDouble, 1e-6, 1e-6);  // LibTorch's gradient rounds alpha to float (4e-8 off); ours does not
  c.unary([](const Tensor& x) { return torch::celu(x, 1.2); }, -3, 3);
}

PARITY_CASE(activations, hardsigmoid) {     // LibTorch has no second derivative of it
  c.tolerance(torch::kDouble, 1e-6, 1e-6);  // LibTorch's gradient rounds 1/6 to float (3e-8 off); ours does not
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf_in(-4, 4, {37}, dtype);
    c.gradients("y", {x}, [&] { return torch::hardsigmoid(x); });
    c.out("special", torch::hardsigmoid(c.special(dtype)));
  });
}

PARITY_CASE(activations, shrink) {
  auto x = c.leaf({4, 5});
  c.gradients("hard", {x}, [&] { return torch::hardshrink(x, 0.4); });
  c.gradients("soft", {x}, [&] { return torch::softshrink(x, 0.4); });
}

PARITY_CASE(activations, in_place) {
  auto x = c.randn({4, 5});
  auto y = x.clone(), r = x.clone();
  c.out("relu_", torch::relu_(r));
  c.out("leaky_relu_", torch::leaky_relu_(y, 0.2));
  auto z = c.leaf({4, 5});
  c.gradients("elu_", {z}, [&] { return F::elu(z * 1, F::ELUFuncOptions().alpha(0.5).inplace(true)); });
  c.gradients("relu_graph", {z}, [&] { return (z * 2).relu_(); });
  c.gradients("hardtanh_", {z}, [&] { return F::hardtanh(z * 2, F::HardtanhFuncOptions().inplace(true)); });
}

PARITY_CASE(activations, glu_and_prelu) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({3, 6, 2}, dtype), w = c.leaf({6}, dtype), one = c.leaf({1}, dtype);
    c.gradients("glu", {x}, [&] { return torch::glu(x, 1); });
    c.gradients("prelu", {x, w}, [&] { return torch::prelu(x, w); });
    c.gradients("prelu_one", {x, one}, [&] { return torch::prelu(x, one); });
  });
  c.throws("glu_odd", [&] { torch::glu(c.randn({3, 5})); });
}

PARITY_CASE(activations, softmax) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({3, 4, 5}, dtype);
    for (int64_t dim : {0, 1, -1}) {
      c.gradients("softmax" + std::to_string(dim), {x}, [&] { return torch::softmax(x, dim); });
      c.gradients("log_softmax" + std::to_string(dim), {x}, [&] { return torch::log_softmax(x, dim); });
    }
    auto wide = c.leaf({2, 1000}, dtype);
    c.gradients("wide", {wide}, [&] { return torch::softmax(wide, 1); });
    for (int64_t n : {16, 32, 48, 80, 130}) {  // whole lines of the cache, and more than are taken at once
      const std::string of = " of " + std::to_string(n);
      auto rows = c.leaf({5, n}, dtype);
      c.gradients("rows" + of, {rows}, [&] { return torch::softmax(rows, 1); });
      c.out("columns" + of, torch::softmax(rows.detach(), 0));
      c.gradients("log_columns" + of, {rows}, [&] { return torch::log_softmax(rows, 0); });
    }
    c.out("dtype", torch::softmax(x.detach(), 1, torch::kFloat));
  });
  c.for_layouts({4, 6}, torch::kFloat, [&](Tensor x) {
    x.requires_grad_();
    c.gradients("softmax", {x}, [&] { return x.softmax(1); });
    c.gradients("log_softmax", {x}, [&] { return x.log_softmax(0); });
  });
  auto x = c.leaf({2, 3}, torch::kDouble);
  c.gradcheck([&] { return torch::softmax(x, 1); }, {x});
  c.gradgradcheck([&] { return torch::softmax(x, 1); }, {x});
  c.gradgradcheck([&] { return torch::log_softmax(x, 0); }, {x});
  c.gradients("softmin", {x}, [&] { return F::softmin(x, 1); });
  c.out("infinite", torch::softmax(c.values({-INFINITY, 0, 1}), 0));
  c.out("all_infinite", torch::softmax(c.values({-INFINITY, -INFINITY}), 0));
  c.out("large", torch::log_softmax(c.values({1000, 999, -1000}), 0));
  c.out("0d", torch::softmax(c.randn({}), 0));
  c.out("empty", torch::softmax(c.randn({0, 3}), 1));
  c.throws("dim", [&] { torch::softmax(c.randn({2, 2}), 2); });
  c.throws("integers", [&] { torch::softmax(c.randint(0, 3, {3}), 0); });
}

PARITY_CASE(activations, normalize) {
  auto x = c.leaf({3, 4});
  c.gradients("two", {x}, [&] { return F::normalize(x, F::NormalizeFuncOptions().p(2).dim(1)); });
  c.gradients("one", {x}, [&] { return F::normalize(x, F::NormalizeFuncOptions().p(1).dim(0)); });
}
