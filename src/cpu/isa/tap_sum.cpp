// Weighted sums of a few elements along one dimension.
#include "backend/tap_sum.h"

#include "cpu/isa/vec.h"

namespace hb::cpu::HB_ISA {
namespace {

/// One tap of all results, narrow.
template <class C>
struct Tap {
  std::vector<int32_t> at;
  std::vector<C> weight;
  Tap(const std::vector<int64_t>& index, const std::vector<double>& weights)
      : at(index.begin(), index.end()), weight(weights.begin(), weights.end()) {}
};

/// Whether result i is of elements 2 i and 2 i + 1 alone, as where an image is halved.
template <class C>
bool halves(const std::vector<Tap<C>>& taps, int64_t n) {
  bool all = taps.size() == 2;
  for (int64_t i = 0; all && i < n; ++i) all = taps[0].at[i] == 2 * i && taps[1].at[i] == 2 * i + 1;
  return all;
}
template <class C>
void halve_line(const std::vector<Tap<C>>& taps, int64_t n, C* __restrict out, const C* in) {
  const C *u = taps[0].weight.data(), *v = taps[1].weight.data();
  for (int64_t i = 0; i < n; ++i) out[i] = u[i] * in[2 * i] + v[i] * in[2 * i + 1];
}

// Lines of neighbouring results.
template <class C>
void sum_line(const std::vector<Tap<C>>& taps, int64_t n, C* __restrict out, const C* in) {
  const int32_t *a = taps[0].at.data(), *b = taps[1].at.data();
  const C *u = taps[0].weight.data(), *v = taps[1].weight.data();
  for (int64_t i = 0; i < n; ++i) out[i] = u[i] * in[a[i]] + v[i] * in[b[i]];
  for (size_t t = 2; t < taps.size(); ++t) {
    const int32_t* at = taps[t].at.data();
    const C* w = taps[t].weight.data();
    for (int64_t i = 0; i < n; ++i) out[i] += w[i] * in[at[i]];
  }
}
template <class C>
void spread_line(const std::vector<Tap<C>>& taps, int64_t n, C* __restrict out, const C* in) {
  for (const auto& tap : taps) {
    const int32_t* at = tap.at.data();
    const C* w = tap.weight.data();
    for (int64_t i = 0; i < n; ++i) out[at[i]] += w[i] * in[i];
  }
}

// Results that are rows of `inner` elements.
template <class C>
void sum_rows(const std::vector<Tap<C>>& taps, int64_t n, int64_t inner, C* out, const C* in) {
  for (int64_t i = 0; i < n; ++i) {
    C* __restrict to = out + i * inner;
    const C *a = in + taps[0].at[i] * inner, *b = in + taps[1].at[i] * inner;
    const C u = taps[0].weight[i], v = taps[1].weight[i];
    for (int64_t k = 0; k < inner; ++k) to[k] = u * a[k] + v * b[k];
    for (size_t t = 2; t < taps.size(); ++t) {
      const C *x = in + taps[t].at[i] * inner, w = taps[t].weight[i];
      for (int64_t k = 0; k < inner; ++k) to[k] += w * x[k];
    }
  }
}
template <class C>
void spread_rows(const std::vector<Tap<C>>& taps, int64_t n, int64_t inner, C* out, const C* in) {
  for (int64_t i = 0; i < n; ++i)
    for (const auto& tap : taps) {
      C* __restrict to = out + tap.at[i] * inner;
      const C *x = in + i * inner, w = tap.weight[i];
      for (int64_t k = 0; k < inner; ++k) to[k] += w * x[k];
    }
}

template <class C>
void tap_sum_of(const TapSum& s, bool adjoint, C* out, const C* in) {
  std::vector<Tap<C>> taps;
  for (size_t t = 0; t < s.index.size(); ++t) taps.emplace_back(s.index[t], s.weight[t]);
  const int64_t n = s.rule.out, inner = s.inner, results = n * inner, sources = s.rule.in * inner;
  const auto line = halves(taps, n) ? halve_line<C> : sum_line<C>;
  parallel_for(0, s.outer, std::max<int64_t>(1, kGrain / 4 / results), [&](int64_t from, int64_t to) {
    if (adjoint) std::fill(out + from * sources, out + to * sources, C(0));
    for (int64_t o = from; o < to; ++o) {
      if (adjoint)
        inner == 1 ? spread_line(taps, n, out + o * sources, in + o * results)
                   : spread_rows(taps, n, inner, out + o * sources, in + o * results);
      else
        inner == 1 ? line(taps, n, out + o * results, in + o * sources)
                   : sum_rows(taps, n, inner, out + o * results, in + o * sources);
    }
  });
}

void tap_sum(ScalarType dtype, const TapSum& s, bool adjoint, void* out, const void* in) {
  if (dtype == kDouble)
    tap_sum_of(s, adjoint, static_cast<double*>(out), static_cast<const double*>(in));
  else
    tap_sum_of(s, adjoint, static_cast<float*>(out), static_cast<const float*>(in));
}
HB_REGISTER_ISA(tap_sum_kernel, tap_sum);

}  // namespace
}  // namespace hb::cpu::HB_ISA
