// Products of vectors of three.
#include "backend/cross.h"

#include <algorithm>
#include <type_traits>

#include "cpu/isa/isa.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

/// u v - w z, each product rounded to T.
template <class T>
inline T difference(T u, T v, T w, T z) {
  if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, Half>) {
    const auto product = [](T a, T b) { return static_cast<float>(T(static_cast<float>(a) * static_cast<float>(b))); };
    return T(product(u, v) - product(w, z));
  } else {
    return u * v - w * z;
  }
}

/// Products of [from, to): vectors whose components are `inner` apart.
template <class T>
void products(T* out, const T* a, const T* b, int64_t from, int64_t to, int64_t inner) {
  HB_INDEPENDENT
  for (int64_t i = from; i < to; ++i) {
    const T a0 = a[i], a1 = a[i + inner], a2 = a[i + 2 * inner], b0 = b[i], b1 = b[i + inner], b2 = b[i + 2 * inner];
    out[i] = difference(a1, b2, a2, b1);
    out[i + inner] = difference(a2, b0, a0, b2);
    out[i + 2 * inner] = difference(a0, b1, a1, b0);
  }
}

/// Of components that are neighbours.
template <class T>
void products(T* out, const T* a, const T* b, int64_t from, int64_t to) {
  HB_INDEPENDENT
  for (int64_t i = 3 * from; i < 3 * to; i += 3) {
    const T a0 = a[i], a1 = a[i + 1], a2 = a[i + 2], b0 = b[i], b1 = b[i + 1], b2 = b[i + 2];
    out[i] = difference(a1, b2, a2, b1);
    out[i + 1] = difference(a2, b0, a0, b2);
    out[i + 2] = difference(a0, b1, a1, b0);
  }
}

template <class T>
void cross_of(const Tensor& out, const Tensor& a, const Tensor& b, Lines l) {
  auto* to = static_cast<T*>(out.impl().raw_data());
  const auto *x = static_cast<const T*>(a.impl().raw_data()), *y = static_cast<const T*>(b.impl().raw_data());
  if (l.inner == 1) {
    parallel_for(0, l.outer, kGrain / 8, [&](int64_t from, int64_t end) { products(to, x, y, from, end); });
    return;
  }
  parallel_for(0, l.outer * l.inner, kGrain / 8, [&](int64_t from, int64_t end) {
    while (from < end) {
      const int64_t o = from / l.inner, first = from % l.inner, count = std::min(l.inner - first, end - from);
      const int64_t at = o * 3 * l.inner;
      products(to + at, x + at, y + at, first, first + count, l.inner);
      from += count;
    }
  });
}

void cross(const Tensor& out, const Tensor& a, const Tensor& b, Lines l) {
  switch (out.scalar_type()) {
    case kFloat:
      return cross_of<float>(out, a, b, l);
    case kDouble:
      return cross_of<double>(out, a, b, l);
    case kBFloat16:
      return cross_of<BFloat16>(out, a, b, l);
    case kHalf:
      return cross_of<Half>(out, a, b, l);
    default:
      HB_NOT_SUPPORTED("[linalg_cross] is not supported for dtype ", out.scalar_type());
  }
}
HB_REGISTER_ISA(cross_kernel, cross);

}  // namespace
}  // namespace hb::cpu::HB_ISA
