#pragma once
// What complex and real transforms share: lines as the lanes of groups, and the complex transform itself.

#include "backend/fft.h"
#include "cpu/isa/fft_stages.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"

namespace hb::cpu::HB_ISA {

/// Unnormalised, in place, of float or double.
template <class T>
void transform_lines(Complex<T>* data, Lines l, bool forward);

namespace {

/// The lines that the lanes of a group hold, and two buffers for their elements.
template <class T>
struct Group {
  Complex<T>* at[kLanes<T>];
  int count;
  bool side_by_side;  // element k of a line lies before element k of the next

  Group(Complex<T>* data, Lines l, int64_t group) {
    const int64_t first = group * kLanes<T>, lines = l.outer * l.inner;
    count = static_cast<int>(std::min<int64_t>(kLanes<T>, lines - first));
    for (int k = 0; k < kLanes<T>; ++k) {
      const int64_t line = first + (k < count ? k : 0);
      at[k] = data + line / l.inner * l.n * l.inner + line % l.inner;
    }
    side_by_side = count == kLanes<T> && l.inner > 1 && at[count - 1] == at[0] + count - 1;
  }
};

/// Numbers that lie together in memory as the vectors of their lanes and back.
template <class T>
Vector<T>* vectors(LaneComplex<T>* z) {
  static_assert(sizeof(LaneComplex<T>) == 2 * sizeof(Vector<T>));
  return reinterpret_cast<Vector<T>*>(z);
}
template <class T>
T* reals(Complex<T>* z) {
  return reinterpret_cast<T*>(z);
}

template <class T>
void read_group(LaneComplex<T>* to, const Group<T>& group, int64_t n, int64_t step) {
  if (group.side_by_side) {
    for (int64_t k = 0; k < n; ++k) load_pairs<T>(to[k].re, to[k].im, reals(group.at[0] + k * step));
  } else if (step == 1) {
    const T* lines[kLanes<T>];
    for (int l = 0; l < kLanes<T>; ++l) lines[l] = reals(group.at[l]);
    lines_to_lanes(vectors(to), lines, 2 * n);
  } else {
    for (int64_t k = 0; k < n; ++k)
      for (int l = 0; l < kLanes<T>; ++l)
        to[k].re[l] = group.at[l][k * step].real(), to[k].im[l] = group.at[l][k * step].imag();
  }
}
template <class T>
void write_group(const Group<T>& group, LaneComplex<T>* from, int64_t n, int64_t step) {
  if (group.side_by_side) {
    for (int64_t k = 0; k < n; ++k) store_pairs<T>(reals(group.at[0] + k * step), from[k].re, from[k].im);
  } else if (step == 1) {
    T* lines[kLanes<T>];
    for (int l = 0; l < kLanes<T>; ++l) lines[l] = reals(group.at[l]);
    lanes_to_lines(lines, vectors(from), group.count, 2 * n);
  } else {
    for (int64_t k = 0; k < n; ++k)
      for (int l = 0; l < group.count; ++l) group.at[l][k * step] = {from[k].re[l], from[k].im[l]};
  }
}

/// fn(group, x, y) for groups of as many lines as there are lanes; x and y are buffers for `n` numbers of each.
template <class T, class F>
void each_group(int64_t lines, int64_t n, const F& fn) {
  const int64_t groups = (lines + kLanes<T> - 1) / kLanes<T>;
  parallel_for(0, groups, std::max<int64_t>(1, kGrain / (4 * n * kLanes<T>)), [&](int64_t begin, int64_t end) {
    auto* x = static_cast<LaneComplex<T>*>(scratch_buffer(Scratch::tiles, 2 * n * sizeof(LaneComplex<T>)));
    for (int64_t g = begin; g < end; ++g) fn(g, x, x + n);
  });
}

/// A backward transform is a forward one of numbers whose parts have changed places.
template <class T>
void swap_parts(LaneComplex<T>* z, int64_t n) {
  for (int64_t k = 0; k < n; ++k) z[k] = z[k].swapped();
}

template <class T>
void multiply(T* x, int64_t n, double scale) {
  if (scale == 1) return;
  const T factor = static_cast<T>(scale);
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) x[i] *= factor;
  });
}

template <class F>
void with_real_type(ScalarType t, F f) {
  if (t == kComplexFloat) return f(float());
  HB_CHECK(t == kComplexDouble, "[fft] expected complex64 or complex128, got ", t);
  f(double());
}

}  // namespace
}  // namespace hb::cpu::HB_ISA
