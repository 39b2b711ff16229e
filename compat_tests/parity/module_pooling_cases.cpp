#include "parity/modules.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;

PARITY_CASE(module_pooling, max) {
  parity::module(c, "1d", nn::MaxPool1d(3), c.leaf({2, 3, 10}));
  parity::module(c, "2d", nn::MaxPool2d(2), c.leaf({2, 3, 7, 8}));
  parity::module(
      c, "2d_all",
      nn::MaxPool2d(nn::MaxPool2dOptions({3, 2}).stride({2, 1}).padding({1, 0}).dilation({1, 2}).ceil_mode(true)),
      c.leaf({2, 3, 8, 9}));
  parity::module(c, "2d_unbatched", nn::MaxPool2d(2), c.leaf({3, 6, 6}));
  parity::module(c, "3d", nn::MaxPool3d(2), c.leaf({1, 2, 4, 5, 6}));
  auto [y, i] = nn::MaxPool2d(2)->forward_with_indices(c.randn({1, 2, 4, 6}));
  c.out("values", y);
  c.out("indices", i);
  auto z = F::max_pool1d(c.randn({1, 2, 9}), F::MaxPool1dFuncOptions(2).stride(3));
  c.out("functional", z);
}

PARITY_CASE(module_pooling, average) {
  parity::module(c, "1d", nn::AvgPool1d(nn::AvgPool1dOptions(3).stride(2).padding(1)), c.leaf({2, 3, 10}));
  parity::module(c, "2d", nn::AvgPool2d(2), c.leaf({2, 3, 7, 8}));
  parity::module(
      c, "2d_all",
      nn::AvgPool2d(
          nn::AvgPool2dOptions({3, 2}).stride({2, 1}).padding({1, 0}).ceil_mode(true).count_include_pad(false)),
      c.leaf({2, 3, 8, 9}));
  parity::module(c, "2d_divisor", nn::AvgPool2d(nn::AvgPool2dOptions(2).divisor_override(3)), c.leaf({1, 2, 4, 4}));
  parity::module(c, "3d", nn::AvgPool3d(2), c.leaf({1, 2, 4, 5, 6}));
}

PARITY_CASE(module_pooling, adaptive) {
  parity::module(c, "avg1d", nn::AdaptiveAvgPool1d(4), c.leaf({2, 3, 10}));
  parity::module(c, "avg2d", nn::AdaptiveAvgPool2d(1), c.leaf({2, 3, 5, 6}));
  parity::module(c, "avg2d_sizes", nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({3, 2})), c.leaf({2, 3, 7, 6}));
  parity::module(c, "avg2d_open", nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({torch::nullopt, 2})),
                 c.leaf({2, 3, 7, 6}));
  parity::module(c, "avg3d", nn::AdaptiveAvgPool3d(2), c.leaf({1, 2, 4, 5, 6}));
  parity::module(c, "max1d", nn::AdaptiveMaxPool1d(4), c.leaf({2, 3, 10}));
  parity::module(c, "max2d", nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions({3, 2})), c.leaf({2, 3, 7, 6}));
  parity::module(c, "max3d", nn::AdaptiveMaxPool3d(2), c.leaf({1, 2, 4, 5, 6}));
}

PARITY_CASE(module_pooling, unpool_and_power) {
  auto [y, i] = F::max_pool2d_with_indices(c.randn({1, 2, 5, 6}), F::MaxPool2dFuncOptions(2));
  c.out("unpool", nn::MaxUnpool2d(2)->forward(y, i));
  c.out("unpool_size", nn::MaxUnpool2d(2)->forward(y, i, std::vector<int64_t>{1, 2, 5, 6}));
  auto [y1, i1] = F::max_pool1d_with_indices(c.randn({1, 2, 6}), F::MaxPool1dFuncOptions(2));
  c.out("unpool1d", nn::MaxUnpool1d(2)->forward(y1, i1));
  parity::module(c, "lp1d", nn::LPPool1d(2, 3), c.leaf_in(0.5, 2, {2, 3, 9}));
  parity::module(c, "lp2d", nn::LPPool2d(nn::LPPool2dOptions(1.5, 2).stride(1)), c.leaf_in(0.5, 2, {2, 3, 5, 5}));
  c.text("unpool_text", parity::text_of(nn::MaxUnpool2d(2)));
}
