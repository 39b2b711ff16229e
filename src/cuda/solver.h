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

}  // namespace hb::cuda
