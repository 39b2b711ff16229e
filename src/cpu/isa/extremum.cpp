// The largest or smallest value of each line, and where it first stands.
#include <vector>

#include "cpu/isa/convert_element.h"
#include "cpu/isa/reduce_step.h"
#include "cpu/isa/runs.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int64_t kColumns = 256;

/// n values as they are compared; `wide` has room for them if they are of a half type.
template <class T>
const Compared<T>* comparable(const T* x, float* wide, int64_t n) {
  if constexpr (is_half_v<T>) {
    return computable(x, wide, n);
  } else {
    return x;
  }
}

/// Whether x comes before what was found so far: a larger (smaller) value, or the first NaN.
template <class C, bool Largest>
inline bool better(C x, C best) {
  if constexpr (std::is_floating_point_v<C>) {
    const bool ordered = Largest ? x > best : x < best;
    return ordered | ((x != x) & (best == best));
  } else {
    return Largest ? x > best : x < best;
  }
}

/// One contiguous line: the value first, at full speed, and then its place.
template <class C, bool Largest>
int64_t find_in_line(const C* x, int64_t n) {
  if constexpr (std::is_floating_point_v<C> || std::is_same_v<C, int64_t>) {
    if (n >= 32) {
      const C best = reduce_run < Largest ? ReduceOp::max : ReduceOp::min, C > (x, n);
      if (best != best) {
        for (int64_t i = 0; i < n; ++i)
          if (x[i] != x[i]) return i;
      }
      for (int64_t i = 0; i < n; ++i)
        if (x[i] == best) return i;
    }
  }
  C best = x[0];
  int64_t at = 0;
  for (int64_t i = 1; i < n; ++i)
    if (better<C, Largest>(x[i], best)) best = x[i], at = i;
  return at;
}

template <class T, bool Largest>
void columns(const T* x, int64_t n, int64_t inner, int64_t count, T* values, int64_t* indices) {
  using C = Compared<T>;
  C best[kColumns];
  float wide[kColumns];
  int64_t at[kColumns];
  std::copy_n(comparable(x, wide, count), count, best);
  std::fill_n(at, count, 0);
  for (int64_t i = 1; i < n; ++i) {
    const C* row = comparable(x + i * inner, wide, count);
    HB_INDEPENDENT
    for (int64_t k = 0; k < count; ++k) {
      const bool take = better<C, Largest>(row[k], best[k]);
      best[k] = take ? row[k] : best[k];
      at[k] = take ? i : at[k];
    }
  }
  for (int64_t k = 0; k < count; ++k) {
    indices[k] = at[k];
    if (values) values[k] = x[at[k] * inner + k];
  }
}

template <class T, bool Largest>
void run(T* values, int64_t* indices, const T* x, Lines l) {
  parallel_for(0, l.outer, std::max<int64_t>(1, kGrain / (l.n * l.inner)), [&](int64_t b, int64_t e) {
    std::vector<float> wide(is_half_v<T> && l.inner == 1 ? l.n : 0);
    for (int64_t o = b; o < e; ++o) {
      const T* from = x + o * l.n * l.inner;
      if (l.inner == 1) {
        indices[o] = find_in_line<Compared<T>, Largest>(comparable(from, wide.data(), l.n), l.n);
        if (values) values[o] = from[indices[o]];
        continue;
      }
      for (int64_t k = 0; k < l.inner; k += kColumns)
        columns<T, Largest>(from + k, l.n, l.inner, std::min(kColumns, l.inner - k),
                            values ? values + o * l.inner + k : nullptr, indices + o * l.inner + k);
    }
  });
}

void extremum(const Tensor& values, const Tensor& indices, const Tensor& in, Lines l, bool largest) {
  if (l.outer * l.inner == 0) return;
  auto* at = static_cast<int64_t*>(indices.impl().raw_data());
  switch (in.scalar_type()) {
#define HB_CASE(T, Name)                                                           \
  case ScalarType::Name: {                                                         \
    T* v = values.defined() ? static_cast<T*>(values.impl().raw_data()) : nullptr; \
    const auto* x = static_cast<const T*>(in.impl().raw_data());                   \
    return largest ? run<T, true>(v, at, x, l) : run<T, false>(v, at, x, l);       \
  }
    HB_FORALL_REAL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[max] is not supported for dtype ", in.scalar_type());
  }
}

HB_REGISTER_ISA(extremum_kernel, extremum);

}  // namespace
}  // namespace hb::cpu::HB_ISA
