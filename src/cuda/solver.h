#pragma once
// What decompositions share.

#include <halfbridge/tensor.h>

#include "cuda/cusolver.h"

namespace hb::cuda {

struct Triangular {
  bool left, upper, unit;
  cublasOperation_t form;
};
/// The first m rows of the n columns of x become the solutions of form(a) X = x, or X form(a) = x unless `left`. Both
/// by columns.
void triangular_solve(const Triangular& t, const Tensor& a, const Tensor& x, int64_t m, int64_t n);

/// Calls fn(number) with a zero of the type that names cuSOLVER's routines for matrices of the dtype.
template <class F>
void with_solver_type(ScalarType dtype, const F& fn) {
  switch (dtype) {
    case kFloat:
      return fn(float{});
    case kDouble:
      return fn(double{});
    case kComplexFloat:
      return fn(cuComplex{});
    default:
      return fn(cuDoubleComplex{});
  }
}

}  // namespace hb::cuda
