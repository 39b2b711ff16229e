// Running sums, products and extrema along lines.
#include <cmath>
#include <limits>
#include <type_traits>

#include "backend/sort.h"
#include "cpu/isa/lanes.h"
#include "cpu/isa/vec.h"
#include "formulas/carried.h"

namespace hb::cpu::HB_ISA {
namespace {

double log_add_exp(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  const double low = std::min(a, b), high = std::max(a, b);
  if (low != high || std::isfinite(low)) return std::log1p(std::exp(low - high)) + high;
  return a;
}

template <ScanOp op, class C>
C combined(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<C>(op == ScanOp::sum ? x + y : x * y);
  } else {
    if (op == ScanOp::log_sum_exp) return static_cast<C>(log_add_exp(a, b));
    return op == ScanOp::sum ? a + b : a * b;
  }
}
/// Calls f(constant) for what is no extremum: a line's loop knows what it does.
template <class F>
void with_op(ScanOp op, const F& f) {
  if (op == ScanOp::sum) return f(std::integral_constant<ScanOp, ScanOp::sum>());
  if (op == ScanOp::log_sum_exp) return f(std::integral_constant<ScanOp, ScanOp::log_sum_exp>());
  f(std::integral_constant<ScanOp, ScanOp::prod>());
}

/// A contiguous line of integers, added.
template <class T>
void add_up(T* out, const T* in, int64_t n) {
  using C = Carried<T>;
  const auto sum = combined<ScanOp::sum, C>;
  C carried = static_cast<C>(in[0]);
  out[0] = in[0];
  int64_t i = 1;
  for (; i + 4 <= n; i += 4) {  // one sum waits for the sum before, not four
    const auto at = [&](int64_t k) { return static_cast<C>(in[i + k]); };
    const C two = sum(at(0), at(1)), three = sum(two, at(2)), four = sum(three, at(3)), first = sum(carried, at(0));
    out[i + 1] = static_cast<T>(sum(carried, two));
    out[i + 2] = static_cast<T>(sum(carried, three));
    carried = sum(carried, four);
    out[i] = static_cast<T>(first), out[i + 3] = static_cast<T>(carried);
  }
  for (; i < n; ++i) {
    carried = sum(carried, static_cast<C>(in[i]));
    out[i] = static_cast<T>(carried);
  }
}

constexpr int kLines = 4;  // contiguous ones that go together: each step of one waits for the step before

/// `lines` contiguous lines of n elements.
template <ScanOp op, int lines, class T>
void accumulate(T* out, const T* in, int64_t n) {
  using C = Carried<T>;
  C carried[lines];
  for (int r = 0; r < lines; ++r) carried[r] = static_cast<C>(in[r * n]), out[r * n] = in[r * n];
  for (int64_t i = 1; i < n; ++i)
#pragma GCC unroll 4
    for (int r = 0; r < lines; ++r) {
      carried[r] = combined<op>(carried[r], static_cast<C>(in[r * n + i]));
      out[r * n + i] = static_cast<T>(carried[r]);
    }
}

/// The scan of a half type, converted a run at a time.
template <ScanOp op, int lines, class T>
void accumulate_half(T* out, const T* in, int64_t n) {
  constexpr int64_t kRun = 512;
  float values[lines][kRun], carried[lines];
  for (int64_t at = 0; at < n; at += kRun) {
    const int64_t count = std::min(kRun, n - at);
    for (int r = 0; r < lines; ++r) load(in + r * n + at, values[r], count);
    if (at == 0)
      for (int r = 0; r < lines; ++r) carried[r] = values[r][0];
    for (int64_t i = at == 0 ? 1 : 0; i < count; ++i)
#pragma GCC unroll 4
      for (int r = 0; r < lines; ++r) values[r][i] = carried[r] = combined<op>(carried[r], values[r][i]);
    for (int r = 0; r < lines; ++r) store(values[r], out + r * n + at, count);
  }
}

/// `width` neighbouring lines at once.
constexpr int64_t kColumns = 256;
template <ScanOp op, class T>
void accumulate_columns(T* out, const T* in, int64_t n, int64_t stride, int64_t width) {
  Carried<T> carried[kColumns];
  for (int64_t k = 0; k < width; ++k) carried[k] = static_cast<Carried<T>>(in[k]);
  std::copy_n(in, width, out);
  for (int64_t i = 1; i < n; ++i) {
    const T* from = in + i * stride;
    T* to = out + i * stride;
    for (int64_t k = 0; k < width; ++k) {
      carried[k] = combined<op>(carried[k], static_cast<Carried<T>>(from[k]));
      to[k] = static_cast<T>(carried[k]);
    }
  }
}

/// `lines` contiguous lines of integers, without branches: they are often equal, which nobody could foretell.
template <bool kLargest, int lines, class T>
void extremum_of_integers(T* out, int64_t* at, const T* in, int64_t n) {
  T value[lines];
  int64_t place[lines] = {};
  for (int r = 0; r < lines; ++r) value[r] = in[r * n];
  for (int64_t i = 0; i < n; ++i)
#pragma GCC unroll 2
    for (int r = 0; r < lines; ++r) {
      const T v = in[r * n + i];
      const bool behind = kLargest ? v < value[r] : v > value[r];
      out[r * n + i] = value[r] = behind ? value[r] : v;
      at[r * n + i] = place[r] = behind ? place[r] : i;
    }
}

/// Four values, each with its place.
struct Placed {
  using Four = Vector<int64_t, 4>;
  Four value, place;
  template <int a, int b, int c, int d>
  Placed lanes() const {
    return {__builtin_shufflevector(value, value, a, b, c, d), __builtin_shufflevector(place, place, a, b, c, d)};
  }
};
/// Lane by lane what comes later, unless what came first is better. Of one and the same it is that.
template <bool kLargest>
Placed better(const Placed& first, const Placed& later) {
  const Placed::Four behind = kLargest ? later.value < first.value : later.value > first.value;
  return {behind ? first.value : later.value, behind ? first.place : later.place};
}

/// A contiguous line of int64, four at once, without branches. Narrower numbers would have to be widened first, which
/// takes longer than it saves.
template <bool kLargest>
void extremum_by_four(int64_t* out, int64_t* at, const int64_t* in, int64_t n) {
  using Four = Placed::Four;
  Placed best{Four{} + in[0], Four{}};
  Four places{0, 1, 2, 3};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4, places += 4) {
    Placed four{load<int64_t, 4>(in + i), places};
    four = better<kLargest>(four.lanes<0, 0, 2, 2>(), four);
    four = better<kLargest>(four.lanes<0, 1, 1, 1>(), four);
    const Placed all = better<kLargest>(best, four);
    store<int64_t, 4>(out + i, all.value), store<int64_t, 4>(at + i, all.place);
    best = better<kLargest>(best, four.lanes<3, 3, 3, 3>());
  }
  for (; i < n; ++i) {
    best = better<kLargest>(best, {Four{} + in[i], Four{} + i});
    out[i] = best.value[0], at[i] = best.place[0];
  }
}

template <bool kLargest, class T>
void extremum(T* out, int64_t* at, const T* in, int64_t n) {
  using C = Compared<T>;
  T value = in[0];
  C best = static_cast<C>(value);
  int64_t place = 0;
  for (int64_t i = 0; i < n; ++i) {
    const C v = static_cast<C>(in[i]);
    const bool behind = kLargest ? v < best : v > best;
    // Records are rare: all else is settled by one comparison, which NaN fails.
    if (HB_UNLIKELY(!behind && (v != v || best == best))) best = v, value = in[i], place = i;
    out[i] = value;
    at[i] = place;
  }
}

/// The same of `width` neighbouring lines at once, without branches.
template <bool kLargest, class T>
void extremum_columns(T* out, int64_t* at, const T* in, int64_t n, int64_t stride, int64_t width) {
  using C = Compared<T>;
  T best[kColumns];
  int64_t place[kColumns] = {};
  std::copy_n(in, width, best);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < width; ++k) {
      const C v = static_cast<C>(in[i * stride + k]), before = static_cast<C>(best[k]);
      const bool behind = (kLargest ? v < before : v > before) | ((before != before) & (v == v));
      best[k] = behind ? best[k] : in[i * stride + k];
      place[k] = behind ? place[k] : i;
    }
    std::copy_n(best, width, out + i * stride);
    std::copy_n(place, width, at + i * stride);
  }
}

/// Calls f(first element, lines) for blocks of neighbouring lines.
template <class F>
void over_columns(Lines l, const F& f) {
  const int64_t blocks = (l.inner + kColumns - 1) / kColumns;
  parallel_for(0, l.outer * blocks, std::max<int64_t>(1, kGrain / (4 * l.n * std::min(l.inner, kColumns))),
               [&](int64_t b, int64_t e) {
                 for (int64_t i = b; i < e; ++i) {
                   const int64_t first = i % blocks * kColumns;
                   f(i / blocks * l.n * l.inner + first, std::min(l.inner - first, kColumns));
                 }
               });
}

template <class T>
void scan_columns(T* out, int64_t* places, const T* in, Lines l, ScanOp op) {
  over_columns(l, [&](int64_t at, int64_t width) {
    if (op == ScanOp::max) return extremum_columns<true>(out + at, places + at, in + at, l.n, l.inner, width);
    if (op == ScanOp::min) return extremum_columns<false>(out + at, places + at, in + at, l.n, l.inner, width);
    with_op(op, [&](auto constant) { accumulate_columns<constant.value>(out + at, in + at, l.n, l.inner, width); });
  });
}

template <ScanOp op, int lines, class T>
void scan_some_lines(T* out, const T* in, int64_t n) {
  if constexpr (is_half_v<T>)
    accumulate_half<op, lines>(out, in, n);
  else
    accumulate<op, lines>(out, in, n);
}

/// `lines` lines of n elements, which lie one behind the other.
template <ScanOp op, class T>
void scan_rows(T* out, const T* in, int64_t lines, int64_t n) {
  const T* const end = in + lines * n;
  if constexpr (std::is_integral_v<T> && op == ScanOp::sum) {
    for (; in != end; in += n, out += n) add_up(out, in, n);
  } else {
    for (; end - in >= kLines * n; in += kLines * n, out += kLines * n) scan_some_lines<op, kLines>(out, in, n);
    for (; in != end; in += n, out += n) scan_some_lines<op, 1>(out, in, n);
  }
}

template <bool kLargest, class T>
void extremum_rows(T* out, int64_t* at, const T* in, int64_t lines, int64_t n) {
  const T* const end = in + lines * n;
  if constexpr (std::is_same_v<T, int64_t>) {
    for (; in != end; in += n, out += n, at += n) extremum_by_four<kLargest>(out, at, in, n);
  } else if constexpr (std::is_integral_v<T>) {
    // Two together, no more: each is read in one place and written in two, and lines may be a page apart.
    for (; end - in >= 2 * n; in += 2 * n, out += 2 * n, at += 2 * n) extremum_of_integers<kLargest, 2>(out, at, in, n);
    if (in != end) extremum_of_integers<kLargest, 1>(out, at, in, n);
  } else {
    for (; in != end; in += n, out += n, at += n) extremum<kLargest>(out, at, in, n);
  }
}

template <class T>
void scan_lines(T* out, int64_t* at, const T* in, Lines l, ScanOp op) {
  if (l.inner > 1) return scan_columns(out, at, in, l, op);
  parallel_for(0, l.outer, std::max<int64_t>(1, kGrain / (4 * l.n)), [&](int64_t b, int64_t e) {
    const int64_t first = b * l.n;
    if (op == ScanOp::max) return extremum_rows<true>(out + first, at + first, in + first, e - b, l.n);
    if (op == ScanOp::min) return extremum_rows<false>(out + first, at + first, in + first, e - b, l.n);
    with_op(op, [&](auto its) { scan_rows<its.value>(out + first, in + first, e - b, l.n); });
  });
}

void scan(const Tensor& out, const Tensor& indices, const Tensor& in, Lines l, ScanOp op) {
  if (in.numel() == 0) return;
  auto* at = indices.defined() ? static_cast<int64_t*>(indices.impl().raw_data()) : nullptr;
  switch (in.scalar_type()) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return scan_lines(static_cast<T*>(out.impl().raw_data()), at, static_cast<const T*>(in.impl().raw_data()), l, op);
    HB_FORALL_REAL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[cumsum] is not supported for dtype ", in.scalar_type());
  }
}

HB_REGISTER_ISA(scan_kernel, scan);

}  // namespace
}  // namespace hb::cpu::HB_ISA
