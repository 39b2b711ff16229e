#include "kernels/softmax.h"

#include <vector>

#include "cpu/isa/vec.h"

namespace hb::cpu::HB_ISA {
namespace {

template <class T>
void softmax_row(const T* __restrict in, T* __restrict out, int64_t n, bool log, compute_t<T>* __restrict buffer) {
  using C = compute_t<T>;
  const C top = max_over<C>(n, [=](int64_t i) { return widen(in[i]); });
  if (log) {
    const C sum = sum_over<C>(n, [=](int64_t i) { return exp_of(widen(in[i]) - top); });
    const C shift = std::log(sum);
    for (int64_t i = 0; i < n; ++i) out[i] = T(widen(in[i]) - top - shift);
    return;
  }
  for (int64_t i = 0; i < n; ++i) buffer[i] = exp_of(widen(in[i]) - top);
  const C scale = C(1) / sum_over<C>(n, [=](int64_t i) { return buffer[i]; });
  for (int64_t i = 0; i < n; ++i) out[i] = T(buffer[i] * scale);
}

template <class T>
void softmax_row_backward(const T* __restrict grad, const T* __restrict y, T* __restrict out, int64_t n, bool log) {
  using C = compute_t<T>;
  if (log) {
    const C sum = sum_over<C>(n, [=](int64_t i) { return widen(grad[i]); });
    for (int64_t i = 0; i < n; ++i) out[i] = T(widen(grad[i]) - exp_of(widen(y[i])) * sum);
  } else {
    const C sum = sum_over<C>(n, [=](int64_t i) { return widen(grad[i]) * widen(y[i]); });
    for (int64_t i = 0; i < n; ++i) out[i] = T(widen(y[i]) * (widen(grad[i]) - sum));
  }
}

constexpr int64_t kBlock = 64;

// `width` neighbouring columns at once, each of n values `inner` apart.
template <class T>
void softmax_columns(const T* in, T* out, int64_t n, int64_t inner, int64_t width, bool log) {
  using C = compute_t<T>;
  C top[kBlock], sum[kBlock] = {};
  std::fill(top, top + kBlock, -std::numeric_limits<C>::infinity());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < width; ++j) {
      const C x = widen(in[i * inner + j]);
      top[j] = x > top[j] ? x : top[j];
    }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < width; ++j) sum[j] += exp_of(widen(in[i * inner + j]) - top[j]);
  for (int64_t j = 0; j < width; ++j) sum[j] = log ? std::log(sum[j]) : C(1) / sum[j];
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < width; ++j) {
      const C x = widen(in[i * inner + j]) - top[j];
      out[i * inner + j] = T(log ? x - sum[j] : exp_of(x) * sum[j]);
    }
}

template <class T>
void softmax_columns_backward(const T* grad, const T* y, T* out, int64_t n, int64_t inner, int64_t width, bool log) {
  using C = compute_t<T>;
  C sum[kBlock] = {};
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < width; ++j) sum[j] += widen(grad[i * inner + j]) * (log ? C(1) : widen(y[i * inner + j]));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < width; ++j) {
      const C g = widen(grad[i * inner + j]), v = widen(y[i * inner + j]);
      out[i * inner + j] = T(log ? g - exp_of(v) * sum[j] : v * (g - sum[j]));
    }
}

template <class F>
void over_columns(const SoftmaxShape& s, const F& f) {
  const int64_t blocks = (s.inner + kBlock - 1) / kBlock;
  const int64_t cost = std::max<int64_t>(1, s.n * std::min(kBlock, s.inner));
  parallel_for(0, s.outer * blocks, std::max<int64_t>(1, kGrain / 8 / cost), [&](int64_t from, int64_t to) {
    for (int64_t b = from; b < to; ++b) {
      const int64_t first = (b % blocks) * kBlock;
      f((b / blocks) * s.n * s.inner + first, std::min(kBlock, s.inner - first));
    }
  });
}

void softmax(ScalarType dtype, const SoftmaxShape& s, bool log, void* out_data, const void* in_data) {
  HB_FLOATING_SWITCH("softmax", dtype, [&](auto type) {
    using T = decltype(type);
    const auto* in = static_cast<const T*>(in_data);
    auto* out = static_cast<T*>(out_data);
    if (s.inner > 1)
      return over_columns(
          s, [&](int64_t at, int64_t width) { softmax_columns(in + at, out + at, s.n, s.inner, width, log); });
    parallel_for(0, s.outer, std::max<int64_t>(1, kGrain / 8 / std::max<int64_t>(1, s.n)),
                 [&](int64_t from, int64_t to) {
                   std::vector<compute_t<T>> buffer(log ? 0 : s.n);
                   for (int64_t r = from; r < to; ++r)
                     softmax_row(in + r * s.n, out + r * s.n, s.n, log, buffer.data());
                 });
  });
}
HB_REGISTER_ISA(softmax_kernel, softmax);

void softmax_backward(ScalarType dtype, const SoftmaxShape& s, bool log, void* grad_in, const void* grad_data,
                      const void* out_data) {
  HB_FLOATING_SWITCH("softmax_backward", dtype, [&](auto type) {
    using T = decltype(type);
    const auto *grad = static_cast<const T*>(grad_data), *y = static_cast<const T*>(out_data);
    auto* out = static_cast<T*>(grad_in);
    if (s.inner > 1)
      return over_columns(s, [&](int64_t at, int64_t width) {
        softmax_columns_backward(grad + at, y + at, out + at, s.n, s.inner, width, log);
      });
    parallel_for(0, s.outer, std::max<int64_t>(1, kGrain / 8 / std::max<int64_t>(1, s.n)),
                 [&](int64_t from, int64_t to) {
                   for (int64_t r = from; r < to; ++r)
                     softmax_row_backward(grad + r * s.n, y + r * s.n, out + r * s.n, s.n, log);
                 });
  });
}
HB_REGISTER_ISA(softmax_backward_kernel, softmax_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
