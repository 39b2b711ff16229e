// The lexicographic order of rows.
#include <algorithm>
#include <numeric>

#include "backend/distinct.h"
#include "cpu/sorted_before.h"
#include "formulas/compared.h"

namespace hb::cpu {
namespace {

template <class T>
void order_rows(int64_t* places, const T* rows, int64_t n, int64_t m) {
  std::iota(places, places + n, 0);
  // Most rows differ early.
  std::stable_sort(places, places + n, [=](int64_t a, int64_t b) {
    for (int64_t j = 0; j < m; ++j) {
      const auto x = static_cast<Compared<T>>(rows[a * m + j]), y = static_cast<Compared<T>>(rows[b * m + j]);
      if (less(x, y)) return true;
      if (less(y, x)) return false;
    }
    return false;
  });
}

void row_order(const Tensor& places, const Tensor& rows) {
  auto* out = static_cast<int64_t*>(places.impl().raw_data());
  switch (rows.scalar_type()) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return order_rows(out, static_cast<const T*>(rows.impl().raw_data()), rows.size(0), rows.size(1));
    HB_FORALL_REAL_DTYPES(HB_CASE)
    HB_FORALL_WIDE_UNSIGNED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[unique_dim] is not supported for dtype ", rows.scalar_type());
  }
}
HB_REGISTER_CPU(row_order_kernel, row_order);

}  // namespace
}  // namespace hb::cpu
