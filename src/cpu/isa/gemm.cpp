// Matrix products where a loop over memory is all there is to do.
#include "cpu/gemm.h"

#include <vector>

#include "cpu/isa/f64_gemm.h"
#include "cpu/isa/integer_gemm.h"
#include "cpu/isa/narrow_product.h"
#include "cpu/isa/outer_row.h"
#include "cpu/isa/pair_product.h"
#include "cpu/isa/row_sums.h"
#include "cpu/isa/small_product.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int kBytes = kIsaLevel >= 4 ? 64 : 32;
constexpr int64_t kWide = kBytes / 4;

template <class T>
compute_t<T> dot(const T* x, const T* y, int64_t n) {
  if constexpr (kStoredAsComputed<T> || std::is_same_v<T, BFloat16>) return dot_of_run(x, y, n);
  constexpr int64_t kRun = 256;
  compute_t<T> total = 0, wide_x[kRun], wide_y[kRun];
  for (int64_t i = 0; i < n; i += kRun) {
    const int64_t run = std::min(kRun, n - i);
    total += dot_of_run(computable(x + i, wide_x, run), computable(y + i, wide_y, run), run);
  }
  return total;
}

// out (rows) = matrix (rows, cols) times x (cols, dense).
struct MatrixVector {
  int64_t rows, cols, row_stride, col_stride, out_stride;
  double alpha, beta;
};

template <class T>
void put(T* out, compute_t<T> value, const T* bias, const MatrixVector& v) {
  using C = compute_t<T>;
  C y = static_cast<C>(v.alpha) * value + (v.beta == 0 ? C(0) : static_cast<C>(v.beta) * widen(*out));
  if (bias) y += widen(*bias);
  *out = T(y);
}

constexpr int64_t kColumnRows = 512;

template <class T>
void rows_times_vector(const MatrixVector& v, const T* matrix, const T* x, T* out, const T* bias, bool bias_is_one) {
  // Few long rows: threads share each. The pieces do not depend on the number of threads.
  constexpr int64_t kFewRows = 8, kPiece = kGrain;
  const int64_t pieces = (v.cols + kPiece - 1) / kPiece;
  if (v.rows < kFewRows && pieces > 1) {
    std::vector<compute_t<T>> sums(v.rows * pieces);
    parallel_for(0, v.rows * pieces, 1, [&](int64_t from, int64_t to) {
      for (int64_t task = from; task < to; ++task) {
        const int64_t i = task / pieces, at = task % pieces * kPiece;
        sums[task] = dot(matrix + i * v.row_stride + at, x + at, std::min(kPiece, v.cols - at));
      }
    });
    for (int64_t i = 0; i < v.rows; ++i) {
      compute_t<T> sum = 0;
      for (int64_t p = 0; p < pieces; ++p) sum += sums[i * pieces + p];
      put(out + i * v.out_stride, sum, bias ? bias + (bias_is_one ? 0 : i) : bias, v);
    }
    return;
  }
  parallel_for(0, v.rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(v.cols, 1)), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      put(out + i * v.out_stride, dot(matrix + i * v.row_stride, x, v.cols), bias ? bias + (bias_is_one ? 0 : i) : bias,
          v);
  });
}

/// Adds columns [first, last) of rows [at, at + n), each times its element of x, to `sum`.
template <class T, class C>
void add_columns(const MatrixVector& v, const T* matrix, const T* x, int64_t first, int64_t last, int64_t at, int64_t n,
                 C* sum) {
  C wide[4][kStoredAsComputed<T> ? 1 : kColumnRows];
  const auto column_of = [&](int64_t k, int slot) { return computable(matrix + k * v.col_stride + at, wide[slot], n); };
  int64_t j = first;
  for (; j + 4 <= last; j += 4) {
    const C *c0 = column_of(j, 0), *c1 = column_of(j + 1, 1), *c2 = column_of(j + 2, 2), *c3 = column_of(j + 3, 3);
    const C x0 = widen(x[j]), x1 = widen(x[j + 1]), x2 = widen(x[j + 2]), x3 = widen(x[j + 3]);
    for (int64_t i = 0; i < n; ++i) sum[i] += x0 * c0[i] + x1 * c1[i] + x2 * c2[i] + x3 * c3[i];
  }
  for (; j < last; ++j) {
    const C *c = column_of(j, 0), factor = widen(x[j]);
    for (int64_t i = 0; i < n; ++i) sum[i] += factor * c[i];
  }
}

// The matrix is dense along `rows`: sums whole columns, a block of rows and a piece of the columns at a time. Threads
// get pieces where there are some: they share no cache line then with who divides the matrix as it lies in memory, as
// the product of the forward pass and an optimizer's update do.
template <class T>
void columns_times_vector(const MatrixVector& v, const T* matrix, const T* x, T* out, const T* bias, bool bias_is_one) {
  using C = compute_t<T>;
  const int64_t blocks = (v.rows + kColumnRows - 1) / kColumnRows;
  constexpr int64_t kMostPieces = 32;
  const int64_t piece = std::max({int64_t{64}, kGrain / v.rows / 4 * 4, (v.cols / kMostPieces + 4) / 4 * 4});
  const int64_t pieces = std::max<int64_t>(1, (v.cols + piece - 1) / piece);
  const int64_t grain = std::max<int64_t>(1, kGrain / (kColumnRows * std::max<int64_t>(1, std::min(piece, v.cols))));
  const auto store = [&](const C* sum, int64_t at, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      put(out + (at + i) * v.out_stride, sum[i], bias ? bias + (bias_is_one ? 0 : at + i) : bias, v);
  };
  std::vector<C> sums(pieces > 1 ? pieces * v.rows : 0);
  parallel_for(0, pieces * blocks, grain, [&](int64_t from, int64_t to) {
    for (int64_t task = from; task < to; ++task) {
      const int64_t p = task / blocks, at = task % blocks * kColumnRows, n = std::min(kColumnRows, v.rows - at);
      C sum[kColumnRows];
      std::fill_n(sum, n, C(0));
      add_columns(v, matrix, x, p * piece, std::min(v.cols, (p + 1) * piece), at, n, sum);
      if (pieces > 1)
        std::copy_n(sum, n, &sums[p * v.rows + at]);
      else
        store(sum, at, n);
    }
  });
  if (pieces == 1) return;
  for (int64_t p = 1; p < pieces; ++p)
    for (int64_t i = 0; i < v.rows; ++i) sums[i] += sums[p * v.rows + i];
  store(sums.data(), 0, v.rows);
}

template <class T>
void vector_of(const Gemm& g) {
  // A row vector times a matrix is its transpose times a column.
  const bool column = g.n == 1;
  const GemmMatrix &matrix = column ? g.a : g.b, &x = column ? g.b : g.a;
  MatrixVector v{column ? g.m : g.n,
                 g.k,
                 column ? matrix.row : matrix.col,
                 column ? matrix.col : matrix.row,
                 column ? g.c.row : 1,
                 g.alpha,
                 g.beta};
  const int64_t x_stride = column ? x.row : x.col;
  const auto* values = static_cast<const T*>(x.data);
  std::vector<T> dense;
  if (x_stride != 1) {
    dense.resize(g.k);
    for (int64_t i = 0; i < g.k; ++i) dense[i] = values[i * x_stride];
    values = dense.data();
  }
  const auto *m = static_cast<const T*>(matrix.data), *bias = static_cast<const T*>(g.bias);
  auto* out = static_cast<T*>(g.c.data);
  if (v.col_stride == 1) {
    rows_times_vector(v, m, values, out, bias, column);
  } else {
    columns_times_vector(v, m, values, out, bias, column);
  }
}

template <class T>
void outer_of(const Gemm& g) {
  const auto *a = static_cast<const T*>(g.a.data), *b = static_cast<const T*>(g.b.data),
             *bias = static_cast<const T*>(g.bias);
  auto* c = static_cast<T*>(g.c.data);
  using C = compute_t<T>;
  const C alpha = g.k == 0 ? C(0) : static_cast<C>(g.alpha), beta = static_cast<C>(g.beta);
  std::vector<C> row(g.n), base(g.n);
  for (int64_t j = 0; j < g.n; ++j) {
    row[j] = g.k == 0 ? C(0) : widen(b[j * g.b.col]);
    base[j] = bias ? widen(bias[j]) : C(0);
  }
  parallel_for(0, g.m, std::max<int64_t>(1, kGrain / g.n), [&](int64_t from, int64_t to) {
    const C* __restrict r = row.data(), * __restrict start = base.data();
    for (int64_t i = from; i < to; ++i) {
      const C x = g.k == 0 ? C(0) : alpha * widen(a[i * g.a.row]);
      T* out = c + i * g.c.row;
      over_runs<T, 1>(g.n, out, {out}, [&](C* y, const auto& old, int64_t at, int64_t n) {
        if (beta == 0 && !bias) {
          outer_row(x, r + at, n, y);
        } else if (beta == 0) {
          HB_INDEPENDENT
          for (int64_t j = 0; j < n; ++j) y[j] = x * r[at + j] + start[at + j];
        } else {
          HB_INDEPENDENT
          for (int64_t j = 0; j < n; ++j) y[j] = x * r[at + j] + start[at + j] + beta * old[0][j];
        }
      });
    }
  });
}

#define HB_STORED_SWITCH(fn)  \
  switch (g.dtype) {          \
    case kDouble:             \
      return fn<double>(g);   \
    case kHalf:               \
      return fn<Half>(g);     \
    case kBFloat16:           \
      return fn<BFloat16>(g); \
    default:                  \
      return fn<float>(g);    \
  }
void vector(const Gemm& g) { HB_STORED_SWITCH(vector_of) }
void outer(const Gemm& g) { HB_STORED_SWITCH(outer_of) }
void small(const Gemm& g) {
  if (g.dtype == kFloat && narrow_product(g)) return;
  HB_STORED_SWITCH(small_product)
}

/// Rounded once.
void pairs(const Gemm& g) {
  Gemm wide = g;
  auto* const sums = static_cast<float*>(scratch_buffer(Scratch::convert_c, (g.m + 1) * g.n * sizeof(float)));
  auto* const bias = sums + g.m * g.n;
  wide.c = {sums, g.n, 1};
  wide.bias = nullptr, wide.beta = g.beta != 0 || g.bias ? 1 : 0;
  auto* const c = static_cast<BFloat16*>(g.c.data);
  const auto beta = static_cast<float>(g.beta);
  if (g.bias) load(static_cast<const BFloat16*>(g.bias), bias, g.n);
  for (int64_t i = 0; i < g.m && wide.beta != 0; ++i) {
    float* __restrict row = sums + i * g.n;
    if (g.beta == 0) {
      std::copy_n(bias, g.n, row);
      continue;
    }
    load(c + i * g.c.row, row, g.n);
    for (int64_t j = 0; j < g.n; ++j) row[j] = beta * row[j] + (g.bias ? bias[j] : 0.f);
  }
  pair_product(wide);
  for (int64_t i = 0; i < g.m; ++i) store(sums + i * g.n, c + i * g.c.row, g.n);
}

void to_float(ScalarType dtype, const void* in, float* out, int64_t n) {
  if (dtype == kHalf) return load(static_cast<const Half*>(in), out, n);
  if (dtype == kBFloat16) return load(static_cast<const BFloat16*>(in), out, n);
  std::memcpy(out, in, n * sizeof(float));
}
void from_float(ScalarType dtype, const float* in, void* out, int64_t n) {
  if (dtype == kHalf) return store(in, static_cast<Half*>(out), n);
  if (dtype == kBFloat16) return store(in, static_cast<BFloat16*>(out), n);
  std::memcpy(out, in, n * sizeof(float));
}

/// Sums of n columns, which stay in registers where n is a constant.
template <class T, class N>
void sum_columns(T* out, const T* in, int64_t rows, int64_t stride, N n) {
  constexpr int64_t kMost = 128;
  compute_t<T> sum[kMost] = {}, wide[std::is_same_v<T, Half> ? kMost : 1];
  for (int64_t r = 0; r < rows; ++r) {
    if constexpr (std::is_same_v<T, BFloat16>) {
      const T* __restrict row = in + r * stride;
      for (int64_t j = 0; j < n; ++j) sum[j] += widen(row[j]);
    } else {
      const compute_t<T>* __restrict row = computable(in + r * stride, wide, n);
      for (int64_t j = 0; j < n; ++j) sum[j] += row[j];
    }
  }
  store(sum, out, n);
}

template <class T>
void column_sum_of(T* out, const T* in, int64_t rows, int64_t cols, int64_t stride) {
  constexpr int64_t kBlock = 128;
  const int64_t grain = std::max<int64_t>(kBlock, kGrain / std::max<int64_t>(rows, 1));
  parallel_for(0, cols, grain, [&](int64_t at, int64_t to) {
    if constexpr (!std::is_same_v<T, Half>) {
      const auto blocks_of = [&]<int64_t n>(std::integral_constant<int64_t, n> block) {
        for (; at + n <= to; at += n) sum_columns(out + at, in + at, rows, stride, block);
      };
      blocks_of(std::integral_constant<int64_t, kBlock>{});
      blocks_of(std::integral_constant<int64_t, 32>{});
      blocks_of(std::integral_constant<int64_t, 4>{});
    }
    for (; at < to; at += kBlock) sum_columns(out + at, in + at, rows, stride, std::min(kBlock, to - at));
  });
}

void column_sum(ScalarType dtype, void* out, const void* in, int64_t rows, int64_t cols, int64_t stride) {
  HB_FLOATING_SWITCH("column_sum", dtype, [&](auto type) {
    using T = decltype(type);
    column_sum_of(static_cast<T*>(out), static_cast<const T*>(in), rows, cols, stride);
  });
}
HB_REGISTER_ISA(column_sum_kernel, column_sum);

}  // namespace

extern const GemmLoops gemm_loops = {f64_gemm, integers, vector, outer, small, pairs, to_float, from_float};

}  // namespace hb::cpu::HB_ISA
