// Rows with zeros between their elements (the gradient of a slice with step 2), elements and rows in turn, and rows
// that are rolled.
#include "backend/moved_rows.h"

#include <algorithm>

#include "cpu/isa/copy_bytes.h"
#include "cpu/isa/lanes.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

template <class T>
void space_rows(const Spaced& s, void* out, const void* in) {
  const int64_t pairs = std::min(s.count, (s.whole - s.first) / 2);
  parallel_for(0, s.rows, std::max<int64_t>(1, kGrain / s.whole), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* to = static_cast<T*>(out) + r * s.whole;
      T* const row_end = to + s.whole;
      const T* __restrict from = static_cast<const T*>(in) + r * s.count;
      T* __restrict at = std::fill_n(to, s.first, T(0));
      int64_t i = 0;
      if constexpr (sizeof(T) == 8)  // which GCC writes one by one
        for (; i + kLanes<T> <= pairs; i += kLanes<T>) store_pairs<T>(at + 2 * i, load<T>(from + i), Vector<T>{});
      for (; i < pairs; ++i) at[2 * i] = from[i], at[2 * i + 1] = T(0);
      to = at + 2 * pairs;
      if (pairs < s.count) *to++ = from[pairs];
      std::fill(to, row_end, T(0));
    }
  });
}

void space(const Spaced& s, void* out, const void* in) {
  switch (s.itemsize) {
    case 1:
      return space_rows<uint8_t>(s, out, in);
    case 2:
      return space_rows<uint16_t>(s, out, in);
    case 4:
      return space_rows<uint32_t>(s, out, in);
    case 8:
      return space_rows<uint64_t>(s, out, in);
    default:
      return space_rows<Complex<double>>(s, out, in);
  }
}
HB_REGISTER_ISA(spaced_kernel, space);

template <class T>
void interleave_of(int64_t n, void* to, const void* first, const void* second) {
  parallel_for(0, n, kGrain, [&](int64_t i, int64_t end) {
    T* const out = static_cast<T*>(to);
    const T *a = static_cast<const T*>(first), *b = static_cast<const T*>(second);
    if constexpr (sizeof(T) >= 4)
      for (; i + kLanes<T> <= end; i += kLanes<T>) store_pairs<T>(out + 2 * i, load<T>(a + i), load<T>(b + i));
    HB_INDEPENDENT
    for (; i < end; ++i) out[2 * i] = a[i], out[2 * i + 1] = b[i];
  });
}
void interleave(int64_t itemsize, int64_t n, void* out, const void* a, const void* b) {
  if (itemsize == 1) return interleave_of<uint8_t>(n, out, a, b);
  if (itemsize == 2) return interleave_of<uint16_t>(n, out, a, b);
  if (itemsize == 4) return interleave_of<uint32_t>(n, out, a, b);
  interleave_of<uint64_t>(n, out, a, b);
}
HB_REGISTER_ISA(interleaved_kernel, interleave);

// Threads share the bytes: rows may be few.
void join_rows(void* out, int64_t rows, ArrayRef<RowPart> parts) {
  int64_t row_bytes = 0;
  for (const RowPart& p : parts) row_bytes += p.bytes;
  auto* const to = static_cast<char*>(out);
  const auto join_part_of = [&](int64_t r, int64_t begin, int64_t end) {
    int64_t at = r * row_bytes;
    for (const RowPart& p : parts) {
      const int64_t from = std::max(begin, at), last = std::min(end, at + p.bytes);
      if (from < last) copy_bytes(to + from, static_cast<const char*>(p.in) + r * p.bytes + (from - at), last - from);
      at += p.bytes;
    }
  };
  parallel_for(0, rows * row_bytes, 4 * kGrain, [&](int64_t begin, int64_t end) {
    int64_t r = begin / row_bytes;
    if (begin % row_bytes != 0) join_part_of(r++, begin, end);
    for (; (r + 1) * row_bytes <= end; ++r) {
      char* at = to + r * row_bytes;
      for (const RowPart& p : parts)
        copy_bytes(at, static_cast<const char*>(p.in) + r * p.bytes, p.bytes), at += p.bytes;
    }
    if (r * row_bytes < end) join_part_of(r, std::max(begin, r * row_bytes), end);
  });
}
HB_REGISTER_ISA(joined_rows_kernel, join_rows);

// A row's parts in the order in which they lie in the result: a second pass for the shorter ones would find none of
// their lines in a near cache.
void turn(const Turned& t, void* out, const void* in) {
  const int64_t first = t.row_bytes - t.start;
  parallel_for(0, t.rows, std::max<int64_t>(1, 4 * kGrain / t.row_bytes), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      auto* to = static_cast<char*>(out) + r * t.row_bytes;
      const auto* from = static_cast<const char*>(in) + r * t.row_bytes;
      copy_bytes(to, from + t.start, first);
      copy_bytes(to + first, from, t.start);
    }
  });
}
HB_REGISTER_ISA(turned_kernel, turn);

}  // namespace
}  // namespace hb::cpu::HB_ISA
