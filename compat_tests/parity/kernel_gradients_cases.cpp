// Gradients that custom functions ask for by the names of LibTorch's kernels.
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/zeros.h>

#include "parity/case.h"

using torch::Tensor;
using Mask3 = std::array<bool, 3>;

namespace {
void three(parity::Case& c, const std::string& name, const std::tuple<Tensor, Tensor, Tensor>& t) {
  const Tensor all[3] = {std::get<0>(t), std::get<1>(t), std::get<2>(t)};
  for (int i = 0; i < 3; ++i) {
    c.value(name + std::to_string(i) + " defined", all[i].defined());
    if (all[i].defined()) c.out(name + std::to_string(i), all[i].detach());
  }
}
Tensor sum_of(const std::tuple<Tensor, Tensor, Tensor>& t) {
  return std::get<0>(t).pow(2).sum() + std::get<1>(t).pow(2).sum() + std::get<2>(t).pow(2).sum();
}
}  // namespace

PARITY_CASE(kernel_gradients, convolution) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    const Tensor x = c.randn({2, 4, 7, 6}, dtype), w = c.randn({6, 2, 3, 2}, dtype), g = c.randn({2, 6, 4, 5}, dtype);
    three(c, "grouped",
          at::convolution_backward(g, x, w, at::IntArrayRef({6}), {2, 1}, {1, 0}, {1, 1}, false, {0, 0}, 2,
                                   Mask3{true, true, true}));
    three(c, "without input",
          at::convolution_backward(g, x, w, std::nullopt, {2, 1}, {1, 0}, {1, 1}, false, {0, 0}, 2,
                                   {false, true, false}));
  });
  const Tensor x = c.randn({2, 3, 5}), w = c.randn({3, 4, 3}), g = c.randn({2, 4, 10});
  three(
      c, "transposed",
      torch::convolution_backward(g, x, w, at::IntArrayRef({4}), {2}, {1}, {1}, true, {1}, 1, Mask3{true, true, true}));
  c.out("forward", at::_convolution(x, c.randn({4, 3, 3}), c.randn({4}), {1}, {1}, {1}, false, {0}, 1, false, false,
                                    false, false));
}

PARITY_CASE(kernel_gradients, convolution_twice) {
  const Tensor x = c.leaf({2, 2, 5, 5}, torch::kDouble), w = c.leaf({3, 2, 3, 3}, torch::kDouble),
               g = c.leaf({2, 3, 5, 5}, torch::kDouble);
  c.gradients("y", {x, w, g}, [&] {
    return sum_of(at::convolution_backward(g, x, w, at::IntArrayRef({3}), {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1,
                                           Mask3{true, true, true}));
  });
}

PARITY_CASE(kernel_gradients, layer_norm) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    const Tensor x = c.leaf({3, 4, 5}, dtype), w = c.leaf({4, 5}, dtype), b = c.leaf({4, 5}, dtype),
                 g = c.leaf({3, 4, 5}, dtype);
    const auto [y, mean, rstd] = torch::native_layer_norm(x.detach(), {4, 5}, w.detach(), b.detach(), 1e-3);
    const auto all = [&, m = mean, r = rstd] {
      return at::native_layer_norm_backward(g, x, {4, 5}, m, r, w, b, Mask3{true, true, true});
    };
    three(c, "all", all());
    three(c, "input alone",
          at::native_layer_norm_backward(g, x, {4, 5}, mean, rstd, std::nullopt, std::nullopt, {true, false, false}));
    c.gradients("twice", {x, w, g}, [&] { return sum_of(all()); });
  });
}

PARITY_CASE(kernel_gradients, group_norm) {
  const Tensor x = c.randn({2, 6, 3, 2}), w = c.randn({6}), b = c.randn({6}), g = c.randn({2, 6, 3, 2});
  const auto [y, mean, rstd] = torch::native_group_norm(x, w, b, 2, 6, 6, 3, 1e-5);
  three(c, "all", at::native_group_norm_backward(g, x, mean, rstd, w, 2, 6, 6, 3, Mask3{true, true, true}));
  three(c, "no weight",
        at::native_group_norm_backward(g, x, mean, rstd, std::nullopt, 2, 6, 6, 3, {true, false, false}));
}

PARITY_CASE(kernel_gradients, batch_norm) {
  const Tensor x = c.randn({5, 4, 3}), w = c.randn({4}), b = c.randn({4}), g = c.randn({5, 4, 3});
  const Tensor mean = c.randn({4}), var = c.rand({4}, torch::kFloat, 0.5, 2);
  const auto [y, m, r] = torch::native_batch_norm(x, w, b, {}, {}, true, 0.1, 1e-5);
  three(c, "train", at::native_batch_norm_backward(g, x, w, {}, {}, m, r, true, 1e-5, Mask3{true, true, true}));
  three(c, "eval", at::native_batch_norm_backward(g, x, w, mean, var, {}, {}, false, 1e-5, Mask3{true, true, true}));
}

PARITY_CASE(kernel_gradients, softmax) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    const Tensor x = c.randn({3, 5}, dtype), g = c.randn({3, 5}, dtype);
    const Tensor p = at::_softmax(x, 1, false), q = at::_log_softmax(x, 0, false);
    c.out("softmax", p);
    c.out("log_softmax", q);
    c.out("softmax gradient", at::_softmax_backward_data(g, p, 1, dtype));
    c.out("log_softmax gradient", torch::_log_softmax_backward_data(g, q, 0, dtype));
  });
}

PARITY_CASE(kernel_gradients, losses) {
  const Tensor x = c.randn({4, 3}), t = c.randn({4, 3}), one = c.randn({}), each = c.randn({4, 3});
  for (const int64_t reduction : {0, 1, 2}) {
    const Tensor& g = reduction == 0 ? each : one;
    const std::string name = std::to_string(reduction);
    c.out("mse" + name, torch::mse_loss_backward(g, x, t, reduction));
    c.out("smooth_l1" + name, torch::smooth_l1_loss_backward(g, x, t, reduction, 0.7));
    c.out("huber" + name, torch::huber_loss_backward(g, x, t, reduction, 0.7));
    c.out("bce" + name, at::binary_cross_entropy_backward(g, x.sigmoid(), t.sigmoid(),
                                                          c.rand({4, 3}, torch::kFloat, 0, 1), reduction));
  }
  const Tensor leaf = c.leaf({4, 3}, torch::kDouble), g = c.leaf({}, torch::kDouble);
  c.gradients("twice", {leaf, g}, [&] { return torch::mse_loss_backward(g, leaf, t.to(torch::kDouble), 1); });
}

PARITY_CASE(kernel_gradients, activations) {
  c.for_dtypes({torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
    const Tensor x = c.randn({4, 6}, dtype), g = c.randn({4, 6}, dtype);
    c.out("elu", at::elu_backward(g, 1.3, 1.1, 0.9, false, x));
    c.out("elu of the result", at::elu_backward(g, 1.3, 1.1, 0.9, true, at::elu(x, 1.3, 1.1, 0.9)));
    c.out("softplus", at::softplus_backward(g, x, 2, 1));
    c.out("hardtanh", at::hardtanh_backward(g, x, -0.5, 0.7));
    c.out("softshrink", at::softshrink_backward(g, x, 0.4));
    c.out("hardshrink", at::hardshrink_backward(g, x, 0.4));
    c.out("glu", at::glu_backward(c.randn({4, 3}, dtype), x, 1));
    c.out("logit", at::logit_backward(g, x.sigmoid(), 0.2));
    c.out("dropout", at::native_dropout_backward(g, x > 0, 2.0));
  });
}

PARITY_CASE(kernel_gradients, embedding_and_parts) {
  const Tensor indices = c.randint(0, 5, {3, 4}, torch::kLong);
  c.out("embedding", at::embedding_dense_backward(c.randn({3, 4, 2}), indices, 6, -1, false));
  c.out("embedding with padding", at::embedding_dense_backward(c.randn({3, 4, 2}), indices, 6, 2, true));
  c.out("select", at::select_backward(c.randn({2, 4}), {2, 3, 4}, 1, 2));
  c.out("slice", at::slice_backward(c.randn({2, 2, 4}), {2, 5, 4}, 1, 1, 5, 2));
}

PARITY_CASE(kernel_gradients, pooling) {
  const Tensor x = c.randn({2, 3, 6, 7});
  const auto [y, indices] = at::max_pool2d_with_indices(x, {2, 3}, {2, 2}, {0, 1});
  c.out("max", at::max_pool2d_with_indices_backward(c.randn(y.sizes().vec()), x, {2, 3}, {2, 2}, {0, 1}, {1, 1}, false,
                                                    indices));
  const auto [z, places] = at::adaptive_max_pool2d(x, {3, 2});
  c.out("adaptive max", at::adaptive_max_pool2d_backward(c.randn(z.sizes().vec()), x, places));
  c.out("avg", at::avg_pool2d_backward(c.randn({2, 3, 3, 4}), x, {2, 2}, {2, 2}, {0, 1}, false, false, std::nullopt));
  c.out("adaptive avg", at::_adaptive_avg_pool2d(x, {2, 3}));
  c.out("adaptive avg gradient", at::_adaptive_avg_pool2d_backward(c.randn({2, 3, 2, 3}), x));
}

PARITY_CASE(kernel_gradients, resampling) {
  const Tensor g = c.randn({2, 3, 6, 8});
  c.out("nearest", at::upsample_nearest2d_backward(g, {6, 8}, {2, 3, 3, 5}));
  c.out("bilinear", at::upsample_bilinear2d_backward(g, {6, 8}, {2, 3, 3, 5}, true));
  c.out("bicubic", at::upsample_bicubic2d_backward(g, {6, 8}, {2, 3, 3, 5}, false));
  const Tensor x = c.randn({2, 3, 4, 5}), grid = c.rand({2, 6, 8, 2}, torch::kFloat, -1, 1);
  const auto [dx, dgrid] = at::grid_sampler_2d_backward(g, x, grid, 0, 0, false, {true, true});
  c.out("grid_sampler input", dx);
  c.out("grid_sampler grid", dgrid);
}

PARITY_CASE(kernel_gradients, headers_of_one_function) {
  c.out("zeros", at::zeros({2, 3}));  // from <ATen/ops/zeros.h>
}

PARITY_CASE(kernel_gradients, refusals) {
  const Tensor x = c.randn({2, 3, 5, 5}), w = c.randn({4, 3, 3, 3});
  c.throws("shape of grad_output", [&] {
    at::convolution_backward(c.randn({2, 4, 9, 9}), x, w, std::nullopt, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1,
                             Mask3{true, true, true});
  });
  c.throws("layer norm", [&] {
    at::native_layer_norm_backward(x, x, {7}, x, x, std::nullopt, std::nullopt, Mask3{true, false, false});
  });
  c.throws("half_to_float", [&] { at::_softmax(c.randn({3}, torch::kDouble), 0, true); });
}
