// Windows of signal processing.
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

namespace hb {

namespace {

constexpr double kTwoPi = 6.28318530717958647692;

/// f(i, n): the values of positions i of a symmetric window of n + 1 values.
template <class F>
Tensor window(const char* name, int64_t length, bool periodic, const TensorOptions& options, F f) {
  HB_CHECK(length >= 0, "[", name, "] requires non-negative window_length, got window_length=", length);
  const ScalarType t = options.dtype();
  HB_CHECK(is_floating_type(t), "[", name, "] expected a floating point dtype, got ", t);
  if (length <= 1) return ones({length}, options);
  NoGradGuard no_grad;
  // Half types are computed in float, as every function is.
  const ScalarType computed = is_half_type(t) ? kFloat : t;
  const Tensor i = arange(length, TensorOptions().dtype(computed).device(options.device_opt()));
  const Tensor out = f(i, static_cast<double>(periodic ? length : length - 1)).to(t);
  out.requires_grad_(options.requires_grad());
  return out;
}

}  // namespace

Tensor hann_window(int64_t window_length, bool periodic, const TensorOptions& options) {
  return window("hann_window", window_length, periodic, options,
                [](const Tensor& i, double n) { return cos(i * (kTwoPi / n)) * -0.5 + 0.5; });
}
Tensor hamming_window(int64_t window_length, bool periodic, double alpha, double beta, const TensorOptions& options) {
  return window("hamming_window", window_length, periodic, options,
                [=](const Tensor& i, double n) { return cos(i * (kTwoPi / n)) * -beta + alpha; });
}
Tensor blackman_window(int64_t window_length, bool periodic, const TensorOptions& options) {
  return window("blackman_window", window_length, periodic, options, [](const Tensor& i, double n) {
    return cos(i * (2 * kTwoPi / n)) * 0.08 - cos(i * (kTwoPi / n)) * 0.5 + 0.42;
  });
}
Tensor bartlett_window(int64_t window_length, bool periodic, const TensorOptions& options) {
  return window("bartlett_window", window_length, periodic, options,
                [](const Tensor& i, double n) { return 1 - abs(i * (2 / n) - 1); });
}
Tensor kaiser_window(int64_t window_length, bool periodic, double beta, const TensorOptions& options) {
  return window("kaiser_window", window_length, periodic, options, [=](const Tensor& i, double n) {
    const Tensor place = i * (2 / n) - 1;  // from -1 to 1
    return i0(sqrt((1 - place * place).clamp_min(0)) * beta) / i0(scalar_tensor(beta, i.options()));
  });
}

}  // namespace hb
