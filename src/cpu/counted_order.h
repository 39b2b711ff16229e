#pragma once
// Order of integers whose values lie close together, by counting them.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/sort.h"

namespace hb::cpu {

/// The values of a line that lie between `low` and `low + counts.size() - 1`, and how often each is there.
template <class T>
class CountedLine {
 public:
  /// Empty where the values of the line (n elements, `stride` apart) are too far apart for counting to pay.
  CountedLine(const T* x, int64_t n, int64_t stride) : x_(x), n_(n), stride_(stride) {
    T least = x[0], most = x[0];
    if (stride == 1) {
      for (int64_t i = 0; i < n; ++i) least = std::min(least, x[i]), most = std::max(most, x[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) least = std::min(least, x[i * stride]), most = std::max(most, x[i * stride]);
    }
    const uint64_t span = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
    if (span >= static_cast<uint64_t>(std::max<int64_t>(2 * n, 64))) return;
    low_ = least;
    counts_.assign(span + 1, 0);
    for (int64_t i = 0; i < n; ++i) ++counts_[key(x[i * stride])];
  }
  explicit operator bool() const { return !counts_.empty(); }

  /// What `order` asks for, equal values in their own order.
  void put(T* values, int64_t* indices, int64_t step, const Order& order) {
    int64_t before = 0;
    const auto place = [&](int64_t& count) {
      const int64_t first = before;
      before += count;
      count = first;
    };
    if (order.descending)
      std::for_each(counts_.rbegin(), counts_.rend(), place);
    else
      std::for_each(counts_.begin(), counts_.end(), place);
    for (int64_t i = 0; i < n_; ++i) {
      const T v = x_[i * stride_];
      const int64_t at = counts_[key(v)]++ - order.from;
      if (at >= 0 && at < order.count) values[at * step] = v, indices[at * step] = i;
    }
  }
  /// The most frequent value, of several the least, and its last place.
  void mode(T& value, int64_t& index) const {
    const auto at = std::max_element(counts_.begin(), counts_.end());
    value = static_cast<T>(static_cast<uint64_t>(low_) + static_cast<uint64_t>(at - counts_.begin()));
    index = n_ - 1;
    while (x_[index * stride_] != value) --index;
  }

 private:
  uint64_t key(T v) const { return static_cast<uint64_t>(v) - static_cast<uint64_t>(low_); }
  const T* x_;
  int64_t n_, stride_;
  T low_ = 0;
  std::vector<int64_t> counts_;
};

}  // namespace hb::cpu
