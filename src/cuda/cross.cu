// Products of vectors of three.
#include "backend/cross.h"

#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

/// u v - w z, each product rounded to T, so that parallel vectors give zeros.
template <class T>
__device__ T difference(T u, T v, T w, T z) {
  using C = compute_t<T>;
  const auto product = [](T a, T b) {
    if constexpr (std::is_same_v<T, double>)
      return __dmul_rn(a, b);
    else
      return widen<C>(T(__fmul_rn(widen<C>(a), widen<C>(b))));
  };
  return T(product(u, v) - product(w, z));
}

template <class T>
__global__ void __launch_bounds__(kThreads) products(T* out, const T* a, const T* b, int64_t n, int64_t inner) {
  HB_GRID_LOOP(i, n) {
    const int64_t x = inner == 1 ? 3 * i : i / inner * 2 * inner + i, y = x + inner, z = y + inner;
    const T ax = a[x], ay = a[y], az = a[z], bx = b[x], by = b[y], bz = b[z];
    out[x] = difference(ay, bz, az, by);
    out[y] = difference(az, bx, ax, bz);
    out[z] = difference(ax, by, ay, bx);
  }
}

void cross(const Tensor& out, const Tensor& a, const Tensor& b, Lines l) {
  const int64_t n = l.outer * l.inner;
  if (n == 0) return;
  HB_FLOATING_SWITCH("linalg_cross", out.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const auto data = [](const Tensor& t) { return static_cast<T*>(t.impl().raw_data()); };
    HB_LAUNCH(products<T>, blocks_for(n), kThreads, 0, current_stream(), data(out), data(a), data(b), n, l.inner);
  });
}
HB_REGISTER_CUDA(cross_kernel, cross);

}  // namespace
}  // namespace hb::cuda
