// Max, average and adaptive pooling in 1 to 3 dimensions.
#include "parity/case.h"

using torch::Tensor;
using Shape = parity::Shape;

namespace {

void pool(parity::Case& c, const std::string& name, const Shape& shape, const std::function<Tensor(const Tensor&)>& fn,
          bool half = true) {
  c.scope(name, [&] {
    c.for_dtypes(half ? parity::kFloats : parity::Dtypes{torch::kFloat, torch::kDouble}, [&](torch::Dtype dtype) {
      auto x = c.leaf(shape, dtype);
      c.gradients("y", {x}, [&] { return fn(x); });
    });
    auto x = c.leaf(shape, torch::kDouble);
    if (x.numel() <= 80) c.gradcheck([&] { return fn(x); }, {x});
  });
}

}  // namespace

PARITY_CASE(pooling, max_1d) {
  pool(c, "plain", {2, 3, 9}, [](const Tensor& x) { return torch::max_pool1d(x, 2); });
  pool(c, "overlapping", {2, 3, 9}, [](const Tensor& x) { return torch::max_pool1d(x, 3, 1, 1); });
}

PARITY_CASE(pooling, max_2d) {
  pool(c, "plain", {2, 3, 8, 8}, [](const Tensor& x) { return torch::max_pool2d(x, 2); });
  pool(c, "padded", {1, 2, 6, 6}, [](const Tensor& x) { return torch::max_pool2d(x, 3, 2, 1); });
  pool(c, "uneven", {1, 2, 7, 5}, [](const Tensor& x) { return torch::max_pool2d(x, {3, 2}, {2, 1}, {1, 0}); });
  pool(c, "dilated", {1, 2, 8, 8}, [](const Tensor& x) { return torch::max_pool2d(x, 2, 1, 0, 2); });
  pool(c, "ceil", {1, 2, 7, 7}, [](const Tensor& x) { return torch::max_pool2d(x, 2, 2, 0, 1, true); });
  pool(c, "no_batch", {2, 6, 6}, [](const Tensor& x) { return torch::max_pool2d(x, 2); });
  const auto both = torch::max_pool2d_with_indices(c.randn({2, 3, 6, 6}), 2);
  c.out("indices", std::get<1>(both));
  auto x = c.randn({2, 4, 6, 6}).contiguous(torch::MemoryFormat::ChannelsLast).requires_grad_();
  c.gradients("channels_last", {x}, [&] { return torch::max_pool2d(x, 3, 2, 1); });
  c.layout("channels_last_layout", torch::max_pool2d(x, 3, 2, 1));
  auto sliced = c.randn({2, 3, 12, 6}).slice(2, 0, 12, 2).requires_grad_();
  c.gradients("sliced", {sliced}, [&] { return torch::max_pool2d(sliced, 2); });
  auto nan = c.randn({1, 1, 4, 4});
  nan[0][0][1][1] = NAN;
  c.out("nan", torch::max_pool2d(nan, 2));
  c.throws("padding", [&] { torch::max_pool2d(c.randn({1, 1, 4, 4}), 2, 2, 2); });
  c.throws("too_small", [&] { torch::max_pool2d(c.randn({1, 1, 2, 2}), 3); });
  c.throws("rank", [&] { torch::max_pool2d(c.randn({4, 4}), 2); });
}

PARITY_CASE(pooling, max_3d) {
  pool(c, "plain", {1, 2, 4, 4, 4}, [](const Tensor& x) { return torch::max_pool3d(x, 2); });
  pool(c, "padded", {1, 1, 5, 5, 5}, [](const Tensor& x) { return torch::max_pool3d(x, 3, 2, 1); });
}

PARITY_CASE(pooling, average) {
  pool(c, "1d", {2, 3, 9}, [](const Tensor& x) { return torch::avg_pool1d(x, 3, 2, 1); });
  pool(c, "2d", {2, 3, 8, 8}, [](const Tensor& x) { return torch::avg_pool2d(x, 2); });
  pool(c, "2d_padded", {1, 2, 6, 6}, [](const Tensor& x) { return torch::avg_pool2d(x, 3, 2, 1); });
  pool(c, "2d_without_pad", {1, 2, 6, 6}, [](const Tensor& x) { return torch::avg_pool2d(x, 3, 2, 1, false, false); });
  pool(c, "2d_ceil", {1, 2, 7, 5}, [](const Tensor& x) { return torch::avg_pool2d(x, 2, 2, 0, true); });
  pool(c, "2d_divisor", {1, 2, 6, 6}, [](const Tensor& x) { return torch::avg_pool2d(x, 2, 2, 0, false, true, 3); });
  pool(c, "2d_columns", {2, 3, 8, 5}, [](const Tensor& x) { return torch::avg_pool2d(x, {3, 1}, {2, 1}, {1, 0}); });
  pool(c, "2d_rows", {2, 3, 5, 8}, [](const Tensor& x) { return torch::avg_pool2d(x, {1, 3}, {1, 2}); });
  pool(c, "2d_every_second_column", {2, 3, 8, 5}, [](const Tensor& x) { return torch::avg_pool2d(x, {3, 1}, 2); });
  pool(c, "2d_single", {2, 3, 4, 5}, [](const Tensor& x) { return torch::avg_pool2d(x, 1); });
  pool(
      c, "3d_depth", {2, 3, 6, 4, 5},
      [](const Tensor& x) {
        return torch::avg_pool3d(x, {3, 1, 1}, 1);
      },
      false);
  pool(
      c, "3d_middle", {2, 3, 4, 6, 5},
      [](const Tensor& x) {
        return torch::avg_pool3d(x, {1, 3, 1}, 1);
      },
      false);
  pool(
      c, "3d", {1, 2, 4, 4, 4}, [](const Tensor& x) { return torch::avg_pool3d(x, 2); }, /*half=*/false);
}

PARITY_CASE(pooling, adaptive) {
  pool(c, "avg1d", {2, 3, 10}, [](const Tensor& x) { return torch::adaptive_avg_pool1d(x, 4); });
  pool(c, "avg2d", {2, 3, 7, 9}, [](const Tensor& x) { return torch::adaptive_avg_pool2d(x, {3, 4}); });
  pool(c, "avg2d_one", {2, 3, 7, 7}, [](const Tensor& x) { return torch::adaptive_avg_pool2d(x, {1, 1}); });
  pool(c, "avg2d_same", {1, 2, 4, 4}, [](const Tensor& x) { return torch::adaptive_avg_pool2d(x, {4, 4}); });
  pool(c, "avg2d_columns", {2, 3, 7, 5}, [](const Tensor& x) { return torch::adaptive_avg_pool2d(x, {3, 5}); });
  pool(c, "avg2d_larger", {1, 2, 3, 3}, [](const Tensor& x) { return torch::adaptive_avg_pool2d(x, {5, 5}); });
  pool(c, "avg3d", {1, 2, 4, 5, 6}, [](const Tensor& x) { return torch::adaptive_avg_pool3d(x, {2, 2, 3}); });
  pool(c, "max1d", {2, 3, 10}, [](const Tensor& x) { return std::get<0>(torch::adaptive_max_pool1d(x, 4)); });
  pool(c, "max2d", {2, 3, 7, 9}, [](const Tensor& x) { return std::get<0>(torch::adaptive_max_pool2d(x, {3, 4})); });
  pool(
      c, "max3d", {1, 2, 4, 5, 6},
      [](const Tensor& x) {
        return std::get<0>(torch::adaptive_max_pool3d(x, {2, 2, 3}));
      },
      /*half=*/false);
}

// Windows that share no element, of few channels and of more than one vector has; some leave elements out.
PARITY_CASE(pooling, separate_windows) {
  for (int64_t channels : {1, 16, 37, 80})
    c.scope(std::to_string(channels), [&] {
      pool(c, "max_halves", {2, channels, 8, 6}, [](const Tensor& x) {
        return std::get<0>(torch::adaptive_max_pool2d(x, {2, 2}));
      });
      pool(
          c, "max_cubes", {1, channels, 4, 4, 2}, [](const Tensor& x) { return torch::max_pool3d(x, 2); },
          /*half=*/false);
      pool(c, "avg_halves", {2, channels, 8, 6}, [](const Tensor& x) { return torch::adaptive_avg_pool2d(x, {2, 2}); });
      pool(c, "max_gaps", {1, channels, 8, 7}, [](const Tensor& x) { return torch::max_pool2d(x, 2, 3); });
      pool(c, "avg_gaps", {1, channels, 8, 7}, [](const Tensor& x) { return torch::avg_pool2d(x, 2, 3); });
      pool(c, "avg_rest", {1, channels, 7, 9}, [](const Tensor& x) { return torch::avg_pool2d(x, 4); });
      pool(c, "avg_border", {1, channels, 6, 6}, [](const Tensor& x) { return torch::avg_pool2d(x, 2, 2, 1); });
    });
}
