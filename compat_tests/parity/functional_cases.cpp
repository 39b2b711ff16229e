// torch::nn::functional: what has a form of its own there.
#include "parity/case.h"

using torch::Tensor;
namespace F = torch::nn::functional;

PARITY_CASE(functional, padding) {
  auto x = c.leaf({2, 3, 5, 6});
  c.gradients("constant", {x}, [&] { return torch::constant_pad_nd(x, {1, 2, 0, 1}, 0.5); });
  c.gradients("negative", {x}, [&] { return torch::constant_pad_nd(x, {-1, 1}); });
  c.gradients("cut", {x}, [&] { return torch::constant_pad_nd(x, {-1, -1, 0, -1}, 7); });
  c.out("nothing", torch::constant_pad_nd(x.detach(), {0, 0}, 7).add_(1));
  c.out("nothing_kept", x.detach());
  c.gradients("reflect", {x}, [&] { return F::pad(x, F::PadFuncOptions({2, 1, 1, 2}).mode(torch::kReflect)); });
  c.gradients("replicate", {x}, [&] { return F::pad(x, F::PadFuncOptions({2, 1, 1, 2}).mode(torch::kReplicate)); });
  c.gradients("circular", {x}, [&] { return F::pad(x, F::PadFuncOptions({2, 1, 1, 2}).mode(torch::kCircular)); });
  auto line = c.leaf({2, 3, 6});
  c.gradients("reflect1d", {line}, [&] { return torch::reflection_pad1d(line, {2, 1}); });
  c.gradients("replicate1d", {line}, [&] { return torch::replication_pad1d(line, {2, 1}); });
  auto cube = c.leaf({1, 2, 3, 3, 3});
  c.gradients("replicate3d", {cube}, [&] { return torch::replication_pad3d(cube, {1, 1, 1, 0, 0, 1}); });
  c.throws("reflect_too_far", [&] { torch::reflection_pad1d(c.randn({1, 2, 3}), {3, 0}); });
}

PARITY_CASE(functional, interpolate) {
  auto x = c.leaf({2, 3, 4, 5});
  using Options = F::InterpolateFuncOptions;
  const std::vector<int64_t> size{7, 9};
  const std::vector<double> scale{2.0, 2.0};
  c.gradients("nearest", {x}, [&] { return F::interpolate(x, Options().size(size).mode(torch::kNearest)); });
  c.gradients("nearest_scale", {x},
              [&] { return F::interpolate(x, Options().scale_factor(scale).mode(torch::kNearest)); });
  c.gradients("bilinear", {x},
              [&] { return F::interpolate(x, Options().size(size).mode(torch::kBilinear).align_corners(false)); });
  c.gradients("bilinear_corners", {x},
              [&] { return F::interpolate(x, Options().size(size).mode(torch::kBilinear).align_corners(true)); });
  c.gradients("bicubic", {x},
              [&] { return F::interpolate(x, Options().size(size).mode(torch::kBicubic).align_corners(false)); });
  c.gradients("area", {x}, [&] {
    return F::interpolate(x, Options().size(std::vector<int64_t>{2, 3}).mode(torch::kArea));
  });
  auto line = c.leaf({2, 3, 5});
  c.gradients("linear", {line}, [&] {
    return F::interpolate(line, Options().size(std::vector<int64_t>{8}).mode(torch::kLinear).align_corners(false));
  });
}

PARITY_CASE(functional, grid_sample) {
  auto theta = c.leaf({2, 2, 3});
  c.gradients("affine_grid", {theta}, [&] { return F::affine_grid(theta, {2, 3, 4, 5}, false); });
  auto x = c.leaf({2, 3, 5, 5}), grid = c.leaf_in(-1.1, 1.1, {2, 4, 4, 2});
  c.gradients("bilinear", {x, grid}, [&] {
    return F::grid_sample(
        x, grid, F::GridSampleFuncOptions().mode(torch::kBilinear).padding_mode(torch::kZeros).align_corners(false));
  });
}

PARITY_CASE(functional, unfold_fold) {
  auto x = c.leaf({2, 3, 5, 6});
  c.gradients("unfold", {x}, [&] { return F::unfold(x, F::UnfoldFuncOptions({2, 3}).padding(1).stride({2, 1})); });
  auto columns = c.leaf({2, 12, 20});
  c.gradients("fold", {columns}, [&] { return F::fold(columns, F::FoldFuncOptions({5, 6}, {2, 2})); });
}

PARITY_CASE(functional, losses) {
  auto x = c.leaf({3, 4});
  auto y = c.randn({3, 4});
  c.gradients("kl_div_batchmean", {x}, [&] {
    return F::kl_div(x.log_softmax(1), y.softmax(1), F::KLDivFuncOptions().reduction(torch::kBatchMean));
  });
  auto many = c.bools({3, 4}).to(torch::kFloat);
  c.gradients("multilabel_soft_margin", {x}, [&] { return F::multilabel_soft_margin_loss(x, many); });
  auto image = c.leaf({2, 4, 3, 3});
  auto target = c.randint(0, 4, {2, 3, 3});
  c.gradients("cross_entropy_image", {image}, [&] { return F::cross_entropy(image, target); });
  c.gradients("cross_entropy_options", {image}, [&] {
    return F::cross_entropy(image, target, F::CrossEntropyFuncOptions().reduction(torch::kSum).ignore_index(1));
  });
  c.gradients("mse", {x}, [&] { return F::mse_loss(x, y, F::MSELossFuncOptions(torch::kSum)); });
  c.gradients("smooth_l1", {x}, [&] { return F::smooth_l1_loss(x, y); });
  c.gradients("nll", {x}, [&] { return F::nll_loss(x.log_softmax(1), torch::tensor({0, 1, 3})); });
  c.gradients("bce_logits", {x}, [&] { return F::binary_cross_entropy_with_logits(x, many); });
}

PARITY_CASE(functional, grid_sample_bicubic) {
  auto x = c.leaf({2, 3, 5, 6});
  auto grid = c.leaf_in(-1.4, 1.4, {2, 4, 3, 2});
  for (int64_t padding : {0, 1, 2})
    for (bool align : {false, true})
      c.gradients("padding" + std::to_string(padding) + (align ? "_aligned" : ""), {x, grid},
                  [&] { return torch::grid_sampler(x, grid, 2, padding, align); });
  c.throws("3d", [&] { torch::grid_sampler(c.randn({1, 1, 2, 2, 2}), c.randn({1, 1, 1, 1, 3}), 2, 0, false); });
}

// Every rule, for grids that reach outside and ones that meet the border and the middle between elements exactly.
PARITY_CASE(functional, grid_sample_rules) {
  const auto exact = c.values({-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 1.5, -1.5, 2}).view({2, 3, 1, 2});
  for (int64_t channels : {1, 3, 9}) {
    auto x = c.leaf({2, channels, 4, 5}), grid = c.leaf_in(-2.3, 2.3, {2, 3, 5, 2});
    auto cube = c.leaf({2, channels, 3, 4, 2}), places = c.leaf_in(-1.7, 1.7, {2, 2, 3, 3, 3});
    for (int64_t mode : {0, 1})
      for (int64_t padding : {0, 1, 2})
        for (bool align : {false, true})
          c.scope(std::to_string(channels) + "_" + std::to_string(mode) + std::to_string(padding) + (align ? "a" : ""),
                  [&] {
                    c.gradients("2d", {x, grid}, [&] { return torch::grid_sampler(x, grid, mode, padding, align); });
                    c.gradients("3d", {cube, places},
                                [&] { return torch::grid_sampler(cube, places, mode, padding, align); });
                    auto at = exact.clone().requires_grad_();
                    if (mode == 0)
                      c.gradients("exact", {x, at}, [&] { return torch::grid_sampler(x, at, mode, padding, align); });
                  });
  }
}

PARITY_CASE(functional, grid_sample_operands) {
  auto x = c.leaf({2, 3, 4, 5}), grid = c.leaf_in(-1.2, 1.2, {2, 3, 5, 2});
  const auto sample = [](const Tensor& image, const Tensor& at) { return torch::grid_sampler(image, at, 0, 0, false); };
  auto turned = c.leaf({2, 3, 5, 4}), last = c.leaf_in(-1.2, 1.2, {2, 2, 3, 5});
  c.gradients("strided", {turned, last}, [&] { return sample(turned.transpose(2, 3), last.permute({0, 2, 3, 1})); });
  c.gradients("channels_last", {x, grid}, [&] { return sample(x.contiguous(at::MemoryFormat::ChannelsLast), grid); });
  c.layout("result", sample(x.detach().contiguous(at::MemoryFormat::ChannelsLast), grid.detach()));
  c.gradients("input_alone", {x}, [&] { return sample(x, grid.detach()); });
  c.gradients("grid_alone", {grid}, [&] { return sample(x.detach(), grid); });
  c.gradients("grid_of_input", {x}, [&] { return sample(x, x.slice(1, 0, 2).permute({0, 2, 3, 1}).tanh()); });
  c.gradients("no_samples", {x}, [&] { return sample(x, grid.detach().slice(1, 0, 0)); });
  c.gradients("no_images", {x}, [&] { return sample(x.slice(0, 0, 0), grid.detach().slice(0, 0, 0)); });
  auto odd = c.randn({1, 2, 2, 2});
  odd.select(3, 0).fill_(std::numeric_limits<float>::infinity());
  c.out("infinite_element_outside", sample(odd, torch::full({1, 1, 1, 2}, 1.4)));
  c.out("nan_position", torch::grid_sampler(odd, torch::full({1, 1, 1, 2}, std::nan("")), 0, 1, false));
  auto image = c.leaf({1, 2, 3, 4}, torch::kDouble), at = c.leaf_in(-0.9, 0.9, {1, 2, 2, 2}, torch::kDouble);
  c.gradcheck([&] { return sample(image, at); }, {image, at});
}

PARITY_CASE(functional, padding_shapes) {
  for (const char* mode : {"reflect", "replicate", "circular"}) {
    c.scope(mode, [&] {
      auto image = c.leaf({2, 3, 7, 5}), line = c.leaf({3, 9}), cube = c.leaf({1, 2, 4, 3, 5});
      c.gradients("wide", {image}, [&] { return torch::pad(image, {4, 3, 1, 6}, mode); });
      c.gradients("one_side", {image}, [&] { return torch::pad(image, {0, 2, 0, 0}, mode); });
      c.gradients("nothing", {image}, [&] { return torch::pad(image, {0, 0, 0, 0}, mode); });
      c.gradients("unbatched", {image}, [&] { return torch::pad(image[0], {2, 1, 0, 3}, mode); });
      c.gradients("turned", {image}, [&] { return torch::pad(image.transpose(2, 3), {1, 2, 3, 0}, mode); });
      c.gradients("line", {line}, [&] { return torch::pad(line, {8, 5}, mode); });
      c.gradients("cube", {cube}, [&] { return torch::pad(cube, {2, 1, 1, 2, 3, 0}, mode); });
      c.gradients("no_images", {image}, [&] { return torch::pad(image.slice(0, 0, 0), {1, 1, 1, 1}, mode); });
      for (auto dtype : {torch::kDouble, torch::kHalf, torch::kBFloat16}) {
        auto x = c.leaf({2, 3, 6, 5}, dtype);
        c.gradients(parity::dtype_name(dtype), {x}, [&] { return torch::pad(x, {3, 2, 1, 4}, mode); });
      }
      // A convolution leaves its result channels-last in memory.
      auto w = c.leaf({4, 3, 3, 3});
      c.gradients("after_convolution", {image, w}, [&] {
        return torch::conv2d(torch::pad(torch::conv2d(image, w), {1, 2, 2, 1}, mode).slice(1, 1), w.slice(0, 1));
      });
      auto last = image.detach().contiguous(at::MemoryFormat::ChannelsLast).requires_grad_();
      c.gradients("channels_last", {last}, [&] { return torch::pad(last, {1, 2, 2, 1}, mode); });
      c.layout("of_channels_last", torch::pad(last.detach(), {1, 2, 2, 1}, mode));
      const auto last3d = c.randn({2, 3, 4, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast3d);
      c.layout("of_channels_last_3d", torch::pad(last3d, {1, 2, 2, 1, 1, 1}, mode));
      auto small = c.leaf({1, 1, 3, 3}, torch::kDouble);
      c.gradcheck([&] { return torch::pad(small, {2, 1, 1, 2}, mode); }, {small});
      c.gradgradcheck([&] { return torch::pad(small, {2, 1, 1, 2}, mode).pow(3); }, {small});
    });
  }
  auto x = c.leaf({2, 3, 7, 5});
  c.gradients("replicate_cut", {x}, [&] { return torch::replication_pad2d(x, {-1, 2, 1, -2}); });
}

PARITY_CASE(functional, nearest_layouts) {
  auto x = c.leaf({2, 3, 4, 5}), line = c.leaf({2, 3, 7}), cube = c.leaf({1, 2, 3, 4, 2});
  c.gradients("odd", {x}, [&] { return torch::upsample_nearest2d(x, {7, 13}); });
  c.gradients("smaller", {x}, [&] { return torch::upsample_nearest2d(x, {3, 2}); });
  c.gradients("same", {x}, [&] { return torch::upsample_nearest2d(x, {4, 5}); });
  c.gradients("line", {line}, [&] { return torch::upsample_nearest1d(line, {16}); });
  c.gradients("cube", {cube}, [&] { return torch::upsample_nearest3d(cube, {4, 4, 5}); });
  auto last = x.detach().contiguous(at::MemoryFormat::ChannelsLast).requires_grad_();
  c.gradients("channels_last", {last}, [&] { return torch::upsample_nearest2d(last, {8, 10}); });
  c.layout("of_channels_last", torch::upsample_nearest2d(last.detach(), {8, 10}));
  const auto last3d = c.randn({2, 3, 4, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast3d);
  c.layout("of_channels_last_3d", torch::upsample_nearest3d(last3d, {5, 5, 5}));
  auto half = c.leaf({2, 3, 4, 5}, torch::kHalf);
  c.gradients("half", {half}, [&] { return torch::upsample_nearest2d(half, {8, 10}); });
}

PARITY_CASE(functional, columns) {
  auto x = c.leaf({2, 3, 9, 8});
  c.gradients("dilated", {x}, [&] { return torch::im2col(x, {2, 3}, {3, 2}, {1, 2}, {2, 1}); });
  c.gradients("unbatched", {x}, [&] { return torch::im2col(x[1], {3, 3}, {1, 1}, {1, 1}, {1, 1}); });
  c.gradients("turned", {x}, [&] { return torch::im2col(x.transpose(2, 3), {2, 2}, {1, 1}, {0, 1}, {3, 2}); });
  auto columns = c.leaf({2, 18, 32});
  c.gradients("back", {columns}, [&] { return torch::col2im(columns, {8, 8}, {2, 3}, {3, 2}, {1, 2}, {2, 1}); });
  auto y = c.leaf({1, 1, 4, 4}, torch::kDouble);
  c.gradgradcheck([&] { return torch::im2col(y, {2, 2}, {1, 1}, {1, 1}, {2, 1}).pow(3); }, {y});
}
