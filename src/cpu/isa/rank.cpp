#include "cpu/rank.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>

#include "cpu/isa/isa.h"
#include "cpu/radix_sort.h"

namespace hb::cpu::HB_ISA {
namespace {

/// A line's keys (radix_sort.h), of which fewer and fewer remain: those among which the one wanted is.
template <class T>
class RankedLine {
 public:
  using Key = SortKey<T>;

  RankedLine(const T* in, int64_t n, int64_t stride, bool descending)
      : count_(n), keys_(new Key[n]), places_(new uint32_t[n]) {
    const Key turned = descending ? std::numeric_limits<Key>::max() : 0;
    Key low = std::numeric_limits<Key>::max(), high = 0;
    if (stride == 1) {
      for (int64_t j = 0; j < n; ++j) keys_[j] = static_cast<Key>(sort_key(in[j]) ^ turned);
    } else {
      for (int64_t j = 0; j < n; ++j) keys_[j] = static_cast<Key>(sort_key(in[j * stride]) ^ turned);
    }
    for (int64_t j = 0; j < n; ++j) low = std::min(low, keys_[j]), high = std::max(high, keys_[j]);
    for (int64_t j = 0; j < n; ++j) places_[j] = static_cast<uint32_t>(j);
    low_ = low, high_ = high;
  }

  /// The place of the value at `rank`; equal values keep their order.
  int64_t place_at(int64_t rank) {
    while (low_ != high_ && count_ > kFew) rank -= narrow(rank);
    return low_ == high_ ? places_[rank] : place_among_few(rank);
  }

 private:
  static constexpr int64_t kFew = 16;  // so few keys are compared with each other
  static constexpr int kMostBits = 11;
  using Counts = std::array<uint32_t, 1 << kMostBits>;

  int64_t place_among_few(int64_t rank) const {
    for (int64_t i = 0;; ++i) {
      int64_t before = 0;
      for (int64_t j = 0; j < count_; ++j) before += keys_[j] < keys_[i] || (keys_[j] == keys_[i] && j < i);
      if (before == rank) return places_[i];
    }
  }

  /// Keeps the keys of the range that holds `rank`. Says how many are below it.
  int64_t narrow(int64_t rank) {
    // Fewer ranges than keys, or emptying them would take longer than counting.
    const int bits = std::clamp(static_cast<int>(std::bit_width(static_cast<uint64_t>(count_))) - 2, 4, kMostBits);
    const int shift = std::max(0, static_cast<int>(std::bit_width(static_cast<Key>(high_ - low_))) - bits);
    const auto range = [this, shift](int64_t j) -> size_t { return static_cast<Key>(keys_[j] - low_) >> shift; };
    Counts even, odd;  // two, as neighbours are often of one range
    std::fill_n(even.begin(), 1 << bits, 0), std::fill_n(odd.begin(), 1 << bits, 0);
    for (int64_t j = 0; j < count_ - 1; j += 2) ++even[range(j)], ++odd[range(j + 1)];
    if (count_ % 2) ++even[range(count_ - 1)];
    int64_t below = 0;
    size_t wanted = 0;
    while (below + even[wanted] + odd[wanted] <= rank) below += even[wanted] + odd[wanted], ++wanted;
    int64_t kept = 0;
    for (int64_t j = 0; j < count_; ++j) {  // without branches, which nobody could foretell
      const bool keep = range(j) == wanted;
      keys_[kept] = keys_[j], places_[kept] = places_[j];
      kept += keep;
    }
    count_ = kept;
    low_ = static_cast<Key>(low_ + (static_cast<Key>(wanted) << shift));
    high_ = static_cast<Key>(low_ + std::min<Key>(high_ - low_, static_cast<Key>((Key{1} << shift) - 1)));
    return below;
  }

  int64_t count_;
  std::unique_ptr<Key[]> keys_;
  std::unique_ptr<uint32_t[]> places_;
  Key low_ = std::numeric_limits<Key>::max(), high_ = 0;
};

template <class T>
int64_t place_of(const void* in, int64_t n, int64_t stride, bool descending, int64_t rank) {
  return RankedLine<T>(static_cast<const T*>(in), n, stride, descending).place_at(rank);
}

template <class T>
int64_t next_before_of(const T* x, int64_t from, int64_t n, bool descending, SortKey<T> limit) {
  constexpr int64_t kBlock = 64;
  using Key = SortKey<T>;
  const Key turned = descending ? std::numeric_limits<Key>::max() : 0;
  const auto is_before = [=](T value) { return static_cast<Key>(sort_key(value) ^ turned) < limit; };
  for (; from + kBlock <= n; from += kBlock) {
    Key any = 0;
    for (int64_t j = 0; j < kBlock; ++j) any |= static_cast<Key>(is_before(x[from + j]));
    if (any) break;
  }
  while (from < n && !is_before(x[from])) ++from;
  return from;
}

}  // namespace

int64_t next_before(ScalarType dtype, const void* in, int64_t from, int64_t n, bool descending, uint64_t limit) {
  switch (dtype) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return next_before_of<T>(static_cast<const T*>(in), from, n, descending, static_cast<SortKey<T>>(limit));
    HB_FORALL_REAL_DTYPES(HB_CASE)
    HB_FORALL_WIDE_UNSIGNED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[topk] is not supported for dtype ", dtype);
  }
}

int64_t place_at_rank(ScalarType dtype, const void* in, int64_t n, int64_t stride, bool descending, int64_t rank) {
  switch (dtype) {
#define HB_CASE(T, Name) \
  case ScalarType::Name: \
    return place_of<T>(in, n, stride, descending, rank);
    HB_FORALL_REAL_DTYPES(HB_CASE)
    HB_FORALL_WIDE_UNSIGNED_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[sort] is not supported for dtype ", dtype);
  }
}

}  // namespace hb::cpu::HB_ISA
