// Discrete Fourier transforms of lines.
#include "backend/fft.h"

#include <cstring>
#include <vector>

#include "cpu/isa/fft_stages.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"

namespace hb::cpu::HB_ISA {
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
void transform(Complex<T>* data, Lines l, bool forward);

template <class T>
void transform_in_lanes(const FftPlan<T>& plan, Complex<T>* data, Lines l, bool forward) {
  each_group<T>(l.outer * l.inner, l.n, [&](int64_t g, LaneComplex<T>* x, LaneComplex<T>* y) {
    const Group<T> group(data, l, g);
    read_group(x, group, l.n, l.inner);
    if (!forward) swap_parts(x, l.n);
    LaneComplex<T>* result = run_stages(plan, x, y);
    if (!forward) swap_parts(result, l.n);
    write_group(group, result, l.n, l.inner);
  });
}

/// A long line as a matrix: columns, factors between, rows, and the result stands in the order of its columns.
template <class T>
void transform_as_matrix(const FftPlan<T>& plan, Complex<T>* data, int64_t lines, bool forward) {
  const int64_t n = plan.n, rows = plan.rows, columns = plan.columns;
  transform(data, Lines{lines, rows, columns}, forward);
  parallel_for(0, lines * rows, std::max<int64_t>(1, kGrain / columns), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const Complex<T>* w = plan.turns.data() + row % rows * columns;
      Complex<T>* x = data + row * columns;
      if (forward) {
        for (int64_t j = 0; j < columns; ++j) x[j] *= w[j];
      } else {
        for (int64_t j = 0; j < columns; ++j) x[j] *= conj(w[j]);
      }
    }
  });
  transform(data, Lines{lines * rows, columns, 1}, forward);
  std::vector<Complex<T>> ordered(n);
  for (int64_t i = 0; i < lines; ++i) {
    Complex<T>* x = data + i * n;
    constexpr int64_t kTile = 16;
    for (int64_t r = 0; r < rows; r += kTile)
      for (int64_t c = 0; c < columns; ++c)
        for (int64_t k = r; k < std::min(r + kTile, rows); ++k) ordered[c * rows + k] = x[k * columns + c];
    std::copy(ordered.begin(), ordered.end(), x);
  }
}

/// Bluestein: j k = (j^2 + k^2 - (k - j)^2) / 2 makes any length a convolution with a chirp.
template <class T>
void transform_by_chirp(const FftPlan<T>& plan, Complex<T>* data, Lines l, bool forward) {
  const int64_t n = plan.n, m = plan.padded;
  const std::vector<Complex<T>>& chirp = plan.chirp;
  std::vector<Complex<T>> filter(m);
  filter[0] = conj(chirp[0]);
  for (int64_t k = 1; k < n; ++k) filter[k] = filter[m - k] = conj(chirp[k]);
  transform(filter.data(), Lines{1, m, 1}, true);
  const T scale = T(1) / static_cast<T>(m);
  parallel_for(0, l.outer * l.inner, std::max<int64_t>(1, kGrain / (8 * m)), [&](int64_t begin, int64_t end) {
    std::vector<Complex<T>> work(m);
    for (int64_t line = begin; line < end; ++line) {
      Complex<T>* x = data + line / l.inner * n * l.inner + line % l.inner;
      const auto turned = [forward](const Complex<T>& z) { return forward ? z : Complex<T>(z.imag(), z.real()); };
      for (int64_t k = 0; k < n; ++k) work[k] = turned(x[k * l.inner]) * chirp[k];
      std::fill(work.begin() + n, work.end(), Complex<T>());
      transform(work.data(), Lines{1, m, 1}, true);
      for (int64_t k = 0; k < m; ++k) work[k] *= filter[k];
      transform(work.data(), Lines{1, m, 1}, false);
      for (int64_t k = 0; k < n; ++k) x[k * l.inner] = turned(work[k] * chirp[k] * Complex<T>(scale));
    }
  });
}

/// Unnormalised, in place.
template <class T>
void transform(Complex<T>* data, Lines l, bool forward) {
  if (l.n <= 1 || l.outer * l.inner == 0) return;
  const auto plan = fft_plan<T>(l.n);
  if (plan->padded) return transform_by_chirp(*plan, data, l, forward);
  const bool few = l.inner == 1 && 4 * l.outer <= kLanes<T>;
  if (!plan->stages.empty() && (plan->rows == 0 || !few)) return transform_in_lanes(*plan, data, l, forward);
  if (l.inner == 1) return transform_as_matrix(*plan, data, l.outer, forward);
  std::vector<Complex<T>> line(l.n);
  for (int64_t o = 0; o < l.outer; ++o) {
    for (int64_t i = 0; i < l.inner; ++i) {
      Complex<T>* x = data + o * l.n * l.inner + i;
      for (int64_t k = 0; k < l.n; ++k) line[k] = x[k * l.inner];
      transform_as_matrix(*plan, line.data(), 1, forward);
      for (int64_t k = 0; k < l.n; ++k) x[k * l.inner] = line[k];
    }
  }
}

template <class T>
void multiply(T* x, int64_t n, double scale) {
  if (scale == 1) return;
  const T factor = static_cast<T>(scale);
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) x[i] *= factor;
  });
}

template <class T>
Complex<T> conjugate(const Complex<T>& z) {
  return conj(z);
}
template <class T>
LaneComplex<T> conjugate(const LaneComplex<T>& z) {
  return {z.re, -z.im};
}
template <class T>
Complex<T> times_minus_i(const Complex<T>& z) {
  return {z.imag(), -z.real()};
}
template <class T>
LaneComplex<T> times_minus_i(const LaneComplex<T>& z) {
  return z.times_minus_i();
}

/// Whether lines of n real numbers are transformed as half as many complex ones in lanes.
template <class T>
bool halves_in_lanes(const FftPlan<T>& plan, int64_t lines) {
  return !plan.stages.empty() && (plan.rows == 0 || 4 * lines > kLanes<T>);
}

/// The spectrum of a real line of 2 * half elements from that of the complex line of which even and odd elements are
/// the parts: numbers k and half - k, k in [1, half / 2], of Z, in place, multiplied by `scale`.
template <class Z, class T>
void spectrum_of_halves(Z* z, int64_t half, const Complex<T>* roots, T scale) {
  for (int64_t k = 1; 2 * k <= half; ++k) {
    const Z a = z[k], b = conjugate(z[half - k]);
    const Z even = (a + b) * (T(0.5) * scale), odd = ((a - b) * roots[k]) * (T(0.5) * scale);
    const Z turned = times_minus_i(odd);
    z[k] = even + turned, z[half - k] = conjugate(even - turned);
  }
}
/// The way back.
template <class Z, class T>
void halves_of_spectrum(Z* z, int64_t half, const Complex<T>* roots, T scale) {
  for (int64_t k = 1; 2 * k <= half; ++k) {
    const Z a = z[k], b = conjugate(z[half - k]);
    const Z even = (a + b) * scale, odd = ((a - b) * conj(roots[k])) * scale;
    const Z turned = times_minus_i(odd);
    z[k] = even - turned, z[half - k] = conjugate(even + turned);
  }
}

template <class T>
void half_spectrum(Complex<T>* out, const T* in, int64_t lines, int64_t n, T scale) {
  const int64_t half = n / 2, kept = half + 1;
  const auto roots = fft_roots<T>(n);
  const auto plan = fft_plan<T>(half);
  if (halves_in_lanes(*plan, lines)) {
    return each_group<T>(lines, kept, [&](int64_t g, LaneComplex<T>* x, LaneComplex<T>* y) {
      const Group<T> from(reinterpret_cast<Complex<T>*>(const_cast<T*>(in)), {lines, half, 1}, g);
      const Group<T> to(out, {lines, kept, 1}, g);
      read_group(x, from, half, 1);
      LaneComplex<T>* z = run_stages(*plan, x, y);
      const Vector<T> re = z[0].re, im = z[0].im;
      z[0] = {(re + im) * scale, Vector<T>{}}, z[half] = {(re - im) * scale, Vector<T>{}};
      spectrum_of_halves(z, half, roots->data(), scale);
      write_group(to, z, kept, 1);
    });
  }
  std::vector<Complex<T>> packed(lines * half);
  std::memcpy(reals(packed.data()), in, lines * n * sizeof(T));
  transform(packed.data(), Lines{lines, half, 1}, true);
  parallel_for(0, lines, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      Complex<T>* z = out + line * kept;
      std::copy_n(packed.data() + line * half, half, z);
      const T re = z[0].real(), im = z[0].imag();
      z[0] = (re + im) * scale, z[half] = (re - im) * scale;
      spectrum_of_halves(z, half, roots->data(), scale);
    }
  });
}

template <class T>
void half_signal(T* out, const Complex<T>* in, int64_t lines, int64_t n, T scale) {
  const int64_t half = n / 2, kept = half + 1;
  const auto roots = fft_roots<T>(n);
  const auto plan = fft_plan<T>(half);
  if (halves_in_lanes(*plan, lines)) {
    return each_group<T>(lines, kept, [&](int64_t g, LaneComplex<T>* z, LaneComplex<T>* y) {
      const Group<T> from(const_cast<Complex<T>*>(in), {lines, kept, 1}, g);
      const Group<T> to(reinterpret_cast<Complex<T>*>(out), {lines, half, 1}, g);
      read_group(z, from, kept, 1);
      z[0] = {(z[0].re + z[half].re) * scale, (z[0].re - z[half].re) * scale};
      halves_of_spectrum(z, half, roots->data(), scale);
      swap_parts(z, half);
      LaneComplex<T>* result = run_stages(*plan, z, y);
      swap_parts(result, half);
      write_group(to, result, half, 1);
    });
  }
  std::vector<Complex<T>> packed(lines * half);
  parallel_for(0, lines, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const Complex<T>* x = in + line * kept;
      Complex<T>* z = packed.data() + line * half;
      std::copy_n(x, half, z);
      z[0] = {(x[0].real() + x[half].real()) * scale, (x[0].real() - x[half].real()) * scale};
      halves_of_spectrum(z, half, roots->data(), scale);
    }
  });
  transform(packed.data(), Lines{lines, half, 1}, false);
  std::memcpy(out, packed.data(), lines * n * sizeof(T));
}

template <class T>
void r2c(Complex<T>* out, const T* in, int64_t lines, int64_t n, double scale) {
  if (n % 2 == 0) return half_spectrum(out, in, lines, n, static_cast<T>(scale));
  const int64_t kept = n / 2 + 1;
  std::vector<Complex<T>> whole(in, in + lines * n);
  transform(whole.data(), Lines{lines, n, 1}, true);
  for (int64_t i = 0; i < lines; ++i) std::copy_n(whole.data() + i * n, kept, out + i * kept);
  multiply(reals(out), 2 * lines * kept, scale);
}

template <class T>
void c2r(T* out, const Complex<T>* in, int64_t lines, int64_t n, double scale) {
  if (n % 2 == 0) return half_signal(out, in, lines, n, static_cast<T>(scale));
  const int64_t kept = n / 2 + 1;
  std::vector<Complex<T>> whole(lines * n);
  for (int64_t i = 0; i < lines; ++i) {
    const Complex<T>* x = in + i * kept;
    Complex<T>* z = whole.data() + i * n;
    z[0] = x[0].real();
    for (int64_t k = 1; k < kept; ++k) z[k] = x[k], z[n - k] = conj(x[k]);
  }
  transform(whole.data(), Lines{lines, n, 1}, false);
  for (int64_t i = 0; i < lines * n; ++i) out[i] = whole[i].real();
  multiply(out, lines * n, scale);
}

template <class F>
void with_real_type(ScalarType t, F f) {
  if (t == kComplexFloat) return f(float());
  HB_CHECK(t == kComplexDouble, "[fft] expected complex64 or complex128, got ", t);
  f(double());
}

void fft_c2c(const Tensor& data, Lines lines, bool forward, double scale) {
  with_real_type(data.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    auto* z = static_cast<Complex<T>*>(data.impl().raw_data());
    transform(z, lines, forward);
    multiply(reinterpret_cast<T*>(z), 2 * data.numel(), scale);
  });
}
void fft_r2c(const Tensor& out, const Tensor& in, double scale) {
  if (in.numel() == 0) return;
  with_real_type(out.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t n = in.size(-1);
    r2c(static_cast<Complex<T>*>(out.impl().raw_data()), static_cast<const T*>(in.impl().raw_data()), in.numel() / n, n,
        scale);
  });
}
void fft_c2r(const Tensor& out, const Tensor& in, double scale) {
  if (out.numel() == 0) return;
  with_real_type(in.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t n = out.size(-1);
    c2r(static_cast<T*>(out.impl().raw_data()), static_cast<const Complex<T>*>(in.impl().raw_data()), out.numel() / n,
        n, scale);
  });
}

HB_REGISTER_ISA(fft_c2c_kernel, fft_c2c);
HB_REGISTER_ISA(fft_r2c_kernel, fft_r2c);
HB_REGISTER_ISA(fft_c2r_kernel, fft_c2r);

}  // namespace
}  // namespace hb::cpu::HB_ISA
