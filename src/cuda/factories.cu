// arange and linspace.
#include "backend/factories.h"

#include <halfbridge/error.h>

#include "cuda/convert.h"
#include "cuda/register.h"

namespace hb::cuda {
namespace {

template <class T, class W>
__global__ void __launch_bounds__(kThreads) arange_of(T* out, int64_t n, W start, W step) {
  HB_GRID_LOOP(i, n) out[i] = convert<T>(static_cast<W>(start + static_cast<W>(i) * step));
}

/// From both ends, as LibTorch walks.
template <class T, class W>
__global__ void __launch_bounds__(kThreads) linspace_of(T* out, int64_t n, W start, W end, W step) {
  HB_GRID_LOOP(i, n) {
    const W forth = start + step * static_cast<W>(i), back = end - step * static_cast<W>(n - i - 1);
    out[i] = convert<T>(i < n / 2 || n == 1 ? forth : back);
  }
}

void arange_cuda(Tensor& out, const Scalar& start, const Scalar& step) {
  const int64_t n = out.numel();
  if (n == 0) return;
  switch (out.scalar_type()) {
#define HB_CASE(T, Name)                                                                                               \
  case ScalarType::Name: {                                                                                             \
    using W = std::conditional_t<std::is_integral_v<T>, int64_t, double>;                                              \
    HB_LAUNCH((arange_of<T, W>), blocks_for(n), kThreads, 0, current_stream(), static_cast<T*>(out.impl().raw_data()), \
              n, start.to<W>(), step.to<W>());                                                                         \
    return;                                                                                                            \
  }
    HB_FORALL_REAL_DTYPES(HB_CASE)
    HB_FORALL_WIDE_UNSIGNED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[arange] dtype ", out.scalar_type(), " is not supported");
  }
}

void linspace_cuda(Tensor& out, double start, double end) {
  const int64_t n = out.numel();
  if (n == 0) return;
  switch (out.scalar_type()) {
#define HB_CASE(T, Name)                                                                                            \
  case ScalarType::Name: {                                                                                          \
    using W = std::conditional_t<std::is_same_v<T, float>, float, double>;                                          \
    const W a = static_cast<W>(start), b = static_cast<W>(end), step = n > 1 ? (b - a) / static_cast<W>(n - 1) : 0; \
    HB_LAUNCH((linspace_of<T, W>), blocks_for(n), kThreads, 0, current_stream(),                                    \
              static_cast<T*>(out.impl().raw_data()), n, a, b, step);                                               \
    return;                                                                                                         \
  }
    HB_FORALL_REAL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[linspace] dtype ", out.scalar_type(), " is not supported");
  }
}

HB_REGISTER_CUDA(arange_kernel, arange_cuda);
HB_REGISTER_CUDA(linspace_kernel, linspace_cuda);

}  // namespace
}  // namespace hb::cuda
