#include <halfbridge/ops.h>
#include <halfbridge/ops/nn.h>

#include "declarations.h"

namespace hb::layer_diff::replay {

namespace {

template <size_t D>
Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias, const Arguments& o,
                const std::vector<int64_t>& padding) {
  const auto stride = o.integers("stride", D), dilation = o.integers("dilation", D);
  const int64_t groups = o.integer("groups");
  if constexpr (D == 1) return hb::conv1d(x, weight, bias, stride, padding, dilation, groups);
  if constexpr (D == 2) return hb::conv2d(x, weight, bias, stride, padding, dilation, groups);
  if constexpr (D == 3) return hb::conv3d(x, weight, bias, stride, padding, dilation, groups);
}

// What 'same' and 'valid' add before and after each dimension, the last one first, as `pad` takes it.
template <size_t D>
std::vector<int64_t> pads(const Arguments& o, const Tensor& weight) {
  std::vector<int64_t> amounts;
  const bool is_word = o.at("padding").type == Value::Type::word;
  const auto given = is_word ? std::vector<int64_t>(D, 0) : o.integers("padding", D);
  const auto dilation = o.integers("dilation", D);
  for (size_t i = D; i-- > 0;) {
    const int64_t total =
        o.word("padding") == "same" ? dilation[i] * (weight.size(static_cast<int64_t>(i) + 2) - 1) : 2 * given[i];
    amounts.push_back(total / 2);
    amounts.push_back(total - total / 2);
  }
  return amounts;
}

template <size_t D>
Tensors conv(Run& run) {
  const Arguments& o = run.args;
  const Tensor weight = run.operand("weight", 1), bias = run.operand("bias", 2);
  HB_CHECK(weight.defined(), "[replay] the weight of this convolution is not in the trace");
  const std::string mode = o.word("padding_mode");
  const bool zeros = mode.empty() || mode == "zeros";
  if (zeros && o.at("padding").type != Value::Type::word)
    return {convolve<D>(run.input(0), weight, bias, o, o.integers("padding", D))};
  const Tensor padded = hb::pad(run.input(0), pads<D>(o, weight), zeros ? "constant" : mode);
  return {convolve<D>(padded, weight, bias, o, std::vector<int64_t>(D, 0))};
}

template <size_t D>
Tensors conv_transpose(Run& run) {
  constexpr auto function = D == 1 ? hb::conv_transpose1d : D == 2 ? hb::conv_transpose2d : hb::conv_transpose3d;
  const Arguments& o = run.args;
  const Tensor weight = run.operand("weight", 1);
  HB_CHECK(weight.defined(), "[replay] the weight of this convolution is not in the trace");
  return {function(run.input(0), weight, run.operand("bias", 2), o.integers("stride", D), o.integers("padding", D),
                   o.integers("output_padding", D), o.integer("groups"), o.integers("dilation", D))};
}

}  // namespace

const Lines& conv_lines() {
  static const Lines lines = {
      {"conv1d", conv<1>},
      {"conv2d", conv<2>},
      {"conv3d", conv<3>},
      {"conv_transpose1d", conv_transpose<1>},
      {"conv_transpose2d", conv_transpose<2>},
      {"conv_transpose3d", conv_transpose<3>},
  };
  return lines;
}

}  // namespace hb::layer_diff::replay
