#pragma once
// Transforms of several lines at once: a lane of a vector belongs to a line, so that every length is computed by whole
// vectors.

#include "cpu/fft_plan.h"
#include "cpu/isa/lanes.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Complex numbers of as many lines as there are lanes.
template <class T>
struct LaneComplex {
  Vector<T> re, im;

  friend LaneComplex operator+(const LaneComplex& a, const LaneComplex& b) { return {a.re + b.re, a.im + b.im}; }
  friend LaneComplex operator-(const LaneComplex& a, const LaneComplex& b) { return {a.re - b.re, a.im - b.im}; }
  friend LaneComplex operator*(const LaneComplex& a, T s) { return {a.re * s, a.im * s}; }
  friend LaneComplex operator*(const LaneComplex& a, const Complex<T>& w) {
    return {a.re * w.real() - a.im * w.imag(), a.re * w.imag() + a.im * w.real()};
  }
  LaneComplex times_minus_i() const { return {im, -re}; }
  /// With its parts in each other's place: a backward transform is a forward one of such numbers.
  LaneComplex swapped() const { return {im, re}; }
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
  } else if constexpr (R == 8) {
    constexpr T c = T(0.70710678118654752440);
    Z even[4] = {a[0] + a[4], a[1] + a[5], a[2] + a[6], a[3] + a[7]};
    const Z p = a[1] - a[5], q = a[3] - a[7];
    Z odd[4] = {a[0] - a[4], (p + p.times_minus_i()) * c, (a[2] - a[6]).times_minus_i(), (q.times_minus_i() - q) * c};
    butterfly<4>(even), butterfly<4>(odd);
    for (int k = 0; k < 4; ++k) a[2 * k] = even[k], a[2 * k + 1] = odd[k];
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

/// Part p of a stage from x to y; `stride` transforms lie side by side. The first part's factors are one.
template <int R, bool first, class T>
void run_part(const LaneComplex<T>* x, LaneComplex<T>* y, const typename FftPlan<T>::Stage& stage, int64_t stride,
              int64_t p) {
  const int64_t apart = stride * (stage.length / R);
  const Complex<T>* w = stage.twiddles.data() + p * (R - 1);
  for (int64_t q = 0; q < stride; ++q) {
    LaneComplex<T> a[R];
    for (int j = 0; j < R; ++j) a[j] = x[q + stride * p + j * apart];
    butterfly<R>(a);
    LaneComplex<T>* to = y + q + stride * R * p;
    to[0] = a[0];
    for (int k = 1; k < R; ++k) to[stride * k] = first ? a[k] : a[k] * w[k - 1];
  }
}
template <int R, class T>
void run_stage(const LaneComplex<T>* x, LaneComplex<T>* y, const typename FftPlan<T>::Stage& stage, int64_t stride) {
  run_part<R, true>(x, y, stage, stride, 0);
  for (int64_t p = 1; p < stage.length / R; ++p) run_part<R, false>(x, y, stage, stride, p);
}

/// Any odd radix: of two numbers as far from the first on either side, the sum meets cosines and the difference sines.
template <class T>
void run_other_stage(const LaneComplex<T>* x, LaneComplex<T>* y, const typename FftPlan<T>::Stage& stage,
                     int64_t stride) {
  using Z = LaneComplex<T>;
  const int64_t radix = stage.radix, parts = stage.length / radix, apart = stride * parts;
  Z sums[kLargestFftFactor / 2 + 1], differences[kLargestFftFactor / 2 + 1];
  for (int64_t p = 0; p < parts; ++p) {
    const Complex<T>* w = stage.twiddles.data() + p * (radix - 1);
    for (int64_t q = 0; q < stride; ++q) {
      const Z* from = x + q + stride * p;
      Z* to = y + q + stride * radix * p;
      const Z a = from[0];
      Z total = a;
      for (int64_t j = 1; j <= radix / 2; ++j) {
        const Z u = from[apart * j], v = from[apart * (radix - j)];
        sums[j] = u + v, differences[j] = u - v;
        total = total + sums[j];
      }
      to[0] = total;
      for (int64_t k = 1; k <= radix / 2; ++k) {
        Z even = a, odd = {};
        for (int64_t j = 1, turn = k; j <= radix / 2; ++j, turn += k) {
          if (turn >= radix) turn -= radix;
          even = even + sums[j] * stage.roots[turn].real(), odd = odd + differences[j] * stage.roots[turn].imag();
        }
        const Z turned = odd.times_minus_i();
        const Z up = even - turned, down = even + turned;
        to[stride * k] = p ? up * w[k - 1] : up, to[stride * (radix - k)] = p ? down * w[radix - k - 1] : down;
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
      case 8:
        run_stage<8>(x, y, stage, stride);
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
