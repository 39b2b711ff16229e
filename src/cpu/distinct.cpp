// Runs of equal neighbours.
#include "backend/distinct.h"

namespace hb::cpu {
namespace {

template <class T>
int64_t runs(T* values, int64_t* inverse, int64_t* counts, const T* in, int64_t n) {
  if (n == 0) return 0;
  // Without branches, which nobody could foretell: a value is written where the next run would begin, and stays there
  // if one does. Counts are places of the ends at first.
  int64_t run = 0;
  values[0] = in[0];
  if (!inverse && !counts) {
    for (int64_t i = 1; i < n; ++i) {
      values[run + 1] = in[i];
      run += in[i] != in[i - 1];
    }
    return run + 1;
  }
  if (inverse) inverse[0] = 0;
  if (counts) counts[0] = 1;
  for (int64_t i = 1; i < n; ++i) {
    values[run + 1] = in[i];
    run += in[i] != in[i - 1];
    if (inverse) inverse[i] = run;
    if (counts) counts[run] = i + 1;
  }
  if (counts)
    for (int64_t k = run; k > 0; --k) counts[k] -= counts[k - 1];
  return run + 1;
}

int64_t* indices(const Tensor& t) { return t.defined() ? static_cast<int64_t*>(t.impl().raw_data()) : nullptr; }

int64_t distinct(const Tensor& values, const Tensor& inverse, const Tensor& counts, const Tensor& in) {
  switch (in.scalar_type()) {
#define HB_CASE(T, Name)                                                                      \
  case ScalarType::Name:                                                                      \
    return runs(static_cast<T*>(values.impl().raw_data()), indices(inverse), indices(counts), \
                static_cast<const T*>(in.impl().raw_data()), in.numel());
    HB_FORALL_REAL_DTYPES(HB_CASE)
    HB_FORALL_WIDE_UNSIGNED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[unique] is not supported for dtype ", in.scalar_type());
  }
}
HB_REGISTER_CPU(distinct_kernel, distinct);

}  // namespace
}  // namespace hb::cpu
