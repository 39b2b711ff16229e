// Inputs of the cases: made of raw bytes, so that they depend on neither library's generator or arithmetic.
#include <cmath>
#include <limits>

#include "recorder.h"

namespace parity {
namespace {

uint64_t splitmix64(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

int64_t count(const Shape& shape) {
  int64_t n = 1;
  for (auto d : shape) n *= d;
  return n;
}

// Rounds to 8 significant bits: exact in f16 and bf16, so that converting to them cannot round differently.
double to_half_grid(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(mantissa * 256) / 256, exponent);
}

// A copy where the inputs are.
Tensor put(const Tensor& host) { return host.to(input_device(), host.scalar_type(), false, /*copy=*/true); }

template <typename T>
Tensor from_values(const std::vector<double>& values, const Shape& shape, Dtype dtype) {
  std::vector<T> data(values.size());
  for (size_t i = 0; i < values.size(); ++i) data[i] = static_cast<T>(values[i]);
  return put(torch::from_blob(data.data(), shape, torch::TensorOptions().dtype(dtype)));
}

}  // namespace

torch::Device& input_device() {
  static torch::Device device = torch::kCPU;
  return device;
}

bool is_float(Dtype dtype) {
  return dtype == torch::kFloat || dtype == torch::kDouble || dtype == torch::kHalf || dtype == torch::kBFloat16;
}

double Case::uniform() { return static_cast<double>(splitmix64(state_) >> 11) * 0x1p-53; }

bool& exact_mode() {
  static bool on = false;
  return on;
}

Tensor Case::make(const std::vector<double>& values, const Shape& shape, Dtype dtype) {
  if (exact_mode() && is_float(dtype) && dtype != torch::kDouble) {
    std::vector<double> rounded(values);
    for (auto& v : rounded) v = dtype == torch::kFloat ? static_cast<float>(v) : to_half_grid(v);
    return from_values<double>(rounded, shape, torch::kDouble);
  }
  if (dtype == torch::kFloat) return from_values<float>(values, shape, dtype);
  if (dtype == torch::kDouble) return from_values<double>(values, shape, dtype);
  if (dtype == torch::kLong) return from_values<int64_t>(values, shape, dtype);
  if (dtype == torch::kInt) return from_values<int32_t>(values, shape, dtype);
  if (dtype == torch::kShort) return from_values<int16_t>(values, shape, dtype);
  if (dtype == torch::kChar) return from_values<int8_t>(values, shape, dtype);
  if (dtype == torch::kByte) {
    std::vector<double> positive(values);
    for (auto& v : positive) v = std::fabs(v);
    return from_values<uint8_t>(positive, shape, dtype);
  }
  if (dtype == torch::kBool) {
    std::vector<uint8_t> data(values.size());
    for (size_t i = 0; i < values.size(); ++i) data[i] = values[i] != 0;
    return put(torch::from_blob(data.data(), shape, torch::TensorOptions().dtype(dtype)));
  }
  std::vector<double> grid(values);
  for (auto& v : grid) v = to_half_grid(v);
  return from_values<float>(grid, shape, torch::kFloat).to(dtype);
}

Tensor Case::rand(Shape shape, Dtype dtype, double low, double high) {
  std::vector<double> values(count(shape));
  for (auto& v : values) v = low + (high - low) * uniform();
  return make(values, shape, dtype);
}

Tensor Case::randn(Shape shape, Dtype dtype) {
  std::vector<double> values(count(shape));
  for (auto& v : values) {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    v = radius * std::cos(6.283185307179586 * uniform());
  }
  return make(values, shape, dtype);
}

Tensor Case::randint(int64_t low, int64_t high, Shape shape, Dtype dtype) {
  std::vector<double> values(count(shape));
  for (auto& v : values) v = std::floor(static_cast<double>(low) + static_cast<double>(high - low) * uniform());
  return make(values, shape, dtype);
}

Tensor Case::bools(Shape shape) { return randint(0, 2, shape, torch::kBool); }

Tensor Case::arange(Shape shape, Dtype dtype) {
  std::vector<double> values(count(shape));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return make(values, shape, dtype);
}

Tensor Case::values(std::vector<double> values, Dtype dtype) {
  const Shape shape{static_cast<int64_t>(values.size())};
  return make(values, shape, dtype);
}

Tensor Case::special(Dtype dtype) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  double tiny = 0x1p-130, huge = 0x1.fep127;  // subnormal and large in f32 and bf16
  if (dtype == torch::kHalf) tiny = 0x1p-20, huge = 0x1.fep15;
  if (dtype == torch::kDouble) tiny = 0x1p-1060, huge = 0x1.fep1023;
  return values({nan, inf, -inf, 0.0, -0.0, tiny, -tiny, huge, -huge, 1, -1, 0.5, -0.5, 3, -3, 100, -100}, dtype);
}

Tensor Case::any(Shape shape, Dtype dtype) {
  if (is_float(dtype)) return randn(shape, dtype);
  return dtype == torch::kBool ? bools(shape) : randint(-9, 10, shape, dtype);
}

Tensor Case::leaf(Shape shape, Dtype dtype) { return randn(shape, dtype).requires_grad_(true); }

Tensor Case::leaf_in(double low, double high, Shape shape, Dtype dtype) {
  return rand(shape, dtype, low, high).requires_grad_(true);
}

}  // namespace parity
