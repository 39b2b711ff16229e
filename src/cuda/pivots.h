#pragma once
// Pivots that a program gives: those that name no row are told of.

#include "cuda/report.h"

namespace hb::cuda {

struct PivotReporters {
  Reporter small, large;
#ifdef HB_DEVICE_CODE
  /// The pivot, or 1 in place of one outside of [1, rows].
  __device__ int64_t checked(int64_t pivot, int64_t rows) const {
    if (pivot < 1) small.out_of_range(pivot, rows);
    if (pivot > rows) large.out_of_range(pivot, rows);
    return pivot < 1 || pivot > rows ? 1 : pivot;
  }
#endif
};
inline PivotReporters pivot_reporters() {
  return {reporter("linalg_lu_solve",
                   "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the result of "
                   "lu_factor?"),
          reporter("linalg_lu_solve",
                   "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you properly pass the "
                   "result of lu_factor?")};
}

}  // namespace hb::cuda
