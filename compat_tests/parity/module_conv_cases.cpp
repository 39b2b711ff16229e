#include "parity/modules.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;

PARITY_CASE(module_conv, conv1d) {
  parity::module(c, "plain", nn::Conv1d(3, 4, 3), c.leaf({2, 3, 9}));
  parity::module(c, "all",
                 nn::Conv1d(nn::Conv1dOptions(4, 6, 3).stride(2).padding(1).dilation(2).groups(2).bias(false)),
                 c.leaf({2, 4, 11}));
  parity::module(c, "same", nn::Conv1d(nn::Conv1dOptions(3, 4, 4).padding(torch::kSame)), c.leaf({2, 3, 9}));
  parity::module(c, "valid", nn::Conv1d(nn::Conv1dOptions(3, 4, 4).padding(torch::kValid)), c.leaf({2, 3, 9}));
  parity::module(c, "unbatched", nn::Conv1d(3, 4, 3), c.leaf({3, 9}));
}

PARITY_CASE(module_conv, conv2d) {
  parity::module(c, "plain", nn::Conv2d(3, 4, 3), c.leaf({2, 3, 7, 8}));
  parity::module(
      c, "all",
      nn::Conv2d(nn::Conv2dOptions(4, 6, {3, 2}).stride({2, 1}).padding({1, 2}).dilation({1, 2}).groups(2).bias(false)),
      c.leaf({2, 4, 9, 8}));
  parity::module(c, "reflect", nn::Conv2d(nn::Conv2dOptions(3, 4, 3).padding({1, 2}).padding_mode(torch::kReflect)),
                 c.leaf({2, 3, 6, 7}));
  parity::module(c, "replicate", nn::Conv2d(nn::Conv2dOptions(3, 4, 3).padding({1, 2}).padding_mode(torch::kReplicate)),
                 c.leaf({2, 3, 6, 7}));
  parity::module(c, "circular", nn::Conv2d(nn::Conv2dOptions(3, 4, 3).padding({1, 2}).padding_mode(torch::kCircular)),
                 c.leaf({2, 3, 6, 7}));
  parity::module(c, "same", nn::Conv2d(nn::Conv2dOptions(3, 4, {4, 3}).padding(torch::kSame)), c.leaf({2, 3, 6, 7}));
  parity::module(c, "depthwise", nn::Conv2d(nn::Conv2dOptions(4, 4, 3).groups(4)), c.leaf({2, 4, 6, 7}));
  c.throws("bad_groups", [&] { nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(2)); });
  c.throws("bad_channels", [&] { nn::Conv2d(3, 4, 3)->forward(c.randn({1, 2, 5, 5})); });
  c.throws("same_with_stride", [&] { nn::Conv2d(nn::Conv2dOptions(3, 4, 3).stride(2).padding(torch::kSame)); });
}

PARITY_CASE(module_conv, conv3d) {
  parity::module(c, "plain", nn::Conv3d(2, 3, 2), c.leaf({2, 2, 4, 5, 4}));
  parity::module(c, "all", nn::Conv3d(nn::Conv3dOptions(2, 4, {2, 3, 2}).stride({1, 2, 1}).padding(1).groups(2)),
                 c.leaf({1, 2, 4, 5, 4}));
}

PARITY_CASE(module_conv, conv_transpose) {
  parity::module(c, "1d",
                 nn::ConvTranspose1d(nn::ConvTranspose1dOptions(3, 4, 3).stride(2).padding(1).output_padding(1)),
                 c.leaf({2, 3, 5}));
  parity::module(c, "2d", nn::ConvTranspose2d(3, 4, 3), c.leaf({2, 3, 4, 5}));
  parity::module(c, "2d_all",
                 nn::ConvTranspose2d(nn::ConvTranspose2dOptions(4, 6, {3, 2})
                                         .stride({2, 1})
                                         .padding({1, 0})
                                         .output_padding({1, 0})
                                         .groups(2)
                                         .dilation({1, 2})
                                         .bias(false)),
                 c.leaf({2, 4, 4, 5}));
  parity::module(c, "3d", nn::ConvTranspose3d(nn::ConvTranspose3dOptions(2, 3, 2).stride(2)), c.leaf({1, 2, 3, 3, 2}));
  c.scope("output_size", [&] {
    nn::ConvTranspose2d up(nn::ConvTranspose2dOptions(2, 3, 3).stride(2).padding(1));
    auto x = c.randn({1, 2, 4, 4});
    std::vector<int64_t> size{8, 7};
    c.out("y", up->forward(x, torch::IntArrayRef(size)));
  });
}

PARITY_CASE(module_conv, functional) {
  auto x = c.leaf({2, 4, 6, 5}), w = c.leaf({6, 2, 3, 3}), b = c.leaf({6});
  c.gradients("conv2d", {x, w, b},
              [&] { return F::conv2d(x, w, F::Conv2dFuncOptions().bias(b).stride(2).padding(1).groups(2)); });
  c.gradients("conv2d_same", {x, w, b},
              [&] { return F::conv2d(x, w, F::Conv2dFuncOptions().bias(b).padding(torch::kSame).groups(2)); });
  auto x1 = c.leaf({2, 4, 9}), w1 = c.leaf({4, 3, 3});
  c.gradients("conv_transpose1d", {x1, w1},
              [&] { return F::conv_transpose1d(x1, w1, F::ConvTranspose1dFuncOptions().stride(2)); });
  auto x3 = c.leaf({1, 2, 4, 4, 4}), w3 = c.leaf({3, 2, 2, 2, 2});
  c.gradients("conv3d", {x3, w3}, [&] { return F::conv3d(x3, w3); });
}
