// Products of sparse matrices. Threads take rows; the sum of a row runs over its entries in a fixed order, so that it
// does not depend on the number of threads.
#include <algorithm>
#include <vector>

#include "backend/sparse.h"
#include "cpu/isa/vec.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Rows that are worth a thread, by the average work of a row.
int64_t rows_grain(const SparseRows& a, int64_t width) {
  const int64_t work = std::max<int64_t>(a.first[a.rows] * std::max<int64_t>(width, 1), 1);
  return std::max<int64_t>(1, kGrain * std::max<int64_t>(a.rows, 1) / work);
}

template <class T>
void add_scaled(T* __restrict out, const T* __restrict row, T by, int64_t n) {
  for (int64_t j = 0; j < n; ++j) out[j] += by * row[j];
}

/// Entries first to last by a vector, in four sums that do not wait for each other.
template <class T>
T times_vector(const SparseRows& a, const T* vector, int64_t first, int64_t last) {
  const T* value = static_cast<const T*>(a.value);
  constexpr int64_t kSums = 4;
  T sums[kSums] = {};
  int64_t e = first;
  for (; e + kSums <= last; e += kSums)
    for (int64_t k = 0; k < kSums; ++k) sums[k] += value[e + k] * vector[a.column[e + k]];
  for (; e < last; ++e) sums[0] += value[e] * vector[a.column[e]];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void mm(ScalarType dtype, const SparseRows& a, const void* b, int64_t width, void* out) {
  with_sparse_type(dtype, [&](auto type) {
    using T = decltype(type);
    const T* value = static_cast<const T*>(a.value);
    const T* dense = static_cast<const T*>(b);
    if (width == 1) {
      parallel_for(0, a.rows, rows_grain(a, width), [&](int64_t from, int64_t to) {
        for (int64_t r = from; r < to; ++r)
          static_cast<T*>(out)[r] = times_vector(a, dense, a.first[r], a.first[r + 1]);
      });
      return;
    }
    parallel_for(0, a.rows, rows_grain(a, width), [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r) {
        T* row = static_cast<T*>(out) + r * width;
        std::fill(row, row + width, T(0));
        for (int64_t e = a.first[r]; e < a.first[r + 1]; ++e)
          add_scaled(row, dense + a.column[e] * width, value[e], width);
      }
    });
  });
}
HB_REGISTER_ISA(sparse_mm_kernel, mm);

template <class T>
T conjugate(T x) {
  return x;
}
template <class T>
Complex<T> conjugate(Complex<T> x) {
  return conj(x);
}

// Sums in lanes, which the compiler keeps in vector registers.
template <class T>
T dot(const T* __restrict x, const T* __restrict y, int64_t n) {
  constexpr int64_t kLanes = 16;
  T lanes[kLanes] = {};
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes)
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] += x[j + k] * conjugate(y[j + k]);
  T sum = T(0);
  for (const T& lane : lanes) sum += lane;
  for (; j < n; ++j) sum += x[j] * conjugate(y[j]);
  return sum;
}

void sampled_product(ScalarType dtype, const SparseRows& a, const void* x, const void* y, int64_t width, void* out) {
  with_sparse_type(dtype, [&](auto type) {
    using T = decltype(type);
    const T *left = static_cast<const T*>(x), *right = static_cast<const T*>(y);
    parallel_for(0, a.rows, rows_grain(a, width), [&](int64_t from, int64_t to) {
      for (int64_t r = from; r < to; ++r)
        for (int64_t e = a.first[r]; e < a.first[r + 1]; ++e)
          static_cast<T*>(out)[e] = dot(left + r * width, right + a.column[e] * width, width);
    });
  });
}
HB_REGISTER_ISA(sparse_sampled_product_kernel, sampled_product);

/// The row of a product that is being summed: values by column, and which columns have one.
template <class T>
struct RowSum {
  explicit RowSum(int64_t columns) : value(columns), last_row(columns, -1) {}
  std::vector<T> value;
  std::vector<int64_t> last_row, columns;

  void compute(const SparseRows& a, const SparseRows& b, int64_t row) {
    columns.clear();
    for (int64_t e = a.first[row]; e < a.first[row + 1]; ++e) {
      const T by = static_cast<const T*>(a.value)[e];
      for (int64_t f = b.first[a.column[e]]; f < b.first[a.column[e] + 1]; ++f) {
        const int64_t c = b.column[f];
        const T product = by * static_cast<const T*>(b.value)[f];
        if (last_row[c] == row) {
          value[c] += product;
          continue;
        }
        last_row[c] = row, value[c] = product;
        columns.push_back(c);
      }
    }
  }
};

void product(ScalarType dtype, const SparseRows& a, const SparseRows& b, int64_t columns, SparseProduct& out) {
  with_sparse_type(dtype, [&](auto type) {
    using T = decltype(type);
    parallel_for(0, a.rows, rows_grain(a, 16), [&](int64_t from, int64_t to) {
      RowSum<T> sum(columns);
      for (int64_t r = from; r < to; ++r) {
        sum.compute(a, b, r);
        if (!out.column) {
          out.first[r + 1] = static_cast<int64_t>(sum.columns.size());
          continue;
        }
        std::sort(sum.columns.begin(), sum.columns.end());
        int64_t at = out.first[r];
        std::fill(out.row + at, out.row + out.first[r + 1], r);
        for (const int64_t c : sum.columns) {
          out.column[at] = c;
          static_cast<T*>(out.value)[at++] = sum.value[c];
        }
      }
    });
    if (out.column) return;
    out.first[0] = 0;
    for (int64_t r = 0; r < a.rows; ++r) out.first[r + 1] += out.first[r];
  });
}
HB_REGISTER_ISA(sparse_product_kernel, product);

}  // namespace
}  // namespace hb::cpu::HB_ISA
