#include <halfbridge/ops.h>
#include <halfbridge/ops/nn.h>

#include <halfbridge/bridge/nn/pooling.h>

#include "declarations.h"

namespace hb::layer_diff::replay {

namespace F = hb::bridge::nn::functional;

namespace {

// Sizes of an adaptive pooling; None keeps the input's.
std::vector<int64_t> output_size(const Run& run, size_t dims) {
  const Value& value = run.args.at("output_size");
  std::vector<int64_t> size;
  HB_CHECK(value.type != Value::Type::list || !value.items.empty(), "[replay] expected an output_size, got []");
  for (size_t i = 0; i < dims; ++i) {
    const Value& item = value.type == Value::Type::list ? value.items.at(std::min(i, value.items.size() - 1)) : value;
    size.push_back(item.is_none() ? run.input(0).size(static_cast<int64_t>(i) - static_cast<int64_t>(dims))
                                  : whole("output_size", item.number));
  }
  return size;
}

template <size_t D>
Tensors max_pool(Run& run) {
  constexpr auto pool = D == 1 ? hb::max_pool1d : D == 2 ? hb::max_pool2d : hb::max_pool3d;
  const Arguments& o = run.args;
  return {pool(run.input(0), o.integers("kernel_size", D), o.integers("stride", D), o.integers("padding", D),
               o.integers("dilation", D), o.flag("ceil_mode"))};
}

template <size_t D>
Tensors avg_pool(Run& run) {
  const Arguments& o = run.args;
  const Tensor& x = run.input(0);
  const auto kernel = o.integers("kernel_size", D), stride = o.integers("stride", D),
             padding = o.integers("padding", D);
  const bool ceil = o.flag("ceil_mode"), count = o.flag("count_include_pad");
  if constexpr (D == 1) return {hb::avg_pool1d(x, kernel, stride, padding, ceil, count)};
  std::optional<int64_t> divisor;
  if (o.has("divisor_override")) divisor = o.integer("divisor_override");
  if constexpr (D == 2) return {hb::avg_pool2d(x, kernel, stride, padding, ceil, count, divisor)};
  return {hb::avg_pool3d(x, kernel, stride, padding, ceil, count, divisor)};
}

template <size_t D>
Tensors adaptive_avg_pool(Run& run) {
  constexpr auto pool = D == 1 ? hb::adaptive_avg_pool1d : D == 2 ? hb::adaptive_avg_pool2d : hb::adaptive_avg_pool3d;
  return {pool(run.input(0), output_size(run, D))};
}

template <size_t D>
Tensors adaptive_max_pool(Run& run) {
  constexpr auto pool = D == 1 ? hb::adaptive_max_pool1d : D == 2 ? hb::adaptive_max_pool2d : hb::adaptive_max_pool3d;
  return {std::get<0>(pool(run.input(0), output_size(run, D)))};
}

template <size_t D>
Tensors lp_pool(Run& run) {
  const Arguments& o = run.args;
  const auto kernel = o.integers("kernel_size", D);
  bridge::nn::LPPoolOptions<D> options(o.number("norm_type"), kernel);
  const auto stride = o.integers("stride", D);
  options.stride(stride.empty() ? kernel : stride).ceil_mode(o.flag("ceil_mode"));
  if constexpr (D == 1) return {F::lp_pool1d(run.input(0), options)};
  if constexpr (D == 2) return {F::lp_pool2d(run.input(0), options)};
  if constexpr (D == 3) return {F::lp_pool3d(run.input(0), options)};
}

}  // namespace

const Lines& pooling_lines() {
  static const Lines lines = {
      {"max_pool1d", max_pool<1>},
      {"max_pool2d", max_pool<2>},
      {"max_pool3d", max_pool<3>},
      {"avg_pool1d", avg_pool<1>},
      {"avg_pool2d", avg_pool<2>},
      {"avg_pool3d", avg_pool<3>},
      {"adaptive_avg_pool1d", adaptive_avg_pool<1>},
      {"adaptive_avg_pool2d", adaptive_avg_pool<2>},
      {"adaptive_avg_pool3d", adaptive_avg_pool<3>},
      {"adaptive_max_pool1d", adaptive_max_pool<1>},
      {"adaptive_max_pool2d", adaptive_max_pool<2>},
      {"adaptive_max_pool3d", adaptive_max_pool<3>},
      {"lp_pool1d", lp_pool<1>},
      {"lp_pool2d", lp_pool<2>},
      {"lp_pool3d", lp_pool<3>},
  };
  return lines;
}

}  // namespace hb::layer_diff::replay
