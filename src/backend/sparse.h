#pragma once

#include <halfbridge/dtype.h>

#include "backend/kernel.h"

namespace hb {

/// Stable sort of n keys of [0, limit): order[i] is the place that the i-th smallest key had, group[place] the rank of
/// its key among the distinct ones, whose number is returned.
HB_API inline Kernel<int64_t(const int64_t* keys, int64_t n, int64_t limit, int64_t* order, int64_t* group)>
    sparse_group_kernel{"coalesce"};

/// first (rows + 1) of the entries of a matrix whose row numbers ascend: row r has the entries first[r] to first[r +
/// 1]. Throws [name] for entries outside of rows x columns.
HB_API inline Kernel<void(const char* name, const int64_t* row, const int64_t* column, int64_t n, int64_t rows,
                          int64_t columns, int64_t* first)>
    sparse_rows_kernel{"sparse.mm"};

/// A matrix by rows: row r has the entries first[r] to first[r + 1].
struct SparseRows {
  int64_t rows = 0;
  const int64_t* first = nullptr;
  const int64_t* column = nullptr;
  const void* value = nullptr;
};
inline void operands(capture::Operands& v, SparseRows&) { v.refuse("works on a sparse tensor"); }
/// out (rows, width) = a times b (…, width), both dense in memory. dtype: f32, f64, i64, c64 or c128.
HB_API inline Kernel<void(ScalarType dtype, const SparseRows& a, const void* b, int64_t width, void* out)>
    sparse_mm_kernel{"sparse.mm"};
/// out[e] = dot(x row of entry e, y row of its column), x (rows, width), y (…, width); y conjugated where complex.
HB_API inline Kernel<void(ScalarType dtype, const SparseRows& a, const void* x, const void* y, int64_t width,
                          void* out)>
    sparse_sampled_product_kernel{"sparse.mm_backward"};

/// Product of sparse matrices of which b has `columns` columns, in two calls: with column == nullptr counts the entries
/// of each row into first[r + 1] - first[r] (first[0] = 0); then writes row numbers, columns, ascending in a row, and
/// values.
struct SparseProduct {
  int64_t* first = nullptr;
  int64_t* row = nullptr;
  int64_t* column = nullptr;
  void* value = nullptr;
};
inline void operands(capture::Operands& v, SparseProduct&) { v.refuse("works on a sparse tensor"); }
HB_API inline Kernel<void(ScalarType dtype, const SparseRows& a, const SparseRows& b, int64_t columns,
                          SparseProduct& out)>
    sparse_product_kernel{"sparse.mm"};

/// Calls f(T()) with the C++ type of such a dtype.
template <class F>
void with_sparse_type(ScalarType dtype, const F& f) {
  switch (dtype) {
    case kFloat:
      return f(float());
    case kDouble:
      return f(double());
    case kLong:
      return f(int64_t());
    case kComplexFloat:
      return f(Complex<float>());
    case kComplexDouble:
      return f(Complex<double>());
    default:
      HB_CHECK(false, "[sparse.mm] expected a dtype to compute in, got ", dtype);
  }
}

}  // namespace hb
