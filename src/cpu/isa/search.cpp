// Searches in sorted lines.
#include <algorithm>

#include "backend/sort.h"
#include "cpu/isa/isa.h"
#include "cpu/parallel.h"
#include "cpu/sorted_before.h"
#include "formulas/compared.h"

namespace hb::cpu::HB_ISA {
namespace {

constexpr int kAtOnce = 4;  // searches side by side, which share the steps

/// How many values at the front of a line pass each search, where those that do all stand there: passes(search, value).
/// No branch depends on a value: nobody could foretell it.
template <int searches, class T, class F>
void count_passing(int64_t* count, const T* line, int64_t n, const F& passes) {
  int64_t at[searches] = {};
  for (int64_t left = n; left > 0;) {
    const int64_t half = (left + 1) / 2;
#pragma GCC unroll 4
    for (int k = 0; k < searches; ++k) {
      const bool passed = passes(k, static_cast<Compared<T>>(line[at[k] + half - 1]));
      at[k] += half & -static_cast<int64_t>(passed);
    }
    left -= half;
  }
  std::copy_n(at, searches, count);
}

/// Where values would stand, before those equal to them or (`right`) after them. As sort() orders: NaN stands above
/// every number.
template <int searches, class T>
void places_of(int64_t* place, const T* line, int64_t n, const T* values, bool right) {
  using C = Compared<T>;
  C v[searches];
  bool numbers = true;
  for (int k = 0; k < searches; ++k) v[k] = static_cast<C>(values[k]), numbers &= !is_nan(v[k]);
  if (numbers && right) return count_passing<searches>(place, line, n, [&](int k, C c) { return c <= v[k]; });
  if (numbers) return count_passing<searches>(place, line, n, [&](int k, C c) { return c < v[k]; });
  count_passing<searches>(place, line, n, [&](int k, C c) { return right ? !less(v[k], c) : less(c, v[k]); });
}

/// Short lines are compared with as a whole: that takes fewer steps, and no load waits for a comparison.
constexpr int64_t kShort = 24;
constexpr int kLanes = 16;

/// The same for one vector of values and a short line.
template <int searches, class T>
bool places_in_short(int64_t* place, const T* line, int64_t n, const T* values, bool right) {
  using C = Compared<T>;
  C v[searches];
  int32_t count[searches] = {};
  bool numbers = true;
  for (int k = 0; k < searches; ++k) v[k] = static_cast<C>(values[k]), numbers &= !is_nan(v[k]);
  if (!numbers) return false;
  for (int64_t j = 0; j < n; ++j) {
    const C c = static_cast<C>(line[j]);
    if (right)
      for (int k = 0; k < searches; ++k) count[k] += c <= v[k];
    else
      for (int k = 0; k < searches; ++k) count[k] += c < v[k];
  }
  for (int k = 0; k < searches; ++k) place[k] = count[k];
  return true;
}

template <class T>
void search_lines(int64_t* out, const T* sorted, const T* in, int64_t outer, int64_t n, int64_t m, bool shared,
                  bool right) {
  parallel_for(0, outer * m, kGrain / 8, [&](int64_t b, int64_t e) {
    int64_t i = b;
    if (shared && n <= kShort)
      for (; i + kLanes <= e; i += kLanes)
        if (!places_in_short<kLanes>(out + i, sorted, n, in + i, right))
          for (int64_t k = i; k < i + kLanes; ++k) places_of<1>(out + k, sorted, n, in + k, right);
    if (shared)
      for (; i + kAtOnce <= e; i += kAtOnce) places_of<kAtOnce>(out + i, sorted, n, in + i, right);
    for (; i < e; ++i) places_of<1>(out + i, sorted + (shared ? 0 : i / m * n), n, in + i, right);
  });
}

void searchsorted(const Tensor& out, const Tensor& sorted, const Tensor& in, int64_t outer, bool right) {
  if (in.numel() == 0) return;
  const bool shared = sorted.dim() == 1;
  const int64_t n = sorted.size(-1), m = in.numel() / outer;
#define HB_CASE(T, Name)                                                                                               \
  case ScalarType::Name:                                                                                               \
    return search_lines(static_cast<int64_t*>(out.impl().raw_data()), static_cast<const T*>(sorted.impl().raw_data()), \
                        static_cast<const T*>(in.impl().raw_data()), outer, n, m, shared, right);
  switch (in.scalar_type()) {
    HB_FORALL_REAL_DTYPES(HB_CASE)
    HB_FORALL_WIDE_UNSIGNED_DTYPES(HB_CASE)
    default:
      HB_NOT_SUPPORTED("[searchsorted] is not supported for dtype ", in.scalar_type());
  }
#undef HB_CASE
}

HB_REGISTER_ISA(searchsorted_kernel, searchsorted);

}  // namespace
}  // namespace hb::cpu::HB_ISA
