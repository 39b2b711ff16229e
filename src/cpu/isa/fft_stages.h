#pragma once
// Transforms of several lines at once: a lane of a vector belongs to a line, so that every length is computed by whole
// vectors.

#include "cpu/fft_plan.h"
#include "cpu/isa/isa.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int kVectorBytes = kIsaLevel >= 4 ? 64 : 32;
template <class T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

/// Complex numbers of as many lines as there are lanes.
template <class T>
struct LaneComplex {
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
  Vector re, im;

  friend LaneComplex operator+(const LaneComplex& a, const LaneComplex& b) { return {a.re + b.re, a.im + b.im}; }
  friend LaneComplex operator-(const LaneComplex& a, const LaneComplex& b) { return {a.re - b.re, a.im - b.im}; }
  friend LaneComplex operator*(const LaneComplex& a, T s) { return {a.re * s, a.im * s}; }
  friend LaneComplex operator*(const LaneComplex& a, const Complex<T>& w) {
    return {a.re * w.real() - a.im * w.imag(), a.re * w.imag() + a.im * w.real()};
  }
  LaneComplex times_minus_i() const { return {im, -re}; }
};

/// The forward transform of the R numbers of `a`, in place.
template <int R, class T>
inline void butterfly(LaneComplex<T>* a) {
  using Z = LaneComplex<T>;
  if constexpr (R == 2) {
    const Z x = a[0];
    a[0] = x + a[1], a[1] = x - a[1];
  } else if constexpr (R == 3) {
    const Z sum = a[1] + a[2], turn = ((a[1] - a[2]) * T(0.86602540378443864676)).times_minus_i();
    const Z middle = a[0] - sum * T(0.5);
    a[0] = a[0] + sum, a[1] = middle + turn, a[2] = middle - turn;
  } else if constexpr (R == 4) {
    const Z p = a[0] + a[2], q = a[0] - a[2], r = a[1] + a[3], s = (a[1] - a[3]).times_minus_i();
    a[0] = p + r, a[1] = q + s, a[2] = p - r, a[3] = q - s;
  } else {
    static_assert(R == 5);
    constexpr T c1 = T(0.30901699437494742410), c2 = T(-0.80901699437494742410);
    constexpr T s1 = T(0.95105651629515357212), s2 = T(0.58778525229247312917);
    const Z p = a[1] + a[4], q = a[2] + a[3], r = a[1] - a[4], s = a[2] - a[3];
    const Z m1 = a[0] + p * c1 + q * c2, m2 = a[0] + p * c2 + q * c1;
    const Z t1 = (r * s1 + s * s2).times_minus_i(), t2 = (r * s2 - s * s1).times_minus_i();
    a[0] = a[0] + p + q;
    a[1] = m1 + t1, a[2] = m2 + t2, a[3] = m2 - t2, a[4] = m1 - t1;
  }
}

/// One stage from x to y; `stride` transforms lie side by side.
template <int R, class T>
void run_stage(const LaneComplex<T>* x, LaneComplex<T>* y, const typename FftPlan<T>::Stage& stage, int64_t stride) {
  const int64_t parts = stage.length / R;
  for (int64_t p = 0; p < parts; ++p) {
    const Complex<T>* w = stage.twiddles.data() + p * (R - 1);
    for (int64_t q = 0; q < stride; ++q) {
      LaneComplex<T> a[R];
      for (int j = 0; j < R; ++j) a[j] = x[q + stride * (p + j * parts)];
      butterfly<R>(a);
      LaneComplex<T>* to = y + q + stride * R * p;
      to[0] = a[0];
      for (int k = 1; k < R; ++k) to[stride * k] = a[k] * w[k - 1];
    }
  }
}

/// Any radix, by the definition.
template <class T>
void run_other_stage(const LaneComplex<T>* x, LaneComplex<T>* y, const typename FftPlan<T>::Stage& stage,
                     int64_t stride) {
  const int64_t radix = stage.radix, parts = stage.length / radix;
  for (int64_t p = 0; p < parts; ++p) {
    const Complex<T>* w = stage.twiddles.data() + p * (radix - 1);
    for (int64_t q = 0; q < stride; ++q) {
      const LaneComplex<T>* from = x + q + stride * p;
      LaneComplex<T>* to = y + q + stride * radix * p;
      for (int64_t k = 0; k < radix; ++k) {
        LaneComplex<T> sum = from[0];
        for (int64_t j = 1; j < radix; ++j) sum = sum + from[stride * parts * j] * stage.roots[j * k % radix];
        to[stride * k] = k ? sum * w[k - 1] : sum;
      }
    }
  }
}

/// Forward transforms in x, by way of y; returns where the result is.
template <class T>
LaneComplex<T>* run_stages(const FftPlan<T>& plan, LaneComplex<T>* x, LaneComplex<T>* y) {
  int64_t stride = 1;
  for (const auto& stage : plan.stages) {
    switch (stage.radix) {
      case 2:
        run_stage<2>(x, y, stage, stride);
        break;
      case 3:
        run_stage<3>(x, y, stage, stride);
        break;
      case 4:
        run_stage<4>(x, y, stage, stride);
        break;
      case 5:
        run_stage<5>(x, y, stage, stride);
        break;
      default:
        run_other_stage(x, y, stage, stride);
    }
    stride *= stage.radix;
    std::swap(x, y);
  }
  return x;
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
