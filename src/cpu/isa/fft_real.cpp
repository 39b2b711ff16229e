// Discrete Fourier transforms of real lines: one of even length is a complex transform of half the length.
#include <cstring>
#include <vector>

#include "cpu/isa/fft_lines.h"

namespace hb::cpu::HB_ISA {
namespace {

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
  transform_lines(packed.data(), Lines{lines, half, 1}, true);
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
  transform_lines(packed.data(), Lines{lines, half, 1}, false);
  std::memcpy(out, packed.data(), lines * n * sizeof(T));
}

template <class T>
void r2c(Complex<T>* out, const T* in, int64_t lines, int64_t n, double scale) {
  if (n % 2 == 0) return half_spectrum(out, in, lines, n, static_cast<T>(scale));
  const int64_t kept = n / 2 + 1;
  std::vector<Complex<T>> whole(in, in + lines * n);
  transform_lines(whole.data(), Lines{lines, n, 1}, true);
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
  transform_lines(whole.data(), Lines{lines, n, 1}, false);
  for (int64_t i = 0; i < lines * n; ++i) out[i] = whole[i].real();
  multiply(out, lines * n, scale);
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

HB_REGISTER_ISA(fft_r2c_kernel, fft_r2c);
HB_REGISTER_ISA(fft_c2r_kernel, fft_c2r);

}  // namespace
}  // namespace hb::cpu::HB_ISA
