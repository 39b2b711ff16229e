#include "sweep.h"

#define F HB_SWEEP

namespace sweep {
namespace {

std::vector<Row> unary() {
  return {
      {"neg", kNumbers, {grid}, F(-x[0])},
      {"abs", kNumbers, {grid}, F(x[0].abs())},
      {"sign", kNumbers, {grid}, F(x[0].sign())},
      {"square", kNumbers, {grid}, F(x[0].square())},
      {"exp", kFloats, {grid}, F(x[0].exp())},
      {"expm1", kFloats, {grid}, F(x[0].expm1())},
      {"log", kFloats, {positive}, F(x[0].log())},
      {"log1p", kFloats, {positive}, F(x[0].log1p())},
      {"log2", kFloats, {positive}, F(x[0].log2())},
      {"sqrt", kFloats, {positive}, F(x[0].sqrt())},
      {"rsqrt", kFloats, {positive}, F(x[0].rsqrt())},
      {"reciprocal", kFloats, {positive}, F(x[0].reciprocal())},
      {"sin", kFloats, {grid}, F(x[0].sin())},
      {"cos", kFloats, {grid}, F(x[0].cos())},
      {"tan", kFloats, {grid}, F(x[0].tan())},
      {"asin", kFloats, {positive}, F(x[0].asin())},
      {"atan", kFloats, {grid}, F(x[0].atan())},
      {"sinh", kFloats, {grid}, F(x[0].sinh())},
      {"tanh", kFloats, {grid}, F(x[0].tanh())},
      {"atanh", kFloats, {positive}, F(x[0].atanh())},
      {"erf", kFloats, {grid}, F(x[0].erf())},
      {"erfc", kFloats, {grid}, F(x[0].erfc())},
      {"erfinv", kFloats, {positive}, F(x[0].erfinv())},
      {"lgamma", kFloats, {positive}, F(x[0].lgamma())},
      {"digamma", kFloats, {positive}, F(x[0].digamma())},
      {"i0", kFloats, {grid}, F(torch::i0(x[0]))},
      {"floor", kFloats, {grid}, F(x[0].floor())},
      {"round", kFloats, {grid}, F(x[0].round())},
      {"frac", kFloats, {grid}, F(x[0].frac())},
      {"isnan", kNumbers, {grid}, F(x[0].isnan())},
      {"isfinite", kNumbers, {grid}, F(x[0].isfinite())},
      {"nan_to_num", kFloats, {grid}, F(x[0].nan_to_num())},
      {"logical_not", kNumbers, {grid}, F(x[0].logical_not())},
      {"bitwise_not", kInt64, {grid}, F(x[0].bitwise_not())},
      {"clamp", kNumbers, {grid}, F(x[0].clamp(-1, 1))},
      {"clamp_min", kNumbers, {grid}, F(x[0].clamp_min(0))},
      {"logit", kFloats, {positive}, F(x[0].logit())},
  };
}

std::vector<Row> activations() {
  return {
      {"relu", kNumbers, {grid}, F(torch::relu(x[0]))},
      {"sigmoid", kFloats, {grid}, F(torch::sigmoid(x[0]))},
      {"gelu", kFloats, {grid}, F(torch::gelu(x[0]))},
      {"gelu_tanh", kFloats, {grid}, F(torch::gelu(x[0], "tanh"))},
      {"silu", kFloats, {grid}, F(torch::silu(x[0]))},
      {"mish", kFloats, {grid}, F(torch::mish(x[0]))},
      {"elu", kFloats, {grid}, F(torch::elu(x[0]))},
      {"selu", kFloats, {grid}, F(torch::selu(x[0]))},
      {"celu", kFloats, {grid}, F(torch::celu(x[0]))},
      {"leaky_relu", kFloats, {grid}, F(torch::leaky_relu(x[0]))},
      {"hardtanh", kFloats, {grid}, F(torch::hardtanh(x[0]))},
      {"hardswish", kFloats, {grid}, F(torch::hardswish(x[0]))},
      {"hardsigmoid", kFloats, {grid}, F(torch::hardsigmoid(x[0]))},
      {"softplus", kFloats, {grid}, F(torch::softplus(x[0]))},
      {"log_sigmoid", kFloats, {grid}, F(torch::log_sigmoid(x[0]))},
      {"hardshrink", kFloats, {grid}, F(torch::hardshrink(x[0]))},
      {"softshrink", kFloats, {grid}, F(torch::softshrink(x[0]))},
      {"threshold", kFloats, {grid}, F(torch::threshold(x[0], 0.1, 20))},
      {"glu", kFloats, {grid}, F(torch::glu(x[0], -1))},
      {"prelu", kFloats, {grid, row}, F(torch::prelu(x[0], x[1]))},
  };
}

std::vector<Row> binary() {
  return {
      {"add", kNumbers, {grid, grid}, F(x[0] + x[1])},
      {"add_number", kNumbers, {grid}, F(x[0] + 2)},
      {"sub", kNumbers, {grid, grid}, F(x[0] - x[1])},
      {"mul", kNumbers, {grid, grid}, F(x[0] * x[1])},
      {"mul_number", kNumbers, {grid}, F(x[0] * 3)},
      {"div", kNumbers, {grid, positive}, F(x[0] / x[1])},
      {"div_number", kNumbers, {grid}, F(x[0] / 3)},
      // LibTorch has no gradient of it.
      {"floor_divide", kNumbers, {grid, positive}, F((torch::NoGradGuard(), x[0].floor_divide(x[1])))},
      {"div_trunc", kNumbers, {grid, positive}, F(torch::div(x[0], x[1], "trunc"))},
      {"fmod", kNumbers, {grid, positive}, F(torch::fmod(x[0], x[1]))},
      {"fmod_number", kNumbers, {grid}, F(torch::fmod(x[0], 3))},
      {"remainder", kNumbers, {grid, positive}, F(torch::remainder(x[0], x[1]))},
      {"remainder_number", kNumbers, {grid}, F(torch::remainder(x[0], 3))},
      {"pow", kFloats, {positive, grid}, F(torch::pow(x[0], x[1]))},
      {"pow_number", kFloats, {positive}, F(torch::pow(x[0], 2.5))},
      {"pow_3", kNumbers, {grid}, F(torch::pow(x[0], 3))},
      {"atan2", kFloats, {grid, grid}, F(torch::atan2(x[0], x[1]))},
      {"hypot", kFloats, {grid, grid}, F(torch::hypot(x[0], x[1]))},
      {"logaddexp", kFloats, {grid, grid}, F(torch::logaddexp(x[0], x[1]))},
      {"xlogy", kFloats, {grid, positive}, F(torch::xlogy(x[0], x[1]))},
      {"copysign", kFloats, {grid, grid}, F(torch::copysign(x[0], x[1]))},
      {"nextafter", kWide, {grid, grid}, F(torch::nextafter(x[0], x[1]).detach())},
      {"heaviside", kNumbers, {grid, grid}, F(torch::heaviside(x[0], x[1]).detach())},
      {"maximum", kNumbers, {grid, grid}, F(torch::maximum(x[0], x[1]))},
      {"fmin", kNumbers, {grid, grid}, F(torch::fmin(x[0], x[1]))},
      {"eq", kNumbers, {grid, grid}, F(x[0] == x[1])},
      {"lt", kNumbers, {grid, grid}, F(x[0] < x[1])},
      {"lt_number", kNumbers, {grid}, F(x[0] < 0.5)},
      {"logical_and", kNumbers, {grid, grid}, F(x[0].logical_and(x[1]))},
      {"bitwise_and", kInt64, {grid, grid}, F(x[0] & x[1])},
      {"shift_left", kInt64, {grid, positive}, F(x[0].bitwise_left_shift(x[1]))},
      {"gcd", kInt64, {grid, grid}, F(torch::gcd(x[0], x[1]))},
      {"mask_and", kF32, {mask, mask}, F(x[0] & x[1])},
      {"lerp", kFloats, {grid, grid}, F(torch::lerp(x[0], x[1], 0.3))},
      {"addcmul", kNumbers, {grid, grid, grid}, F(torch::addcmul(x[0], x[1], x[2]))},
      {"addcdiv", kFloats, {grid, grid, positive}, F(torch::addcdiv(x[0], x[1], x[2]))},
      {"where", kNumbers, {mask, grid, grid}, F(torch::where(x[0], x[1], x[2]))},
      {"masked_fill", kNumbers, {grid, mask}, F(x[0].masked_fill(x[1], 3))},
      {"allclose", kWide, {grid}, F((torch::allclose(x[0], x[0]), x[0]))},
      {"equal", kNumbers, {grid, grid}, F((torch::equal(x[0], x[1]), x[0]))},
      {"equal_self", kNumbers, {grid}, F((torch::equal(x[0], x[0].clone()), x[0]))},
  };
}

// Rows of 32 elements, what each of them shares, and planes of 16 such rows.
Tensor tall(int64_t n, torch::Dtype dtype) { return any({n * n / 32, 32}, dtype); }
Tensor tall_column(int64_t n, torch::Dtype dtype) { return any({n * n / 32, 1}, dtype); }
Tensor stack_of_columns(int64_t n, torch::Dtype dtype) { return any({n * n / 512, 16, 1}, dtype); }
Tensor stack_of_rows(int64_t n, torch::Dtype dtype) { return any({n * n / 512, 1, 32}, dtype); }

std::vector<Row> broadcasts() {
  return {
      {"add_row", kNumbers, {grid, row}, F(x[0] + x[1])},
      {"add_column", kNumbers, {grid, column}, F(x[0] + x[1])},
      {"mul_row", kNumbers, {grid, row}, F(x[0] * x[1])},
      {"mul_column", kNumbers, {grid, column}, F(x[0] * x[1])},
      {"mul_row_short", kNumbers, {tall}, F(x[0] * x[0].select(0, 0))},
      {"mul_column_short", kNumbers, {tall, tall_column}, F(x[0] * x[1])},
      {"outer_short", kNumbers, {stack_of_columns, stack_of_rows}, F(x[0] * x[1])},
      {"row_column", kNumbers, {row, column}, F(x[0] + x[1])},
      {"add_0d", kNumbers, {grid, number}, F(x[0] + x[1])},
      {"add_transposed", kNumbers, {grid, transposed}, F(x[0] + x[1])},
      {"exp_transposed", kFloats, {transposed}, F(x[0].exp())},
      {"exp_slice", kFloats, {grid}, F(x[0].slice(1, 0, x[0].size(1) / 2).exp())},
      {"exp_step", kFloats, {grid}, F(x[0].slice(1, 0, torch::nullopt, 2).exp())},
      {"eq_row_column", kNumbers, {row, column}, F(x[0] == x[1])},
      {"where_row", kNumbers, {mask, row, grid}, F(torch::where(x[0], x[1], x[2]))},
      {"where_number", kNumbers, {mask, grid}, F(torch::where(x[0], x[1], 0))},
      {"div_column_sum", kFloats, {positive}, F(x[0] / x[0].sum(1, true))},
      {"add_channels", kFloats, {images}, F(x[0] + x[0].select(0, 0).select(1, 0).select(1, 0).view({1, 16, 1, 1}))},
      {"add_f32_f64", kF32, {grid}, F(x[0] + torch::ones({1}, on_device(torch::kDouble)))},
      {"mul_i64_f32", kInt64, {grid}, F(x[0] * 0.5)},
  };
}

std::vector<Row> conversions() {
  return {
      {"to_f32", kNumbers, {grid}, F(x[0].to(torch::kFloat))},
      {"to_f64", kNumbers, {grid}, F(x[0].to(torch::kDouble))},
      {"to_bf16", kNumbers, {grid}, F(x[0].to(torch::kBFloat16))},
      {"to_f16", kNumbers, {grid}, F(x[0].to(torch::kHalf))},
      {"to_i64", kNumbers, {grid}, F(x[0].to(torch::kLong))},
      {"to_i32", kNumbers, {grid}, F(x[0].to(torch::kInt))},
      {"to_bool", kNumbers, {grid}, F(x[0].to(torch::kBool))},
      {"to_u8", kNumbers, {positive}, F(x[0].to(torch::kByte))},
      {"mask_to", kNumbers, {mask, number}, F(x[0].to(x[1].scalar_type()))},
  };
}

}  // namespace

std::vector<Row> pointwise_rows() {
  std::vector<Row> all;
  for (auto part : {unary, activations, binary, broadcasts, conversions})
    for (auto& row : part()) all.push_back(row);
  return all;
}

}  // namespace sweep
