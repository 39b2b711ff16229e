#pragma once
// The vectorised form of normal_ in single precision. LibTorch computes log, sine and cosine there with the
// polynomials of Cephes (S. Moshier) at 8 lanes; the same polynomials with the same fused operations give the
// same bits.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "formulas/random.h"

namespace hb::kernels {

inline __attribute__((always_inline)) float fma1(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

/// log(x) for normal x > 0.
inline __attribute__((always_inline)) float cephes_log(float x) {
  int32_t bits;
  std::memcpy(&bits, &x, 4);
  float e = static_cast<float>((bits >> 23) - 126);
  bits = (bits & 0x007fffff) | 0x3f000000;
  float m;  // [0.5, 1)
  std::memcpy(&m, &bits, 4);
  const bool low = m < 0.707106781186547524f;
  e -= low ? 1.0f : 0.0f;
  m = (m - 1.0f) + (low ? m : 0.0f);
  const float z = m * m;
  float y = fma1(7.0376836292e-2f, m, -1.1514610310e-1f);
  y = fma1(y, m, 1.1676998740e-1f);
  y = fma1(y, m, -1.2420140846e-1f);
  y = fma1(y, m, 1.4249322787e-1f);
  y = fma1(y, m, -1.6668057665e-1f);
  y = fma1(y, m, 2.0000714765e-1f);
  y = fma1(y, m, -2.4999993993e-1f);
  y = fma1(y, m, 3.3333331174e-1f);
  y = fma1(y * m, z, e * -2.12194440e-4f);
  y = fma1(z, -0.5f, y);
  return fma1(e, 0.693359375f, m + y);
}

/// Sine and cosine of 0 <= x < 8192.
inline __attribute__((always_inline)) void cephes_sincos(float x, float* sine, float* cosine) {
  const int32_t octant = (static_cast<int32_t>(x * 1.27323954473516f) + 1) & ~1;
  const float j = static_cast<float>(octant);
  // Pi/4 in three parts.
  x = fma1(j, -0.78515625f, x);
  x = fma1(j, -2.4187564849853515625e-4f, x);
  x = fma1(j, -3.77489497744594108e-8f, x);
  const float z = x * x;
  float c = fma1(2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = fma1(c, z, 4.166664568298827e-2f);
  c = fma1(c * z, z, z * -0.5f) + 1.0f;
  float s = fma1(-1.9515295891e-4f, z, 8.3321608736e-3f);
  s = fma1(s, z, -1.6666654611e-1f);
  s = fma1(s * z, x, x);
  const bool swapped = octant & 2;
  const float sv = swapped ? c : s;
  const float cv = swapped ? s : c;
  *sine = (octant & 4) ? -sv : sv;
  *cosine = ((octant - 2) & 4) ? cv : -cv;
}

/// 16 uniform values to 16 normal ones: value i pairs with value i + 8.
inline __attribute__((always_inline)) void box_muller_16(float* data, float mean, float std) {
#pragma omp simd
  for (int i = 0; i < 8; ++i) {
    const float radius = __builtin_sqrtf(-2.0f * cephes_log(1.0f - data[i]));
    float sine, cosine;
    cephes_sincos(6.283185307179586f * data[i + 8], &sine, &cosine);
    data[i] = fma1(radius * cosine, std, mean);
    data[i + 8] = fma1(radius * sine, std, mean);
  }
}

/// The steps of the other types, each rounded to T as LibTorch does: of the first value of a pair, and of the second.
template <typename T>
T box_muller_radius(T u) {
  using C = compute_t<T>;
  return T(std::sqrt(static_cast<C>(T(-2) * T(std::log(static_cast<C>(T(1) - u))))));
}
template <typename T>
T box_muller_angle(T u) {
  return T(static_cast<compute_t<T>>(2.0 * kPi * static_cast<double>(static_cast<compute_t<T>>(u))));
}

inline void box_muller_16(double* data, double mean, double std) {
  for (int i = 0; i < 8; ++i) {
    const double radius = box_muller_radius(data[i]), theta = box_muller_angle(data[i + 8]);
    data[i] = fused(radius * std::cos(theta), std, mean);
    data[i + 8] = fused(radius * std::sin(theta), std, mean);
  }
}

/// The steps for each of the few uniform values that a half type has.
template <typename T>
struct BoxMullerTable {
  static constexpr int kValues = 1 << std::numeric_limits<T>::digits;
  T radius[kValues], cosine[kValues], sine[kValues];

  BoxMullerTable() {
    for (int i = 0; i < kValues; ++i) {
      const T u = static_cast<float>(i) / kValues, theta = box_muller_angle(u);
      radius[i] = box_muller_radius(u);
      cosine[i] = std::cos(static_cast<float>(theta));
      sine[i] = std::sin(static_cast<float>(theta));
    }
  }
  static int index(T u) { return static_cast<int>(static_cast<float>(u) * kValues); }
};

template <typename T>
void box_muller_16(T* data, T mean, T std, const BoxMullerTable<T>& table) {
  for (int i = 0; i < 8; ++i) {
    const T radius = table.radius[table.index(data[i])];
    const int angle = table.index(data[i + 8]);
    data[i] = radius * table.cosine[angle] * std + mean;
    data[i + 8] = radius * table.sine[angle] * std + mean;
  }
}

}  // namespace hb::kernels
