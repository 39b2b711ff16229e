#include "cpu/rank.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "cpu/isa/reduce_step.h"
#include "cpu/isa/vec.h"
#include "cpu/radix_sort.h"

namespace hb::cpu::HB_ISA {
namespace {

/// The values of a line of which fewer and fewer remain: those among which the one wanted is.
template <class T>
class RankedLine {
 public:
  using Key = SortKey<T>;

  RankedLine(const T* in, int64_t n, int64_t stride, bool descending)
      : in_(in), stride_(stride), descending_(descending), count_(n) {}

  /// The place of the value at `rank`; equal values keep their order.
  int64_t place_at(int64_t rank) {
    const int64_t below = narrow_by_value(rank);
    if (below == kNotNarrowed)
      take_all_keys();
    else
      take_keys(), rank -= below;
    while (low_ != high_ && count_ > kFew) rank -= narrow(rank);
    return low_ == high_ ? places_[rank] : place_among_few(rank);
  }

 private:
  static constexpr int64_t kFew = 16;  // so few keys are compared with each other
  static constexpr int kMostBits = 11;
  static constexpr int64_t kNotNarrowed = -1;
  using Counts = std::array<uint32_t, 1 << kMostBits>;

  /// How many ranges `count_` values are told apart by: fewer than values, or emptying them would take longer than
  /// counting.
  int range_bits() const {
    return std::clamp(static_cast<int>(std::bit_width(static_cast<uint64_t>(count_))) - 2, 4, kMostBits);
  }
  /// The range that holds `rank`, of those that `range(j)` gives, and how many values are in those before it.
  struct Range {
    size_t at;
    int64_t below, count;
  };
  template <class F>
  Range find_range(int64_t rank, int ranges, const F& range) const {
    Counts even, odd;  // two, as neighbours are often of one range
    std::fill_n(even.begin(), ranges, 0), std::fill_n(odd.begin(), ranges, 0);
    for (int64_t j = 0; j < count_ - 1; j += 2) ++even[range(j)], ++odd[range(j + 1)];
    if (count_ % 2) ++even[range(count_ - 1)];
    Range found{0, 0, 0};
    for (;; ++found.at, found.below += found.count) {
      found.count = even[found.at] + odd[found.at];
      if (found.below + found.count > rank) return found;
    }
  }

  /// Writes which of many ranges of equal width, between the least and the largest, each value is in. Returns their
  /// number, or 0 where there are none: values are equal, infinite or not numbers.
  int number_ranges(uint16_t* range) const {
    if constexpr (std::is_integral_v<T>)
      return stride_ == 1 ? number_integers(range, [this](int64_t j) { return in_[j]; })
                          : number_integers(range, [this](int64_t j) { return in_[j * stride_]; });
    else
      return number_floats(range);
  }
  template <class F>
  int number_integers(uint16_t* range, const F& value) const {
    T low = value(0), high = value(0);
    for (int64_t j = 0; j < count_; ++j) low = std::min<T>(low, value(j)), high = std::max<T>(high, value(j));
    const uint64_t width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    const int shift = std::max(0, static_cast<int>(std::bit_width(width)) - range_bits());
    const auto from = static_cast<uint64_t>(descending_ ? high : low), sign = descending_ ? ~uint64_t{0} : uint64_t{0};
    for (int64_t j = 0; j < count_; ++j)
      range[j] = static_cast<uint16_t>((((static_cast<uint64_t>(value(j)) - from) ^ sign) - sign) >> shift);
    return width == 0 ? 0 : static_cast<int>(width >> shift) + 1;
  }
  int number_floats(uint16_t* range) const {
    using C = compute_t<T>;
    std::unique_ptr<C[]> copy;
    const C* x = reinterpret_cast<const C*>(in_);
    if (!std::is_same_v<C, T> || stride_ != 1) {
      copy.reset(new C[count_]);
      for (int64_t j = 0; j < count_; ++j) copy[j] = widen(in_[j * stride_]);
      x = copy.get();
    }
    const C low = reduce_run<ReduceOp::min, C>(x, count_), high = reduce_run<ReduceOp::max, C>(x, count_);
    const int ranges = 1 << range_bits();
    const C scale = static_cast<C>(ranges) / (high - low);
    if (!(high - low > 0 && std::isfinite(high - low) && std::isfinite(scale))) return 0;
    const C from = descending_ ? high : low, by = descending_ ? -scale : scale;
    for (int64_t j = 0; j < count_; ++j)
      range[j] = static_cast<uint16_t>(std::min(static_cast<int32_t>((x[j] - from) * by), ranges - 1));
    return ranges;
  }

  /// Keeps the values of one range. Keys (narrow()) would tell powers of two apart first, of which floating-point
  /// values have few; and they need not be made of all values.
  int64_t narrow_by_value(int64_t rank) {
    const std::unique_ptr<uint16_t[]> range(new uint16_t[count_]);
    const int ranges = number_ranges(range.get());
    if (ranges == 0) return kNotNarrowed;
    const Range found = find_range(rank, ranges, [&range](int64_t j) -> size_t { return range[j]; });
    places_.reset(new uint32_t[found.count + 1]);
    int64_t kept = 0;
    for (int64_t j = 0; j < count_; ++j) {  // without branches, which nobody could foretell
      places_[kept] = static_cast<uint32_t>(j);
      kept += range[j] == found.at;
    }
    count_ = kept;
    return found.below;
  }

  /// Keys (radix_sort.h) of the whole line.
  void take_all_keys() {
    places_.reset(new uint32_t[count_]);
    for (int64_t j = 0; j < count_; ++j) places_[j] = static_cast<uint32_t>(j);
    if (stride_ == 1)
      take_keys([this](int64_t j) { return in_[j]; });
    else
      take_keys([this](int64_t j) { return in_[j * stride_]; });
  }
  /// Those of what remains.
  void take_keys() {
    take_keys([this](int64_t j) { return in_[places_[j] * stride_]; });
  }
  template <class F>
  void take_keys(const F& value) {
    keys_.reset(new Key[count_]);
    const Key turned = descending_ ? std::numeric_limits<Key>::max() : 0;
    Key low = std::numeric_limits<Key>::max(), high = 0;
    for (int64_t j = 0; j < count_; ++j) keys_[j] = static_cast<Key>(sort_key(value(j)) ^ turned);
    for (int64_t j = 0; j < count_; ++j) low = std::min(low, keys_[j]), high = std::max(high, keys_[j]);
    low_ = low, high_ = high;
  }

  int64_t place_among_few(int64_t rank) const {
    for (int64_t i = 0;; ++i) {
      int64_t before = 0;
      for (int64_t j = 0; j < count_; ++j) before += keys_[j] < keys_[i] || (keys_[j] == keys_[i] && j < i);
      if (before == rank) return places_[i];
    }
  }

  /// Keeps the keys of the range that holds `rank`. Says how many are below it.
  int64_t narrow(int64_t rank) {
    const int bits = range_bits();
    const int shift = std::max(0, static_cast<int>(std::bit_width(static_cast<Key>(high_ - low_))) - bits);
    const auto range = [this, shift](int64_t j) -> size_t { return static_cast<Key>(keys_[j] - low_) >> shift; };
    const Range found = find_range(rank, 1 << bits, range);
    int64_t kept = 0;
    for (int64_t j = 0; j < count_; ++j) {  // without branches, which nobody could foretell
      const bool keep = range(j) == found.at;
      keys_[kept] = keys_[j], places_[kept] = places_[j];
      kept += keep;
    }
    count_ = kept;
    low_ = static_cast<Key>(low_ + (static_cast<Key>(found.at) << shift));
    high_ = static_cast<Key>(low_ + std::min<Key>(high_ - low_, static_cast<Key>((Key{1} << shift) - 1)));
    return found.below;
  }

  const T* in_;
  int64_t stride_;
  bool descending_;
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
