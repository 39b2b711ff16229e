#include "parity/modules.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;

PARITY_CASE(module_vision, padding) {
  parity::module(c, "reflection1d", nn::ReflectionPad1d(2), c.leaf({2, 3, 5}));
  parity::module(c, "reflection2d", nn::ReflectionPad2d(nn::ReflectionPad2dOptions({1, 2, 0, 1})),
                 c.leaf({2, 3, 4, 5}));
  parity::module(c, "replication1d", nn::ReplicationPad1d(2), c.leaf({2, 3, 5}));
  parity::module(c, "replication2d", nn::ReplicationPad2d(nn::ReplicationPad2dOptions({1, 2, 0, 1})),
                 c.leaf({2, 3, 4, 5}));
  parity::module(c, "replication3d", nn::ReplicationPad3d(1), c.leaf({1, 2, 3, 4, 3}));
  parity::module(c, "zero2d", nn::ZeroPad2d(nn::ZeroPad2dOptions({1, 2, -1, 1})), c.leaf({2, 3, 4, 5}));
  parity::module(c, "constant1d", nn::ConstantPad1d(2, 3.5), c.leaf({2, 3, 5}));
  parity::module(c, "constant3d", nn::ConstantPad3d(1, -1), c.leaf({1, 2, 3, 4, 3}));
  auto x = c.leaf({2, 3, 4, 5});
  c.gradients("pad", {x}, [&] { return F::pad(x, F::PadFuncOptions({1, 2, 3, 0}).value(0.5)); });
  c.gradients("pad_reflect", {x}, [&] { return F::pad(x, F::PadFuncOptions({1, 2, 3, 0}).mode(torch::kReflect)); });
  c.gradients("pad_circular", {x}, [&] { return F::pad(x, F::PadFuncOptions({1, 2, 3, 0}).mode(torch::kCircular)); });
  c.throws("reflect_too_far", [&] { F::pad(x, F::PadFuncOptions({5, 0}).mode(torch::kReflect)); });
}

PARITY_CASE(module_vision, upsample) {
  using Sizes = std::vector<int64_t>;
  using Scales = std::vector<double>;
  parity::module(c, "nearest", nn::Upsample(nn::UpsampleOptions().scale_factor(Scales{2, 3})), c.leaf({2, 3, 4, 5}));
  parity::module(c, "nearest_size", nn::Upsample(nn::UpsampleOptions().size(Sizes{7, 3})), c.leaf({2, 3, 4, 5}));
  parity::module(
      c, "bilinear",
      nn::Upsample(nn::UpsampleOptions().scale_factor(Scales{2, 1.5}).mode(torch::kBilinear).align_corners(false)),
      c.leaf({2, 3, 4, 5}));
  parity::module(c, "bilinear_aligned",
                 nn::Upsample(nn::UpsampleOptions().size(Sizes{7, 9}).mode(torch::kBilinear).align_corners(true)),
                 c.leaf({2, 3, 4, 5}));
  parity::module(
      c, "bicubic",
      nn::Upsample(nn::UpsampleOptions().scale_factor(Scales{2, 2}).mode(torch::kBicubic).align_corners(false)),
      c.leaf({1, 2, 4, 5}));
  parity::module(c, "linear",
                 nn::Upsample(nn::UpsampleOptions().scale_factor(Scales{2}).mode(torch::kLinear).align_corners(false)),
                 c.leaf({2, 3, 5}));
  parity::module(
      c, "trilinear",
      nn::Upsample(nn::UpsampleOptions().scale_factor(Scales{2, 2, 2}).mode(torch::kTrilinear).align_corners(false)),
      c.leaf({1, 2, 3, 2, 3}));
  auto x = c.leaf({2, 3, 6, 5});
  c.gradients("area", {x}, [&] {
    return F::interpolate(x, F::InterpolateFuncOptions().size(Sizes{3, 2}).mode(torch::kArea));
  });
  c.throws("neither", [&] { F::interpolate(x); });
}

PARITY_CASE(module_vision, rearranging) {
  parity::module(c, "shuffle", nn::PixelShuffle(2), c.leaf({2, 8, 3, 4}));
  parity::module(c, "unshuffle", nn::PixelUnshuffle(2), c.leaf({2, 2, 4, 6}));
  parity::module(c, "unfold", nn::Unfold(nn::UnfoldOptions({2, 3}).padding(1).stride({1, 2})), c.leaf({2, 3, 5, 6}));
  parity::module(c, "fold", nn::Fold(nn::FoldOptions({4, 5}, {2, 2})), c.leaf({2, 12, 12}));
}

PARITY_CASE(module_vision, grid) {
  auto x = c.leaf({2, 3, 4, 5}), theta = c.leaf({2, 2, 3});
  c.gradients("affine_grid", {theta}, [&] { return F::affine_grid(theta, {2, 3, 6, 4}, false); });
  auto grid = c.leaf_in(-1.2, 1.2, {2, 3, 4, 2});
  c.gradients("bilinear", {x, grid},
              [&] { return F::grid_sample(x, grid, F::GridSampleFuncOptions().align_corners(true)); });
  c.gradients("nearest_border", {x}, [&] {
    return F::grid_sample(
        x, grid.detach(),
        F::GridSampleFuncOptions().mode(torch::kNearest).padding_mode(torch::kBorder).align_corners(false));
  });
}
