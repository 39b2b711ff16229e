#include "backend/equal.h"

#include <atomic>

#include "cpu/isa/vec.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kRun = 256;  // elements compared between two looks at the result

template <class T>
bool run_differs(const T* a, const T* b, int64_t n) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    float x[kRun], y[kRun];
    load(a, x, n), load(b, y, n);
    return run_differs(x, y, n);
  } else {
    // As wide as an element: of a bool the compiler makes no vector code.
    using Flag = std::conditional_t<sizeof(T) <= 8, BitsOf<T>, uint64_t>;
    Flag differs = 0;
    for (int64_t i = 0; i < n; ++i) differs |= static_cast<Flag>(!(a[i] == b[i]));
    return differs != 0;
  }
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
