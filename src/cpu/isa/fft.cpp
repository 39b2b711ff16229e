// Discrete Fourier transforms of complex lines.
#include <vector>

#include "cpu/isa/fft_lines.h"

namespace hb::cpu::HB_ISA {
namespace {

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
  transform_lines(data, Lines{lines, rows, columns}, forward);
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
  transform_lines(data, Lines{lines * rows, columns, 1}, forward);
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
  transform_lines(filter.data(), Lines{1, m, 1}, true);
  const T scale = T(1) / static_cast<T>(m);
  parallel_for(0, l.outer * l.inner, std::max<int64_t>(1, kGrain / (8 * m)), [&](int64_t begin, int64_t end) {
    std::vector<Complex<T>> work(m);
    for (int64_t line = begin; line < end; ++line) {
      Complex<T>* x = data + line / l.inner * n * l.inner + line % l.inner;
      const auto turned = [forward](const Complex<T>& z) { return forward ? z : Complex<T>(z.imag(), z.real()); };
      for (int64_t k = 0; k < n; ++k) work[k] = turned(x[k * l.inner]) * chirp[k];
      std::fill(work.begin() + n, work.end(), Complex<T>());
      transform_lines(work.data(), Lines{1, m, 1}, true);
      for (int64_t k = 0; k < m; ++k) work[k] *= filter[k];
      transform_lines(work.data(), Lines{1, m, 1}, false);
      for (int64_t k = 0; k < n; ++k) x[k * l.inner] = turned(work[k] * chirp[k] * Complex<T>(scale));
    }
  });
}
}  // namespace

template <class T>
void transform_lines(Complex<T>* data, Lines l, bool forward) {
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
template void transform_lines(Complex<float>*, Lines, bool);
template void transform_lines(Complex<double>*, Lines, bool);

namespace {

void fft_c2c(const Tensor& data, Lines lines, bool forward, double scale) {
  with_real_type(data.scalar_type(), [&](auto zero) {
    using T = decltype(zero);
    auto* z = static_cast<Complex<T>*>(data.impl().raw_data());
    transform_lines(z, lines, forward);
    multiply(reinterpret_cast<T*>(z), 2 * data.numel(), scale);
  });
}

HB_REGISTER_ISA(fft_c2c_kernel, fft_c2c);

}  // namespace
}  // namespace hb::cpu::HB_ISA
