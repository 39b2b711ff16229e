// Products of complex matrices by products of real ones: a row of parts (re, im, re, im, ...) times what the parts of a
// product are sums of.
#include "backend/complex_gemm.h"

#include <algorithm>

#include "cpu/gemm.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"

namespace hb::cpu {
namespace {

constexpr int64_t kBlock = 1 << 15;  // numbers of a matrix that the second-level cache holds

GemmMatrix matrix(void* data, int64_t row, int64_t col) {
  GemmMatrix x;
  x.data = data, x.row = row, x.col = col;
  return x;
}

/// The product of real matrices below one of complex ones: k, n and all strides are given in parts.
template <class T>
Gemm real_product(int64_t m, int64_t n, int64_t k, const GemmMatrix& a, const GemmMatrix& b, const GemmMatrix& c) {
  Gemm g;
  g.dtype = std::is_same_v<T, float> ? kFloat : kDouble;
  g.m = m, g.n = n, g.k = k;
  g.a = a, g.b = b, g.c = c;
  return g;
}

/// The signs of the imaginary parts, which a conjugate turns.
template <class T>
struct Signs {
  explicit Signs(const ComplexGemm& g) : a(g.conj_a ? -1 : 1), b(g.conj_b ? -1 : 1) {}
  T a, b;
};

/// x (rows, cols) with its rows one after the other.
template <class T>
void make_dense_rows(GemmMatrix& x, int64_t rows, int64_t cols) {
  if (x.col == 1 || cols == 1) return;
  auto* out = static_cast<Complex<T>*>(scratch_buffer(Scratch::parts_a, rows * cols * sizeof(Complex<T>)));
  const auto* in = static_cast<const Complex<T>*>(x.data);
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / cols), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      for (int64_t j = 0; j < cols; ++j) out[i * cols + j] = in[i * x.row + j * x.col];
  });
  x = matrix(out, cols, 1);
}

/// Rows of a matrix times a vector: two sums of each row's parts.
template <class T>
void rows_times_vector(ComplexGemm g) {
  make_dense_rows<T>(g.a, g.m, g.k);
  const Signs<T> sign(g);
  auto* of_real = static_cast<T*>(scratch_buffer(Scratch::parts_b, 4 * g.k * sizeof(T)));
  T* of_imaginary = of_real + 2 * g.k;
  for (int64_t p = 0; p < g.k; ++p) {
    const T* x = static_cast<const T*>(g.b.data) + 2 * p * g.b.row;
    of_real[2 * p] = x[0], of_real[2 * p + 1] = -sign.a * sign.b * x[1];
    of_imaginary[2 * p] = sign.b * x[1], of_imaginary[2 * p + 1] = sign.a * x[0];
  }
  const int64_t rows = std::max<int64_t>(1, kBlock / g.k);
  parallel_for(0, (g.m + rows - 1) / rows, 1, [&](int64_t first, int64_t last) {
    for (int64_t from = first * rows, to = std::min(g.m, last * rows); from < to; from += rows) {
      const GemmMatrix block = matrix(static_cast<T*>(g.a.data) + 2 * from * g.a.row, 2 * g.a.row, 1);
      T* out = static_cast<T*>(g.c) + 2 * from;
      const int64_t n = std::min(rows, to - from);
      gemm_cpu(real_product<T>(n, 1, 2 * g.k, block, matrix(of_real, 1, 1), matrix(out, 2, 1)));
      gemm_cpu(real_product<T>(n, 1, 2 * g.k, block, matrix(of_imaginary, 1, 1), matrix(out + 1, 2, 1)));
    }
  });
}

/// A vector (1, k) times a matrix of dense rows: rows of parts times the vector's real parts, and times its imaginary
/// ones.
template <class T>
void vector_times_rows(const ComplexGemm& g) {
  const Signs<T> sign(g);
  auto* by_real = static_cast<T*>(scratch_buffer(Scratch::parts_b, 4 * g.n * sizeof(T)));
  T* by_imaginary = by_real + 2 * g.n;
  const int64_t rows = std::max<int64_t>(1, kBlock / g.n);
  for (int64_t from = 0; from < g.k; from += rows) {
    T* x = static_cast<T*>(g.a.data) + 2 * from * g.a.col;
    const GemmMatrix block = matrix(static_cast<T*>(g.b.data) + 2 * from * g.b.row, 2 * g.b.row, 1);
    const auto add = [&](T* factors, T* sums) {
      Gemm part = real_product<T>(1, 2 * g.n, std::min(rows, g.k - from), matrix(factors, 1, 2 * g.a.col), block,
                                  matrix(sums, 2 * g.n, 1));
      part.beta = from == 0 ? 0 : 1;
      gemm_cpu(part);
    };
    add(x, by_real), add(x + 1, by_imaginary);
  }
  auto* out = static_cast<T*>(g.c);
  for (int64_t j = 0; j < 2 * g.n; j += 2) {
    out[j] = by_real[j] - sign.a * sign.b * by_imaginary[j + 1];
    out[j + 1] = sign.b * by_real[j + 1] + sign.a * by_imaginary[j];
  }
}

/// A row of b is followed by that row times i.
template <class T>
void by_one_product(ComplexGemm g) {
  make_dense_rows<T>(g.a, g.m, g.k);
  const Signs<T> sign(g);
  auto* rows = static_cast<T*>(scratch_buffer(Scratch::parts_b, 4 * g.k * g.n * sizeof(T)));
  const auto* b = static_cast<const T*>(g.b.data);
  parallel_for(0, g.k, std::max<int64_t>(1, kGrain / g.n), [&](int64_t from, int64_t to) {
    for (int64_t p = from; p < to; ++p) {
      T *row = rows + 4 * p * g.n, *turned = row + 2 * g.n;
      for (int64_t j = 0; j < g.n; ++j) {
        const T* x = b + 2 * (p * g.b.row + j * g.b.col);
        row[2 * j] = x[0], row[2 * j + 1] = sign.b * x[1];
        turned[2 * j] = -sign.a * sign.b * x[1], turned[2 * j + 1] = sign.a * x[0];
      }
    }
  });
  gemm_cpu(real_product<T>(g.m, 2 * g.n, 2 * g.k, matrix(g.a.data, 2 * g.a.row, 1), matrix(rows, 2 * g.n, 1),
                           matrix(g.c, 2 * g.n, 1)));
}

template <class T>
void multiply(const ComplexGemm& g) {
  if (g.m == 1 && g.b.col == 1) return vector_times_rows<T>(g);
  if (g.n > 1) return by_one_product<T>(g);
  if (g.a.col == 1 || g.a.row != 1) return rows_times_vector<T>(g);
  // The columns of a are dense: the same product turned.
  ComplexGemm turned = g;
  std::swap(turned.m, turned.n);
  turned.a = matrix(g.b.data, g.b.col, g.b.row), turned.b = matrix(g.a.data, g.a.col, g.a.row);
  std::swap(turned.conj_a, turned.conj_b);
  vector_times_rows<T>(turned);
}

void complex_gemm(const ComplexGemm& g) {
  if (g.m == 0 || g.n == 0) return;
  const bool is_float = g.dtype == kComplexFloat;
  if (g.k == 0) return static_cast<void>(std::fill_n(static_cast<char*>(g.c), g.m * g.n * (is_float ? 8 : 16), 0));
  is_float ? multiply<float>(g) : multiply<double>(g);
}
HB_REGISTER_CPU(complex_gemm_kernel, complex_gemm);

}  // namespace
}  // namespace hb::cpu
