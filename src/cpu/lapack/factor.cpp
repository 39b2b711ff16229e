// LU, Cholesky, and what is solved with their triangles.
#include "backend/decompositions.h"
#include "cpu/lapack/own_loops.h"
#include "cpu/lapack/small.h"

namespace hb::cpu::lapack {
namespace {

/// getrf of matrix (m, n).
template <class T>
void factor_lu(Int m, Int n, T* a, int32_t* pivots, int32_t& state) {
  if (m == n && n <= kSmall) return small_lu(n, a, pivots, state);
  if constexpr (!kIsComplex<T>)
    if (m == n && n <= kLargestOwnLu) return own_loops<T>().lu(n, a, pivots, state);
  routines<T>("linalg.lu_factor").getrf(&m, &n, a, &m, pivots, &state);
}

void lu_factor(const Tensor& a, const Tensor& lu, const Tensor& pivots, const Tensor& info) {
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const Stack<T> from(a), to(lu);
    const Int m = static_cast<Int>(to.rows), n = static_cast<Int>(to.columns);
    const int64_t k = std::min(m, n);
    int32_t *where = elements<int32_t>(pivots), *state = elements<int32_t>(info);
    each_range(to.count, k * m * n / 2, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const Written<T> out(to, i);
        from.pack(i, out.data());
        factor_lu(m, n, out.data(), where + i * k, state[i]);
      }
    });
  });
}

/// getrs exchanges rows unchecked.
void check_pivots(const Tensor& pivots, int64_t rows) {
  const int64_t count = pivots.size(0), each = pivots.size(1), step = pivots.stride(0);
  const int32_t* p = elements<int32_t>(pivots);
  for (int64_t i = 0; i < count; ++i, p += step) {
    int32_t least = 1, most = 0;
    for (int64_t j = 0; j < each; ++j) least = std::min(least, p[j]), most = std::max(most, p[j]);
    HB_CHECK(least >= 1,
             "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the result of "
             "lu_factor?");
    HB_CHECK(
        most <= rows,
        "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you properly pass the result of "
        "lu_factor?");
  }
}

void lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& right, const Tensor& x, MatrixForm form) {
  with_matrix_type(lu, [&](auto zero) {
    using T = decltype(zero);
    const Stack<T> factors(lu), from(right), to(x);
    const char* const letter = form == MatrixForm::plain ? "N" : form == MatrixForm::transposed ? "T" : "C";
    const Int n = static_cast<Int>(to.rows);
    const int64_t pivot_step = pivots.stride(0);
    const int32_t* const where = elements<int32_t>(pivots);
    check_pivots(pivots, n);
    each_block(to.count, to.columns, n * n * to.columns, [&](int64_t i, int64_t first, int64_t many) {
      std::unique_ptr<T[]> space;
      const Readable<T> f(factors, i, space);
      T* out = to.at(i) + first * n;
      from.pack(i, out, n, first, many);
      if (n <= kSmall && form == MatrixForm::plain)
        return small_lu_solve(n, many, f.data, f.leading, where + i * pivot_step, out);
      if constexpr (!kIsComplex<T>)
        if (n <= kLargestOwnLu && form == MatrixForm::plain)
          return own_loops<T>().lu_solve(n, many, f.data, f.leading, where + i * pivot_step, out);
      const Int columns = static_cast<Int>(many);
      Int info;
      routines<T>("linalg.lu_solve")
          .getrs(letter, &n, &columns, f.data, &f.leading, where + i * pivot_step, out, &n, &info, 1);
    });
  });
}

void solve_triangular(const Tensor& a, const Tensor& right, const Tensor& x, bool upper, bool left, bool unit) {
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const auto& r = routines<T>("linalg.solve_triangular");
    const Stack<T> triangles(a), from(right), to(x);
    // A matrix by rows is the transposed one by columns, whose other triangle is filled.
    const bool turned = !triangles.by_columns() && triangles.by_rows();
    const char *side = left ? "L" : "R", *triangle = upper != turned ? "U" : "L", *form = turned ? "T" : "N",
               *diagonal = unit ? "U" : "N";
    const T one(1);
    const int64_t split = left ? to.columns : to.rows;
    each_block(to.count, split, triangles.rows * to.rows * to.columns / 2, [&](int64_t i, int64_t first, int64_t many) {
      std::unique_ptr<T[]> space;
      const T* data = triangles.at(i);
      Int leading = triangles.leading_row();
      if (!turned) {
        const Readable<T> readable(triangles, i, space);
        data = readable.data, leading = readable.leading;
      }
      const Int m = static_cast<Int>(left ? to.rows : many), n = static_cast<Int>(left ? many : to.columns),
                step = static_cast<Int>(to.rows);
      T* out = to.at(i) + (left ? first * to.rows : first);
      if (left) {
        from.pack(i, out, to.rows, first, many);
      } else {
        Stack<T> rows = from;
        rows.data += first * from.row, rows.rows = many;
        rows.pack(i, out, to.rows, 0, to.columns);
      }
      r.trsm(side, triangle, form, diagonal, &m, &n, &one, data, &leading, out, &step, 1, 1, 1, 1);
    });
  });
}

void pivot_order(const Tensor& pivots, const Tensor& order) {
  const int64_t k = pivots.size(1), m = order.size(1), step = pivots.stride(0), each = pivots.stride(1);
  const int32_t* with = elements<int32_t>(pivots);
  for (int64_t b = 0; b < order.size(0); ++b) {
    int64_t* to = elements<int64_t>(order) + b * m;
    for (int64_t i = 0; i < m; ++i) to[i] = i;
    for (int64_t i = 0; i < k; ++i) {
      const int64_t other = with[b * step + i * each];
      HB_CHECK(other >= 1 && other <= m, "[lu_unpack] expected pivots between 1 and ", m, ", got ", other);
      std::swap(to[i], to[other - 1]);
    }
  }
}

/// The order of the first leading minor with a NaN, which a library may compute with.
template <class T>
Int first_nan(const T* factor, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    if (const T d = factor[j * n + j]; d != d) return static_cast<Int>(j + 1);
  return 0;
}

void cholesky(const Tensor& a, const Tensor& factor, bool upper, const Tensor& info) {
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const auto& r = routines<T>("linalg.cholesky");
    const Stack<T> from(a), to(factor);
    const Int n = static_cast<Int>(to.rows);
    int32_t* state = elements<int32_t>(info);
    each_range(to.count, int64_t{n} * n * n / 6, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const Written<T> written(to, i);
        T* out = written.data();
        from.pack(i, out);
        if constexpr (!kIsComplex<T>) {
          if (!upper && n <= kSmall) {
            state[i] = small_cholesky(n, out);
            for (int64_t c = 0; c < n; ++c) std::fill(out + c * n, out + c * n + c, T(0));
            continue;
          }
        }
        r.potrf(upper ? "U" : "L", &n, out, &n, state + i, 1);
        if (state[i] == 0) state[i] = first_nan(out, n);
        for (int64_t c = 0; c < n; ++c) {
          T* column = out + c * n;
          upper ? std::fill(column + c + 1, column + n, T(0)) : std::fill(column, column + c, T(0));
        }
      }
    });
  });
}

void cholesky_solve(const Tensor& factor, const Tensor& right, const Tensor& x, bool upper) {
  with_matrix_type(factor, [&](auto zero) {
    using T = decltype(zero);
    const auto& r = routines<T>("cholesky_solve");
    const Stack<T> factors(factor), from(right), to(x);
    const Int n = static_cast<Int>(to.rows);
    each_block(to.count, to.columns, n * n * to.columns, [&](int64_t i, int64_t first, int64_t many) {
      std::unique_ptr<T[]> space;
      const Readable<T> f(factors, i, space);
      T* out = to.at(i) + first * n;
      from.pack(i, out, n, first, many);
      const Int columns = static_cast<Int>(many);
      Int info;
      r.potrs(upper ? "U" : "L", &n, &columns, f.data, &f.leading, out, &n, &info, 1);
    });
  });
}

template <class T>
T conjugate(const T& x) {
  if constexpr (kIsComplex<T>)
    return conj(x);
  else
    return x;
}

void cholesky_inverse(const Tensor& factor, const Tensor& inverse, bool upper) {
  with_matrix_type(factor, [&](auto zero) {
    using T = decltype(zero);
    const auto& r = routines<T>("cholesky_inverse");
    const Stack<T> from(factor), to(inverse);
    const Int n = static_cast<Int>(to.rows);
    each_range(to.count, int64_t{n} * n * n / 3, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const Written<T> written(to, i);
        T* out = written.data();
        Int info;
        from.pack(i, out);
        r.potri(upper ? "U" : "L", &n, out, &n, &info, 1);
        HB_CHECK(info == 0, "[cholesky_inverse] expected a factor without zeros on its diagonal, got one at ", info);
        for (int64_t c = 0; c < n; ++c)
          for (int64_t row = 0; row < c; ++row) {
            T &above = out[c * n + row], &below = out[row * n + c];
            upper ? below = conjugate(above) : above = conjugate(below);
          }
      }
    });
  });
}

HB_REGISTER_CPU(lu_factor_kernel, lu_factor);
HB_REGISTER_CPU(lu_solve_kernel, lu_solve);
HB_REGISTER_CPU(pivot_order_kernel, pivot_order);
HB_REGISTER_CPU(solve_triangular_kernel, solve_triangular);
HB_REGISTER_CPU(cholesky_kernel, cholesky);
HB_REGISTER_CPU(cholesky_solve_kernel, cholesky_solve);
HB_REGISTER_CPU(cholesky_inverse_kernel, cholesky_inverse);

}  // namespace
}  // namespace hb::cpu::lapack
