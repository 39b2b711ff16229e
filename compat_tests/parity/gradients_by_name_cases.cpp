// More gradients by the names of LibTorch's kernels: losses of classes, distances, parts, paddings, volumes.
#include <ATen/ops/reflection_pad2d_backward.h>

#include <cmath>

#include "parity/case.h"

using torch::Tensor;

PARITY_CASE(gradients_by_name, losses_of_classes) {
  const Tensor x = c.randn({4, 3}), t = c.randint(0, 3, {4}, torch::kLong), w = c.rand({3}, torch::kFloat, 0.5, 2);
  const Tensor image = c.randn({2, 3, 4, 4}), classes = c.randint(0, 3, {2, 4, 4}, torch::kLong);
  const Tensor one = c.randn({}), each = c.randn({4}), pixels = c.randn({2, 4, 4});
  for (const int64_t reduction : {0, 1, 2}) {
    const std::string name = std::to_string(reduction);
    for (const auto& weight : {std::optional<Tensor>(), std::optional<Tensor>(w)}) {
      const auto [loss, total] = at::nll_loss_forward(x, t, weight, reduction, 1);
      c.out("nll" + name, loss);
      c.out("nll total" + name, total);
      const Tensor& g = reduction == 0 ? each : one;
      c.out("nll gradient" + name, at::nll_loss_backward(g, x, t, weight, reduction, 1, total));
      c.out("nll gradient by another total" + name,
            at::nll_loss_backward(g, x, t, weight, reduction, 1, torch::full({}, 5.0)));
      const auto [loss2, total2] = at::nll_loss2d_forward(image, classes, weight, reduction, -100);
      c.out("nll2d" + name, loss2);
      c.out("nll2d total" + name, total2);
      c.layout("nll2d gradient" + name,
               at::nll_loss2d_backward(reduction == 0 ? pixels : one, image, classes, weight, reduction, -100, total2));
      c.out("nll2d gradient values" + name,
            at::nll_loss2d_backward(reduction == 0 ? pixels : one, image, classes, weight, reduction, -100, total2));
    }
    const Tensor& row = reduction == 0 ? each : one;
    c.out("multi_margin" + name, at::multi_margin_loss_backward(row, x, t, 1, 1, w, reduction));
    const Tensor labels = torch::tensor({2, 0, -1, 1, -1, 0, 0, 1, 2, -1, 1, 2}).view({4, 3});
    const auto [margin, is_target] = at::multilabel_margin_loss_forward(x, labels, reduction);
    c.out("multilabel" + name, margin);
    c.out("is_target" + name, is_target);
    c.out("multilabel gradient" + name, at::multilabel_margin_loss_backward(row, x, labels, reduction, is_target));
    const Tensor all = reduction == 0 ? c.randn({4, 3}) : one;
    c.out("soft_margin" + name, at::soft_margin_loss_backward(all, x, x.sign(), reduction));
  }
}

PARITY_CASE(gradients_by_name, more_activations) {
  c.for_dtypes(parity::kFloats, [&](torch::Dtype dtype) {
    const Tensor x = c.randn({4, 6}, dtype), g = c.randn({4, 6}, dtype), w = c.rand({6}, dtype);
    const auto [y, buffer] = at::log_sigmoid_forward(x);
    c.out("log_sigmoid", y);
    c.out("buffer", buffer);
    c.out("log_sigmoid gradient", at::log_sigmoid_backward(g, x, buffer));
    c.out("rrelu", at::rrelu_with_noise_backward(g, x, w.expand({4, 6}), 0.1, 0.3, true, false));
    c.out("rrelu of evaluation", at::rrelu_with_noise_backward(g, x, w.expand({4, 6}), 0.1, 0.3, false, false));
    c.out("prelu", at::_prelu_kernel(x, w));
    const auto [dx, dw] = at::_prelu_kernel_backward(g, x, w);
    c.out("prelu input", dx);
    c.out("prelu weight", dw);
  });
  const Tensor x = c.randn({4, 6}), g = c.randn({4, 6});
  c.out("gelu", at::infinitely_differentiable_gelu_backward(g, x));
  c.value("no history", at::softplus_backward(g, x, 1, 20).requires_grad());
  c.value("history of the gradient", at::softplus_backward(c.leaf({4, 6}), x, 1, 20).requires_grad());
}

PARITY_CASE(gradients_by_name, distances) {
  const Tensor x = c.randn({5, 3}), y = c.randn({4, 3}), g = c.randn({5, 4});
  for (const double p : {0.0, 1.0, 1.5, 2.0, 3.0, double(INFINITY)}) {
    const std::string name = std::to_string(p);
    const Tensor distances = at::_cdist_forward(x, y, p, std::nullopt);
    c.out("cdist" + name, distances);
    c.out("cdist gradient" + name, at::_cdist_backward(g, x, y, p, distances));
    const Tensor pairs = at::_pdist_forward(x, p);
    c.out("pdist" + name, pairs);
    c.out("pdist gradient" + name, at::_pdist_backward(c.randn({10}), x, p, pairs));
  }
}

PARITY_CASE(gradients_by_name, parts) {
  const Tensor x = c.randn({3, 4}), indices = c.randint(0, 5, {3, 4}, torch::kLong);
  c.out("embedding", at::embedding_backward(c.randn({3, 4, 2}), indices, 6, 2, true, false));
  c.out("sparse embedding", at::embedding_backward(c.randn({3, 4, 2}), indices, 6, -1, false, true).to_dense());
  c.out("diagonal", at::diagonal_backward(c.randn({3}), {3, 4}, 1, 0, 1));
  c.out("trace", at::trace_backward(c.randn({}), {3, 4}));
  c.out("unfold", at::unfold_backward(c.randn({3, 3, 2}), {3, 4}, 1, 2, 1));
  c.out("gather", at::gather_backward(c.randn({1, 2}), x, 0, torch::tensor({{0, 2}}), false));
  const Tensor mask = torch::tensor({1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1}).view({3, 4}).to(torch::kBool);
  c.out("masked_select", at::masked_select_backward(c.randn({6}), x, mask));
  c.out("masked_scatter", at::masked_scatter_backward(c.randn({3, 4}), mask, {2, 4}));
  const Tensor places = torch::tensor({0, 2, 1, 0});
  c.out("selecting", at::value_selecting_reduction_backward(c.randn({4}), 0, places, {3, 4}, false));
  c.out("selecting, kept",
        at::value_selecting_reduction_backward(c.randn({1, 4}), 0, places.view({1, 4}), {3, 4}, true));
  c.out("cumprod", at::cumprod_backward(c.randn({3, 4}), x, 1, x.cumprod(1)));
  const auto [values, at_] = x.cummax(1);
  c.out("cummax", at::cummaxmin_backward(c.randn({3, 4}), x, at_, 1));
  const Tensor square = c.randn({3, 3});
  c.out("matrix_exp", at::matrix_exp_backward(square, c.randn({3, 3})));
}

PARITY_CASE(gradients_by_name, volumes) {
  const Tensor x = c.randn({2, 3, 4, 6, 5});
  for (const bool last : {false, true}) {
    const Tensor in = last ? x.contiguous(torch::MemoryFormat::ChannelsLast3d) : x;
    const auto both = [&](const std::string& name, const Tensor& t) {
      c.out((last ? "last " : "") + name, t);
      c.layout((last ? "last layout " : "layout ") + name, t);
    };
    const auto [y, indices] = at::max_pool3d_with_indices(in, {2, 3, 2});
    both("max", at::max_pool3d_with_indices_backward(torch::ones_like(y), in, {2, 3, 2}, {2, 3, 2}, {0, 0, 0},
                                                     {1, 1, 1}, false, indices));
    const auto [z, places] = at::adaptive_max_pool3d(in, {2, 3, 2});
    both("adaptive max", at::adaptive_max_pool3d_backward(torch::ones_like(z), in, places));
    both("avg", at::avg_pool3d_backward(c.randn({2, 3, 2, 3, 2}), in, {2, 2, 2}, {2, 2, 2}, {0, 0, 0}, false, false,
                                        std::nullopt));
    both("adaptive avg", at::_adaptive_avg_pool3d_backward(c.randn({2, 3, 2, 3, 2}), in));
    both("replication 3d", at::replication_pad3d_backward(c.randn({2, 3, 6, 8, 7}), in, {1, 1, 1, 1, 1, 1}));
    both("reflection 3d", at::reflection_pad3d_backward(c.randn({2, 3, 6, 8, 7}), in, {1, 1, 1, 1, 1, 1}));
    const Tensor image =
        last ? c.randn({2, 3, 4, 5}).contiguous(torch::MemoryFormat::ChannelsLast) : c.randn({2, 3, 4, 5});
    both("reflection 2d", at::reflection_pad2d_backward(c.randn({2, 3, 6, 8}), image, {1, 2, 1, 1}));
    both("replication 2d", at::replication_pad2d_backward(c.randn({2, 3, 6, 8}), image, {1, 2, 1, 1}));
    const auto [p, at2] = at::max_pool2d_with_indices(image, {2, 2});
    both("max 2d",
         at::max_pool2d_with_indices_backward(torch::ones_like(p), image, {2, 2}, {2, 2}, {0, 0}, {1, 1}, false, at2));
    const auto [q, at3] = at::adaptive_max_pool2d(image, {2, 2});
    both("adaptive max 2d", at::adaptive_max_pool2d_backward(torch::ones_like(q), image, at3));
    both("avg 2d",
         at::avg_pool2d_backward(c.randn({2, 3, 2, 2}), image, {2, 2}, {2, 2}, {0, 0}, false, true, std::nullopt));
    both("adaptive avg 2d", at::_adaptive_avg_pool2d_backward(c.randn({2, 3, 2, 2}), image));
    const Tensor g2 =
        last ? c.randn({2, 3, 6, 8}).contiguous(torch::MemoryFormat::ChannelsLast) : c.randn({2, 3, 6, 8});
    both("bilinear", at::upsample_bilinear2d_backward(g2, {6, 8}, {2, 3, 3, 5}, true));
    both("bicubic", at::upsample_bicubic2d_backward(g2, {6, 8}, {2, 3, 3, 5}, false));
    both("nearest", at::upsample_nearest2d_backward(g2, {6, 8}, {2, 3, 3, 5}));
    both("nearest exact", at::_upsample_nearest_exact2d_backward(g2, {6, 8}, {2, 3, 3, 5}));
    both("bilinear aa", at::_upsample_bilinear2d_aa_backward(g2, {6, 8}, {2, 3, 9, 13}, false));
    both("bicubic aa", at::_upsample_bicubic2d_aa_backward(g2, {6, 8}, {2, 3, 9, 13}, false));
    const Tensor g3 = c.randn({2, 3, 4, 6, 8});
    const Tensor grad3 = last ? g3.contiguous(torch::MemoryFormat::ChannelsLast3d) : g3;
    both("trilinear", at::upsample_trilinear3d_backward(grad3, {4, 6, 8}, {2, 3, 3, 3, 5}, false));
    both("nearest 3d", at::upsample_nearest3d_backward(grad3, {4, 6, 8}, {2, 3, 3, 3, 5}));
    both("nearest exact 3d", at::_upsample_nearest_exact3d_backward(grad3, {4, 6, 8}, {2, 3, 3, 3, 5}));
    const Tensor grid = c.rand({2, 3, 4, 5, 3}, torch::kFloat, -1, 1);
    const auto [dx, dgrid] =
        at::grid_sampler_3d_backward(c.randn({2, 3, 3, 4, 5}), in, grid, 0, 0, false, {true, true});
    both("grid_sampler input", dx);
    both("grid_sampler grid", dgrid);
  }
  c.out("reflection 1d", at::reflection_pad1d_backward(c.randn({2, 3, 7}), c.randn({2, 3, 4}), {1, 2}));
  c.out("replication 1d", at::replication_pad1d_backward(c.randn({3, 7}), c.randn({3, 4}), {1, 2}));
  c.out("linear", at::upsample_linear1d_backward(c.randn({2, 3, 8}), {8}, {2, 3, 5}, false));
  c.out("nearest 1d", at::upsample_nearest1d_backward(c.randn({2, 3, 8}), {8}, {2, 3, 5}));
  c.out("nearest exact 1d", at::_upsample_nearest_exact1d_backward(c.randn({2, 3, 8}), {8}, {2, 3, 5}));
  c.out("affine grid", at::affine_grid_generator_backward(c.randn({2, 4, 5, 2}), {2, 3, 4, 5}, false));
}

PARITY_CASE(gradients_by_name, in_inference_mode) {
  Tensor x = c.randn({1, 2, 4, 4}), g = c.randn({1, 2, 4, 4});
  const Tensor plain = c.randn({1, 2, 4, 4}), small = c.randn({1, 2, 2, 2});
  const auto compare = [&](const std::string& name, const Tensor& t) {
    c.out(name, t);
    c.value(name + " is of inference", t.is_inference());
    c.value(name + " needs a gradient", t.requires_grad());
  };
  const auto all = [&](const std::string& mode) {
    compare(mode + "elu", at::elu_backward(g, 1, 1, 1, false, x));
    compare(mode + "softplus", at::softplus_backward(g, x, 1, 20));
    compare(mode + "hardtanh", at::hardtanh_backward(g, x, -1, 1));
    compare(mode + "glu", at::glu_backward(g.narrow(1, 0, 1), x, 1));
    compare(mode + "mse", at::mse_loss_backward(g, x, plain, 0));
    compare(mode + "avg_pool", at::avg_pool2d_backward(small, x, {2, 2}, {2, 2}, {0, 0}, false, true, std::nullopt));
    compare(mode + "grid",
            std::get<0>(at::grid_sampler_2d_backward(small, x, small.permute({0, 2, 3, 1}), 0, 0, true, {true, true})));
    compare(mode + "cross_entropy",
            at::binary_cross_entropy_backward(g, x.sigmoid(), plain.sigmoid(), std::nullopt, 0));
  };
  {
    const c10::InferenceMode inference;
    x = x.clone(), g = g.clone();
    all("inside ");
  }
  all("outside ");
  c.throws("saved for a second gradient", [&] { at::mse_loss_backward(g, plain.clone().requires_grad_(), x, 0); });
}

PARITY_CASE(gradients_by_name, into_tensors) {
  const Tensor x = c.randn({4, 6}), g = c.randn({4, 6});
  Tensor out = torch::empty({0});
  c.out("softplus", at::softplus_backward_out(out, g, x, 2, 1));
  c.out("sigmoid", at::sigmoid_backward_out(out, g, x.sigmoid()));
  c.out("mse", at::mse_loss_backward_out(out, g, x, g, 0));
  const Tensor image = c.randn({2, 3, 4, 5});
  Tensor into = torch::empty({0}), second = torch::empty({0});
  c.out("reflection", at::reflection_pad2d_backward_out(into, c.randn({2, 3, 6, 8}), image, {1, 2, 1, 1}));
  c.out("bilinear", at::upsample_bilinear2d_backward_out(into, c.randn({2, 3, 6, 8}), {6, 8}, {2, 3, 3, 5}, true));
  at::log_sigmoid_forward_out(into, second, x);
  c.out("log_sigmoid", into);
  c.throws("history", [&] { at::sigmoid_backward_out(out, c.leaf({4, 6}), x); });
}

PARITY_CASE(gradients_by_name, names_of_nodes) {
  const auto name = [&](const std::string& label, const Tensor& t) { c.text(label, t.grad_fn()->name()); };
  const Tensor x = c.randn({4, 6}), g = c.leaf({4, 6}), t = c.randint(0, 6, {4}, torch::kLong);
  name("softplus", at::softplus_backward(g, x, 1, 20));
  name("hardtanh", at::hardtanh_backward(g, x, -1, 1));
  name("elu", at::elu_backward(g, 1, 1, 1, false, x));
  name("log_sigmoid", at::log_sigmoid_backward(g, x, x.abs().neg().exp()));
  name("mse", at::mse_loss_backward(g, x, x, 0));
  name("nll", at::nll_loss_backward(c.leaf({}), x, t, std::nullopt, 1, -100, torch::full({}, 4.0)));
  name("glu", at::glu_backward(c.leaf({4, 3}), x, 1));
  const Tensor image = c.randn({2, 3, 4, 4});
  name("reflection", at::reflection_pad2d_backward(c.leaf({2, 3, 6, 6}), image, {1, 1, 1, 1}));
  name("bilinear", at::upsample_bilinear2d_backward(c.leaf({2, 3, 8, 8}), {8, 8}, {2, 3, 4, 4}, false));
  name("avg", at::avg_pool2d_backward(c.leaf({2, 3, 2, 2}), image, {2, 2}, {2, 2}, {0, 0}, false, true, std::nullopt));
}
