// group_norm: a row of (channels, plane) for each group, with a scale and a shift for each channel.
#include "backend/group_norm.h"

#include <vector>

#include "cpu/isa/row_sums.h"
#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

int64_t grain_for(const GroupNorm& p) { return std::max<int64_t>(1, kGrain / 4 / (p.channels * p.plane)); }

/// A parameter as it is computed with; `missing` where it is absent.
template <class C>
std::vector<C> parameter(const GroupNorm& p, const void* data, C missing) {
  const int64_t n = p.groups * p.channels;
  std::vector<C> out(n, missing);
  if (!data) return out;
  HB_FLOATING_SWITCH("group_norm", p.affine_dtype, [&](auto type) {
    const auto* in = static_cast<const decltype(type)*>(data);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<C>(widen(in[i]));
  });
  return out;
}

template <class T>
void forward(const GroupNorm& p, T* y, const T* x, compute_t<T>* mean, compute_t<T>* rstd) {
  using C = compute_t<T>;
  const auto w = parameter<C>(p, p.weight, 1), b = parameter<C>(p, p.bias, 0);
  const int64_t n = p.channels * p.plane, plane = p.plane;
  parallel_for(0, p.batch * p.groups, grain_for(p), [&](int64_t from, int64_t to) {
    RunBuffer<T> buffer(n);
    for (int64_t r = from; r < to; ++r) {
      const C* in = computable(x + r * n, buffer.data(), n);
      C* out = results(y + r * n, buffer.data());
      const C m = sum_of_run(in, n) / static_cast<C>(n);
      const auto square = [](auto d) { return d * d; };
      const C v = sum_in_lanes<C>(
          n, [=](int64_t i) { return square(lanes_at(in + i) - m); }, [=](int64_t i) { return square(in[i] - m); });
      const C scale = C(1) / std::sqrt(v / static_cast<C>(n) + static_cast<C>(p.eps));
      const int64_t first = r % p.groups * p.channels;
      for (int64_t c = 0; c < p.channels; ++c) {
        const C factor = scale * w[first + c], shift = b[first + c];
        const C* from_plane = in + c * plane;
        C* to_plane = out + c * plane;
        HB_INDEPENDENT
        for (int64_t i = 0; i < plane; ++i) to_plane[i] = (from_plane[i] - m) * factor + shift;
      }
      finish(out, y + r * n, n);
      mean[r] = m, rstd[r] = scale;
    }
  });
}

/// What one thread sums for the parameters: (groups * channels) each.
template <class C>
struct ParameterSums {
  std::vector<C> weight, bias;
  explicit ParameterSums(int64_t n) : weight(n), bias(n) {}
};

template <class T>
void backward_row(const GroupNorm& p, int64_t r, T* grad_x, const compute_t<T>* grad, const compute_t<T>* in,
                  compute_t<T> m, compute_t<T> scale, const compute_t<T>* w, compute_t<T>* out,
                  ParameterSums<compute_t<T>>& sums) {
  using C = compute_t<T>;
  const int64_t n = p.channels * p.plane, plane = p.plane, first = r % p.groups * p.channels;
  C a = 0, b = 0;  // sums of the scaled gradient, and of it times the normalised values
  for (int64_t c = 0; c < p.channels; ++c) {
    const C *g = grad + c * plane, *v = in + c * plane;
    const C sum = sum_of_run(g, plane);
    const C product = sum_in_lanes<C>(
                          plane, [=](int64_t i) { return lanes_at(g + i) * (lanes_at(v + i) - m); },
                          [=](int64_t i) { return g[i] * (v[i] - m); }) *
                      scale;
    sums.bias[first + c] += sum, sums.weight[first + c] += product;
    a += sum * w[first + c], b += product * w[first + c];
  }
  if (!grad_x) return;
  const C mean_a = a / static_cast<C>(n), slope = b / static_cast<C>(n) * scale;
  for (int64_t c = 0; c < p.channels; ++c) {
    const C *g = grad + c * plane, *v = in + c * plane, factor = w[first + c];
    C* to = out + c * plane;
    HB_INDEPENDENT
    for (int64_t i = 0; i < plane; ++i) to[i] = (g[i] * factor - mean_a - (v[i] - m) * slope) * scale;
  }
  finish(out, grad_x + r * n, n);
}

template <class C>
void store_sums(const GroupNorm& p, void* to, const std::vector<ParameterSums<C>>& sums,
                std::vector<C> ParameterSums<C>::*which) {
  if (!to) return;
  HB_FLOATING_SWITCH("group_norm_backward", p.affine_dtype, [&](auto type) {
    using T = decltype(type);
    for (int64_t i = 0; i < p.groups * p.channels; ++i) {
      C sum = 0;
      for (const auto& s : sums) sum += (s.*which)[i];
      static_cast<T*>(to)[i] = T(static_cast<compute_t<T>>(sum));
    }
  });
}

template <class T>
void backward(const GroupNorm& p, T* grad_x, void* grad_weight, void* grad_bias, const T* g, const T* x,
              const compute_t<T>* mean, const compute_t<T>* rstd) {
  using C = compute_t<T>;
  const auto w = parameter<C>(p, p.weight, 1);
  const int64_t n = p.channels * p.plane, rows = p.batch * p.groups;
  const int threads = threads_for(rows, grain_for(p));
  std::vector<ParameterSums<C>> sums(threads, ParameterSums<C>(p.groups * p.channels));
  parallel_ranges(0, rows, threads, [&](int64_t from, int64_t to, int thread) {
    RunBuffer<T> wide_g(n), wide_x(n);
    for (int64_t r = from; r < to; ++r) {
      const C *grad = computable(g + r * n, wide_g.data(), n), *in = computable(x + r * n, wide_x.data(), n);
      C* out = grad_x ? results(grad_x + r * n, wide_g.data()) : nullptr;
      backward_row<T>(p, r, grad_x, grad, in, mean[r], rstd[r], w.data(), out, sums[thread]);
    }
  });
  store_sums(p, grad_weight, sums, &ParameterSums<C>::weight);
  store_sums(p, grad_bias, sums, &ParameterSums<C>::bias);
}

void group_norm(const GroupNorm& p, void* y, const void* x, void* mean, void* rstd) {
  HB_FLOATING_SWITCH("group_norm", p.dtype, [&](auto type) {
    using T = decltype(type);
    using C = compute_t<T>;
    forward<T>(p, static_cast<T*>(y), static_cast<const T*>(x), static_cast<C*>(mean), static_cast<C*>(rstd));
  });
}
void group_norm_backward(const GroupNorm& p, void* grad_x, void* grad_weight, void* grad_bias, const void* g,
                         const void* x, const void* mean, const void* rstd) {
  HB_FLOATING_SWITCH("group_norm_backward", p.dtype, [&](auto type) {
    using T = decltype(type);
    using C = compute_t<T>;
    backward<T>(p, static_cast<T*>(grad_x), grad_weight, grad_bias, static_cast<const T*>(g), static_cast<const T*>(x),
                static_cast<const C*>(mean), static_cast<const C*>(rstd));
  });
}
HB_REGISTER_ISA(group_norm_kernel, group_norm);
HB_REGISTER_ISA(group_norm_backward_kernel, group_norm_backward);

}  // namespace
}  // namespace hb::cpu::HB_ISA
