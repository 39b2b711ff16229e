#pragma once
// Stacks of matrices by columns, as cuSOLVER is given them, and the kernels that stand around its calls.

#include <algorithm>
#include <optional>
#include <vector>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "core/copy_values.h"
#include "cuda/cusolver.h"
#include "cuda/scratch.h"

namespace hb::cuda {

/// A stack (count, rows, columns) whose columns lie `leading` elements apart.
struct Stack {
  char* data;
  int64_t count, rows, columns, step, leading;
  size_t itemsize;
  explicit Stack(const Tensor& t)
      : data(static_cast<char*>(t.impl().visible_data())),
        count(t.size(0)),
        rows(t.size(1)),
        columns(t.size(2)),
        step(t.stride(0)),
        leading(columns > 1 ? t.stride(2) : std::max<int64_t>(rows, 1)),
        itemsize(t.itemsize()) {}
  void* at(int64_t i) const { return data + static_cast<size_t>(i * step) * itemsize; }
};
/// Element i of a vector of the dtype of the stack.
inline void* element(const Tensor& t, int64_t i) {
  return static_cast<char*>(t.impl().visible_data()) + static_cast<size_t>(i) * t.itemsize();
}

/// Whether cuSOLVER can read these matrices where they lie.
inline bool by_columns(const Tensor& t) {
  return (t.stride(1) == 1 || t.size(1) == 1) && (t.size(2) == 1 || t.stride(2) >= std::max<int64_t>(t.size(1), 1));
}
inline Tensor new_columns(const Tensor& like, int64_t rows, int64_t columns) {
  return empty_strided({like.size(0), rows, columns}, {rows * columns, 1, rows}, like.options());
}
inline Tensor copied_columns(const Tensor& t) {
  Tensor copy = new_columns(t, t.size(1), t.size(2));
  copy_values(copy, t);
  return copy;
}
inline Tensor in_columns(const Tensor& t) { return by_columns(t) ? t : copied_columns(t); }
inline Tensor adjoint_of(const Tensor& t) {
  const NoGradGuard no_grad;
  return (t.is_complex() ? conj(t) : t).transpose(1, 2);
}

inline cudaDataType_t data_type(ScalarType dtype) {
  switch (dtype) {
    case kFloat:
      return CUDA_R_32F;
    case kDouble:
      return CUDA_R_64F;
    case kComplexFloat:
      return CUDA_C_32F;
    default:
      return CUDA_C_64F;
  }
}

/// Workspaces of one routine: fill the sizes, then make() it.
struct Workspace {
  size_t device = 0, host = 0;
  void make() {
    on_device_.emplace(static_cast<int64_t>(device));
    on_host_.resize(std::max<size_t>(host, 1));
  }
  void* on_device() const { return on_device_->get(); }
  void* on_host() { return on_host_.data(); }

 private:
  std::optional<Scratch<char>> on_device_;
  std::vector<char> on_host_;
};

/// to[i] = from[i], and the other way; pivots outside of [1, rows] are reported and become 1.
void narrow_pivots(int32_t* to, const int64_t* from, int64_t n);
void widen_pivots(int64_t* to, const int32_t* from, int64_t n, int64_t rows);
/// Zeros in the triangle that a Cholesky factor has not.
void clear_other_triangle(const Tensor& factor, bool upper);
/// The upper triangle of `from` (b, m, n) in `to` (b, c, n), zeros below.
void copy_upper(const Tensor& to, const Tensor& from);
/// info[i] = the number of the first zero on the diagonal of matrix i, from 1; 0 where there is none.
void find_zero_on_diagonal(const Tensor& matrices, int32_t* info);
/// Complex columns of real ones: where values come in pairs, a column of real parts and one of imaginary parts.
void pair_columns(const Tensor& vectors, const Tensor& packed, const Tensor& values);
/// Matrices with an infinity or NaN in the triangle that is read become zero and are marked in `bad` (one int a
/// matrix); afterwards their results become NaN, and info says that nothing converged where NaN is in more than two
/// rows.
void set_aside_not_finite(const Tensor& matrices, bool upper, int32_t* bad);
void put_nan(const Tensor& values, const Tensor& vectors, const Tensor& info, const int32_t* bad);

}  // namespace hb::cuda
