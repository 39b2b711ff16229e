// Tensors of numbers in even steps.
#include "backend/factories.h"

#include <algorithm>
#include <type_traits>

#include <halfbridge/error.h>

#include "cpu/isa/isa.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

template <class T>
void fill_arange(T* out, int64_t n, const Scalar& start, const Scalar& step) {
  // Wide arithmetic as LibTorch's: int64 for integers, double for floating types.
  using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  const Wide a = start.to<Wide>(), s = step.to<Wide>();
  parallel_for(0, n, kGrain, [=](int64_t begin, int64_t end) {
    constexpr int64_t kRun = 1024;  // whose places are ints: AVX2 converts no wider ones
    for (int64_t i = begin; i < end; i += kRun) {
      const auto first = static_cast<Wide>(i);
      const int count = static_cast<int>(std::min(kRun, end - i));
      T* to = out + i;
      for (int j = 0; j < count; ++j) to[j] = static_cast<T>(a + (first + j) * s);
    }
  });
}

template <class T>
void fill_linspace(T* out, int64_t n, double start, double end) {
  if (n == 0) return;
  if constexpr (std::is_same_v<T, float>) {
    // LibTorch computes the step in the dtype itself and walks from both ends.
    const float a = static_cast<float>(start), b = static_cast<float>(end);
    const float step = n > 1 ? (b - a) / static_cast<float>(n - 1) : 0;
    for (int64_t i = 0; i < n; ++i)
      out[i] = i < n / 2 ? a + step * static_cast<float>(i) : b - step * static_cast<float>(n - i - 1);
    if (n == 1) out[0] = a;
  } else {
    const double step = n > 1 ? (end - start) / static_cast<double>(n - 1) : 0;
    for (int64_t i = 0; i < n; ++i)
      out[i] = static_cast<T>(i < n / 2 ? start + step * static_cast<double>(i)
                                        : end - step * static_cast<double>(n - i - 1));
    if (n == 1) out[0] = static_cast<T>(start);
  }
}

void arange_cpu(Tensor& out, const Scalar& start, const Scalar& step) {
  switch (out.scalar_type()) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return fill_arange(static_cast<T*>(out.impl().raw_data()), out.numel(), start, step);
    HB_FORALL_REAL_DTYPES(HB_CASE)
    HB_FORALL_WIDE_UNSIGNED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[arange] dtype ", out.scalar_type(), " is not supported");
  }
}

void linspace_cpu(Tensor& out, double start, double end) {
  switch (out.scalar_type()) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return fill_linspace(static_cast<T*>(out.impl().raw_data()), out.numel(), start, end);
    HB_FORALL_REAL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[linspace] dtype ", out.scalar_type(), " is not supported");
  }
}

HB_REGISTER_ISA(arange_kernel, arange_cpu);
HB_REGISTER_ISA(linspace_kernel, linspace_cpu);

}  // namespace
}  // namespace hb::cpu::HB_ISA
