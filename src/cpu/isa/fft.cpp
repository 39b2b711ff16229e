// Discrete Fourier transforms of lines.
#include "backend/fft.h"

#include <utility>
#include <vector>

#include "cpu/isa/fft_stages.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

/// A backward transform is a forward one of numbers whose parts have changed places.
template <class T>
void read_lanes(LaneComplex<T>* to, const Complex<T>* const* lines, int count, int64_t n, int64_t step, bool forward) {
  for (int64_t k = 0; k < n; ++k) {
    for (int l = 0; l < kLanes<T>; ++l) {
      const Complex<T> z = lines[l < count ? l : 0][k * step];
      to[k].re[l] = forward ? z.real() : z.imag();
      to[k].im[l] = forward ? z.imag() : z.real();
    }
  }
}
template <class T>
void write_lanes(Complex<T>* const* lines, const LaneComplex<T>* from, int count, int64_t n, int64_t step,
                 bool forward) {
  for (int64_t k = 0; k < n; ++k) {
    for (int l = 0; l < count; ++l) {
      const T re = from[k].re[l], im = from[k].im[l];
      lines[l][k * step] = forward ? Complex<T>(re, im) : Complex<T>(im, re);
    }
  }
}

template <class T>
void transform(Complex<T>* data, Lines l, bool forward);

/// As many lines at once as there are lanes.
template <class T>
void transform_in_lanes(const FftPlan<T>& plan, Complex<T>* data, Lines l, bool forward) {
  const int64_t lines = l.outer * l.inner, groups = (lines + kLanes<T> - 1) / kLanes<T>;
  parallel_for(0, groups, std::max<int64_t>(1, kGrain / (4 * l.n * kLanes<T>)), [&](int64_t begin, int64_t end) {
    std::vector<LaneComplex<T>> buffer(2 * l.n);
    LaneComplex<T>*x = buffer.data(), *y = x + l.n;
    for (int64_t g = begin; g < end; ++g) {
      const int64_t first = g * kLanes<T>;
      const int count = static_cast<int>(std::min<int64_t>(kLanes<T>, lines - first));
      Complex<T>* at[kLanes<T>];
      for (int k = 0; k < kLanes<T>; ++k) {
        const int64_t line = first + (k < count ? k : 0);
        at[k] = data + line / l.inner * l.n * l.inner + line % l.inner;
      }
      read_lanes<T>(x, at, count, l.n, l.inner, forward);
      write_lanes<T>(at, run_stages(plan, x, y), count, l.n, l.inner, forward);
    }
  });
}

/// A long line as a matrix: columns, factors between, rows, and the result stands in the order of its columns.
template <class T>
void transform_as_matrix(const FftPlan<T>& plan, Complex<T>* data, int64_t lines, bool forward) {
  const int64_t n = plan.n, rows = plan.rows, columns = plan.columns;
  const auto roots = fft_roots<T>(n);
  transform(data, Lines{lines, rows, columns}, forward);
  parallel_for(0, lines * rows, std::max<int64_t>(1, kGrain / columns), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t k = row % rows;
      Complex<T>* x = data + row * columns;
      for (int64_t j = 1; j < columns; ++j) {
        const Complex<T> w = (*roots)[k * j];
        x[j] *= forward ? w : conj(w);
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
  if (plan->rows == 0) return transform_in_lanes(*plan, data, l, forward);
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

/// Even and odd elements of a real line are the parts of a complex one of half the length, whose spectrum holds theirs.
template <class T>
void half_spectrum(Complex<T>* out, const T* in, int64_t lines, int64_t n) {
  const int64_t half = n / 2;
  std::vector<Complex<T>> packed(lines * half);
  for (int64_t i = 0; i < lines * half; ++i) packed[i] = {in[2 * i], in[2 * i + 1]};
  transform(packed.data(), Lines{lines, half, 1}, true);
  const auto roots = fft_roots<T>(n);
  parallel_for(0, lines, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const Complex<T>* z = packed.data() + line * half;
      Complex<T>* x = out + line * (half + 1);
      x[0] = {z[0].real() + z[0].imag(), T(0)}, x[half] = {z[0].real() - z[0].imag(), T(0)};
      for (int64_t k = 1; k < half; ++k) {
        const Complex<T> a = z[k], b = conj(z[half - k]);
        const Complex<T> odd = (a - b) * (*roots)[k];
        x[k] = (a + b + Complex<T>(odd.imag(), -odd.real())) * Complex<T>(T(0.5));
      }
    }
  });
}

template <class T>
void half_signal(T* out, const Complex<T>* in, int64_t lines, int64_t n) {
  const int64_t half = n / 2;
  const auto roots = fft_roots<T>(n);
  std::vector<Complex<T>> packed(lines * half);
  parallel_for(0, lines, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const Complex<T>* x = in + line * (half + 1);
      Complex<T>* z = packed.data() + line * half;
      z[0] = {x[0].real() + x[half].real(), x[0].real() - x[half].real()};
      for (int64_t k = 1; k < half; ++k) {
        const Complex<T> a = x[k], b = conj(x[half - k]);
        const Complex<T> odd = (a - b) * conj((*roots)[k]);
        z[k] = a + b + Complex<T>(-odd.imag(), odd.real());
      }
    }
  });
  transform(packed.data(), Lines{lines, half, 1}, false);
  for (int64_t i = 0; i < lines * half; ++i) out[2 * i] = packed[i].real(), out[2 * i + 1] = packed[i].imag();
}

template <class T>
void r2c(Complex<T>* out, const T* in, int64_t lines, int64_t n, double scale) {
  const int64_t kept = n / 2 + 1;
  if (n % 2 == 0) {
    half_spectrum(out, in, lines, n);
  } else {
    std::vector<Complex<T>> whole(in, in + lines * n);
    transform(whole.data(), Lines{lines, n, 1}, true);
    for (int64_t i = 0; i < lines; ++i) std::copy_n(whole.data() + i * n, kept, out + i * kept);
  }
  multiply(reinterpret_cast<T*>(out), 2 * lines * kept, scale);
}

template <class T>
void c2r(T* out, const Complex<T>* in, int64_t lines, int64_t n, double scale) {
  const int64_t kept = n / 2 + 1;
  if (n % 2 == 0) {
    half_signal(out, in, lines, n);
  } else {
    std::vector<Complex<T>> whole(lines * n);
    for (int64_t i = 0; i < lines; ++i) {
      const Complex<T>* x = in + i * kept;
      Complex<T>* z = whole.data() + i * n;
      z[0] = x[0].real();
      for (int64_t k = 1; k < kept; ++k) z[k] = x[k], z[n - k] = conj(x[k]);
    }
    transform(whole.data(), Lines{lines, n, 1}, false);
    for (int64_t i = 0; i < lines * n; ++i) out[i] = whole[i].real();
  }
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
