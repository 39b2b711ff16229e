#pragma once
// The one-dimensional transforms of cpu/winograd.h on vectors of channels, and the matrices between them.

#include "cpu/isa/vec.h"
#include "cpu/winograd.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int kBytes = kIsaLevel >= 4 ? 64 : 32;
typedef float Vec __attribute__((vector_size(kBytes), aligned(4)));
constexpr int64_t kLanes = kBytes / 4, kPanel = 2 * kLanes;
constexpr int kRows = kIsaLevel >= 4 ? 12 : 4, kRowStep = 4;  // rows of a product come in multiples of kRowStep
constexpr int64_t kPoints = kWinogradPoints, kTile = kWinogradTile, kPatch = 6;
// Points ±a and ±b, their squares and cubes, and the products of differences that the weights are divided by.
constexpr float kA = 0.70710678118654752f, kB = 1.41421356237309505f, kA3 = kA * 0.5f, kB3 = kB * 2.0f;
constexpr float kNa = -1.0f / 1.5f, kNb = 1.0f / 6.0f;

inline Vec& at(float* p) { return *reinterpret_cast<Vec*>(p); }
inline const Vec& at(const float* p) { return *reinterpret_cast<const Vec*>(p); }

// A vector of elements of any dtype as floats, and back.
typedef uint16_t Words __attribute__((vector_size(kBytes / 2), aligned(2), may_alias));
typedef uint32_t Bits __attribute__((vector_size(kBytes)));
inline __attribute__((always_inline)) Vec read(const float* p) { return at(p); }
inline __attribute__((always_inline)) Vec read(const Half* p) {
  Vec v;
  load(p, reinterpret_cast<float*>(&v), kLanes);
  return v;
}
inline __attribute__((always_inline)) Vec read(const BFloat16* p) {
  return reinterpret_cast<Vec>(__builtin_convertvector(*reinterpret_cast<const Words*>(p), Bits) << 16);
}
inline __attribute__((always_inline)) void write(float* p, const Vec& v) { at(p) = v; }
inline __attribute__((always_inline)) void write(Half* p, const Vec& v) {
  store(reinterpret_cast<const float*>(&v), p, kLanes);
}
inline __attribute__((always_inline)) void write(BFloat16* p, const Vec& v) {
  const Bits bits = reinterpret_cast<Bits>(v), odd = bits >> 16 & 1u;
  const Bits rounded = v == v ? bits + odd + 0x7fffu : Bits{} + 0x7fc00000u;
  *reinterpret_cast<Words*>(p) = __builtin_convertvector(rounded >> 16, Words);
}

// The one-dimensional transforms; `step` apart lie the values of a column. Applied to rows, then to columns.
inline __attribute__((always_inline)) void transform_input(const Vec* d, int s, Vec* v, int t) {
  const Vec e1 = d[4 * s] - 2.0f * d[2 * s], o1 = kA * d[3 * s] - (2.0f * kA) * d[s];
  const Vec e2 = d[4 * s] - 0.5f * d[2 * s], o2 = kB * d[3 * s] - (0.5f * kB) * d[s];
  v[0] = d[0] - 2.5f * d[2 * s] + d[4 * s];
  v[t] = e1 + o1;
  v[2 * t] = e1 - o1;
  v[3 * t] = e2 + o2;
  v[4 * t] = e2 - o2;
  v[5 * t] = d[s] - 2.5f * d[3 * s] + d[5 * s];
}
inline __attribute__((always_inline)) void transform_output(const Vec* m, int s, Vec* y, int t) {
  const Vec p = m[s] + m[2 * s], r = m[s] - m[2 * s], q = m[3 * s] + m[4 * s], u = m[3 * s] - m[4 * s];
  y[0] = m[0] + p + q;
  y[t] = kA * r + kB * u;
  y[2 * t] = 0.5f * p + 2.0f * q;
  y[3 * t] = kA3 * r + kB3 * u + m[5 * s];
}
inline __attribute__((always_inline)) void transform_output_gradient(const Vec* y, int s, Vec* z, int t) {
  const Vec e1 = y[0] + 0.5f * y[2 * s], o1 = kA * y[s] + kA3 * y[3 * s];
  const Vec e2 = y[0] + 2.0f * y[2 * s], o2 = kB * y[s] + kB3 * y[3 * s];
  z[0] = y[0];
  z[t] = e1 + o1;
  z[2 * t] = e1 - o1;
  z[3 * t] = e2 + o2;
  z[4 * t] = e2 - o2;
  z[5 * t] = y[3 * s];
}
inline __attribute__((always_inline)) void transform_weight(const Vec* g, int s, Vec* u, int t) {
  const Vec e1 = kNa * g[0] + (0.5f * kNa) * g[2 * s], o1 = (kNa * kA) * g[s];
  const Vec e2 = kNb * g[0] + (2.0f * kNb) * g[2 * s], o2 = (kNb * kB) * g[s];
  u[0] = g[0];
  u[t] = e1 + o1;
  u[2 * t] = e1 - o1;
  u[3 * t] = e2 + o2;
  u[4 * t] = e2 - o2;
  u[5 * t] = g[2 * s];
}
inline __attribute__((always_inline)) void transform_weight_gradient(const Vec* z, int s, Vec* g, int t) {
  const Vec p = kNa * (z[s] + z[2 * s]), r = kNa * (z[s] - z[2 * s]);
  const Vec q = kNb * (z[3 * s] + z[4 * s]), u = kNb * (z[3 * s] - z[4 * s]);
  g[0] = z[0] + p + q;
  g[t] = kA * r + kB * u;
  g[2 * t] = 0.5f * p + 2.0f * q + z[5 * s];
}

// The transform of a square of kIn x kIn values by columns and then by rows; element p of the kPoints that it makes
// goes to `to` + p * step.
template <int kIn, class Element, class Transform>
inline __attribute__((always_inline)) void transform_square(const Element& element, const Transform& transform,
                                                            float* to, int64_t step) {
  Vec half[kPatch * kIn];
#pragma GCC unroll 6
  for (int j = 0; j < kIn; ++j) {
    Vec in[kIn];
#pragma GCC unroll 6
    for (int i = 0; i < kIn; ++i) in[i] = element(i, j);
    transform(in, 1, half + j, kIn);
  }
#pragma GCC unroll 6
  for (int i = 0; i < kPatch; ++i) {
    Vec out[kPatch];
    transform(half + i * kIn, 1, out, 1);
#pragma GCC unroll 6
    for (int j = 0; j < kPatch; ++j, to += step) at(to) = out[j];
  }
}
// The way back: kPoints values, of which the first lies at `from`, by rows; half (kPatch, kOut) is left to be
// transformed by columns.
template <int kOut, class Transform>
inline __attribute__((always_inline)) void transform_rows_back(const float* from, int64_t step,
                                                               const Transform& transform, Vec* half) {
#pragma GCC unroll 6
  for (int i = 0; i < kPatch; ++i) {
    Vec in[kPatch];
#pragma GCC unroll 6
    for (int j = 0; j < kPatch; ++j, from += step) in[j] = at(from);
    transform(in, 1, half + i * kOut, 1);
  }
}

// Exchanges the off-diagonal blocks of side S of a square of vectors.
template <int S>
inline __attribute__((always_inline)) void transpose_step(Vec* v) {
  typedef int Index __attribute__((vector_size(kBytes)));
  Index low, high;
  for (int j = 0; j < static_cast<int>(kLanes); ++j) {
    low[j] = j & S ? j - S + static_cast<int>(kLanes) : j;
    high[j] = j & S ? j + static_cast<int>(kLanes) : j + S;
  }
  for (int i = 0; i < static_cast<int>(kLanes); ++i) {
    if (i & S) continue;
    const Vec a = v[i], b = v[i + S];
    v[i] = __builtin_shuffle(a, b, low), v[i + S] = __builtin_shuffle(a, b, high);
  }
}
inline void transpose(Vec* v) {
  transpose_step<1>(v);
  transpose_step<2>(v);
  transpose_step<4>(v);
  if constexpr (kLanes > 8) transpose_step<kLanes / 2>(v);
}

// One matrix (rows, width) for each point. The gaps between them and between rows keep the places that are written
// together from falling into the same lines of a cache.
struct Matrices {
  float* data;
  int64_t row_step, point_step;
  Matrices(float* memory, int64_t rows, int64_t width)
      : data(memory), row_step(step_of(width)), point_step(rows * row_step + kGap) {}
  float* row(int64_t point, int64_t r) const { return data + point * point_step + r * row_step; }
  static size_t floats(int64_t rows, int64_t width) { return kPoints * (rows * step_of(width) + kGap); }

 private:
  static constexpr int64_t kGap = 48;
  static int64_t step_of(int64_t width) { return width % 128 == 0 ? width + 16 : width; }
};

// Matrices of kPanel columns each, which together are as wide as the channels.
struct Panels {
  float* data;
  int64_t rows;
  Matrices operator[](int64_t panel) const { return Matrices(data + panel * floats(rows, kPanel), rows, kPanel); }
  static size_t floats(int64_t rows, int64_t width) { return width / kPanel * Matrices::floats(rows, kPanel); }
};

}  // namespace
}  // namespace hb::cpu::HB_ISA
