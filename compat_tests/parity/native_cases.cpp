// The functions below the modules, which give what a gradient is made of as well.
#include <torch/csrc/utils/tensor_flatten.h>

#include "parity/case.h"

using torch::Tensor;

namespace {
void three(parity::Case& c, const std::string& name, const std::tuple<Tensor, Tensor, Tensor>& t) {
  c.out(name + ".y", std::get<0>(t));
  c.out(name + ".mean", std::get<1>(t));
  c.out(name + ".rstd", std::get<2>(t));
}
}  // namespace

PARITY_CASE(native, layer_norm) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    auto x = c.leaf({3, 4, 5}, dtype), w = c.leaf({4, 5}, dtype), b = c.leaf({4, 5}, dtype);
    three(c, "all", torch::native_layer_norm(x, {4, 5}, w, b, 1e-5));
    three(c, "none", torch::native_layer_norm(x, {5}, {}, {}, 1e-5));
    c.gradients("y", {x, w, b}, [&] { return std::get<0>(torch::native_layer_norm(x, {4, 5}, w, b, 1e-5)); });
  });
  three(c, "mixed",
        torch::native_layer_norm(c.randn({2, 5}, torch::kBFloat16), {5}, torch::ones({5}), torch::zeros({5}), 1e-5));
  c.throws("shape", [&] { torch::native_layer_norm(c.randn({2, 5}), {4}, {}, {}, 1e-5); });
}

PARITY_CASE(native, group_norm) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    auto x = c.leaf({2, 6, 3, 2}, dtype), w = c.leaf({6}, dtype), b = c.leaf({6}, dtype);
    three(c, "all", torch::native_group_norm(x, w, b, 2, 6, 6, 3, 1e-5));
    three(c, "none", torch::native_group_norm(x, {}, {}, 2, 6, 6, 2, 1e-3));
    c.gradients("y", {x, w, b}, [&] { return std::get<0>(torch::native_group_norm(x, w, b, 2, 6, 6, 3, 1e-5)); });
  });
}

PARITY_CASE(native, batch_norm) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    auto x = c.leaf({5, 4, 3}, dtype), w = c.leaf({4}, dtype), b = c.leaf({4}, dtype);
    const auto mean = c.randn({4}, dtype), var = c.rand({4}, dtype, 0.5, 2);
    three(c, "eval", torch::native_batch_norm(x, w, b, mean, var, false, 0.1, 1e-5));
    three(c, "train", torch::native_batch_norm(x, w, b, mean, var, true, 0.1, 1e-5));
    c.out("running_mean", mean);
    c.out("running_var", var);
    three(c, "none", torch::native_batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5));
    c.gradients("y", {x, w, b},
                [&] { return std::get<0>(torch::native_batch_norm(x, w, b, {}, {}, true, 0.1, 1e-5)); });
  });
}

PARITY_CASE(native, dropout) {
  auto x = c.leaf({40});
  const auto [y, mask] = torch::native_dropout(x, 0.3, true);
  c.out("y", y);
  c.out("mask", mask);
  c.backward("gradient", y, {x});
  c.out("eval", std::get<0>(torch::native_dropout(x, 0.3, false)));
  c.out("eval_mask", std::get<1>(torch::native_dropout(x, 0.3, false)));
  c.out("everything", std::get<0>(torch::native_dropout(x, 1, true)));
}

PARITY_CASE(native, nll_loss_nd) {
  auto x = c.leaf({3, 4}), image = c.leaf({2, 4, 3, 2}), row = c.leaf({4}), cube = c.leaf({2, 4, 3});
  const auto w = c.rand({4}, torch::kFloat, 0.5, 2);
  c.gradients("rows", {x}, [&] { return torch::nll_loss_nd(x, c.randint(0, 4, {3}), w); });
  c.gradients("image", {image}, [&] { return torch::nll_loss_nd(image, c.randint(0, 4, {2, 3, 2})); });
  c.gradients("row", {row}, [&] { return torch::nll_loss_nd(row, torch::tensor(2)); });
  c.gradients("cube", {cube}, [&] {
    return torch::nll_loss_nd(cube, c.randint(0, 4, {2, 3}), {}, torch::Reduction::Sum);
  });
  c.out("each", torch::nll_loss_nd(x, torch::tensor({0, 3, 1}), {}, torch::Reduction::None, 3));
  c.throws("batch", [&] { torch::nll_loss_nd(x, torch::tensor({0, 1})); });
}

PARITY_CASE(native, rrelu_with_noise) {
  auto x = c.leaf({6, 5});
  Tensor noise = torch::zeros({6, 5});
  c.gradients("train", {x}, [&] { return torch::rrelu_with_noise(x, noise, 0.1, 0.4, true); });
  c.out("noise", noise);
  c.gradients("eval", {x}, [&] { return torch::rrelu_with_noise(x, noise); });
  Tensor y = x.detach().clone();
  c.out("in_place", torch::rrelu_with_noise_(y, noise, 0.1, 0.4, true));
  Tensor g = x.detach().clone();
  c.out("gelu_", torch::gelu_(g));
  c.out("gelu_tanh_", torch::gelu_(g, "tanh"));
}

PARITY_CASE(native, dense_tensors) {
  auto a = c.leaf({2, 3}), b = c.leaf({4}), z = c.leaf({0, 2});
  c.gradients("flat", {a, b}, [&] { return at::flatten_dense_tensors({a, b, z}); });
  c.layout("one", torch::flatten_dense_tensors({a.t()}));
  const auto flat = torch::utils::flatten_dense_tensors({a, b});
  const auto parts = torch::utils::unflatten_dense_tensors(flat, {a, b});
  c.out("a", parts[0]);
  c.out("b", parts[1]);
  c.value("aliases", parts[0].is_alias_of(flat));
  c.throws("none", [&] { at::flatten_dense_tensors({}); });
}

PARITY_CASE(native, random_functions) {
  const auto x = c.randn({12}), i = c.randint(0, 4, {12});
  c.out("uniform", torch::uniform(x, -1, 2));
  c.out("normal_functional", torch::normal_functional(x, 1, 2));
  c.out("exponential", torch::exponential(x, 1.5));
  c.out("geometric", torch::geometric(x, 0.3));
  c.out("log_normal", torch::log_normal(x, 0, 0.5));
  c.out("cauchy", torch::cauchy(x, 1, 2));
  c.out("random", torch::random(i, 3, 9));
  c.out("random_to", torch::random(i, 7));
  c.out("random_all", torch::random(i));
  for (const double p : {0.0, 0.02, 0.4, 0.8, 1.0})
    c.out("binomial" + std::to_string(p),
          torch::binomial(c.randint(0, 100, {50}).to(torch::kDouble), torch::full({50}, p, torch::kDouble)));
  c.out("binomial_float", torch::binomial(c.randint(20, 100, {20}).to(torch::kFloat), c.rand({20})));
  c.throws("binomial_integers", [&] { torch::binomial(c.randint(0, 9, {3}), c.rand({3})); });
  c.throws("exponential_rate", [&] { torch::exponential(x, -1); });
}
