#include "backend/equal.h"

#include <atomic>

#include "cpu/isa/vec.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kRun = 256;  // elements compared between two looks at the result

template <class T>
bool run_differs(const T* a, const T* b, int64_t n) {
  bool differs = false;
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    float x[kRun], y[kRun];
    load(a, x, n), load(b, y, n);
    for (int64_t i = 0; i < n; ++i) differs |= !(x[i] == y[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) differs |= !(a[i] == b[i]);
  }
  return differs;
}

template <class T>
bool equal_of(const T* a, const T* b, int64_t n) {
  std::atomic<bool> differs{false};
  parallel_for(0, n, kGrain, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to && !differs.load(std::memory_order_relaxed); i += kRun)
      if (run_differs(a + i, b + i, std::min(kRun, to - i))) differs.store(true, std::memory_order_relaxed);
  });
  return !differs.load();
}

bool equal(const Tensor& a, const Tensor& b) {
  switch (moved_type(a.scalar_type())) {
#define HB_CASE(T, Name)                                                                                            \
  case ScalarType::Name:                                                                                            \
    return equal_of(static_cast<const T*>(a.impl().visible_data()), static_cast<const T*>(b.impl().visible_data()), \
                    a.numel());
    HB_FORALL_COMPUTED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[equal] is not supported for dtype ", a.scalar_type());
  }
}

HB_REGISTER_ISA(equal_kernel, equal);

}  // namespace
}  // namespace hb::cpu::HB_ISA
