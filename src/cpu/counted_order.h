#pragma once
// Order of integers whose values lie close together, by counting them.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "backend/sort.h"

namespace hb::cpu {

/// The values of a line that lie between `low` and `low + counts.size() - 1`, and how often each is there.
template <class T>
class CountedLine {
 public:
  /// Empty where the values of the line (n elements, `stride` apart) are too far apart for counting to pay.
  CountedLine(const T* x, int64_t n, int64_t stride) : x_(x), n_(n), stride_(stride) {
    const auto [least, most] = ends();
    const uint64_t span = static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
    if (span >= static_cast<uint64_t>(std::max<int64_t>(2 * n, 64))) return;
    low_ = least;
    counts_.assign(span + 1, 0);
    std::vector<int64_t> odd(span + 1);  // apart, as neighbours are often equal
    for (int64_t i = 0; i < n - 1; i += 2) ++counts_[key(x[i * stride])], ++odd[key(x[(i + 1) * stride])];
    if (n % 2) ++counts_[key(x[(n - 1) * stride])];
    for (size_t k = 0; k <= span; ++k) counts_[k] += odd[k];
  }
  explicit operator bool() const { return !counts_.empty(); }

  /// What `order` asks for, equal values in their own order.
  void put(T* values, int64_t* indices, int64_t step, const Order& order) {
    const bool few = order.count <= n_ / 4;
    const T bound = few ? last_of(order) : T();
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
    const auto put = [&](int64_t i) {
      const T v = x_[i * stride_];
      const int64_t at = counts_[key(v)]++ - order.from;
      if (at >= 0 && at < order.count) values[at * step] = v, indices[at * step] = i;
    };
    if (!few) {
      for (int64_t i = 0; i < n_; ++i) put(i);
      return;
    }
    std::vector<int64_t> kept(n_ + 1);
    const int64_t count = order.descending ? places_of([bound](T v) { return v >= bound; }, kept.data())
                                           : places_of([bound](T v) { return v <= bound; }, kept.data());
    std::for_each_n(kept.begin(), count, put);
  }
  /// The most frequent value, of several the least, and its last place.
  void mode(T& value, int64_t& index) const {
    const auto at = std::max_element(counts_.begin(), counts_.end());
    value = static_cast<T>(static_cast<uint64_t>(low_) + static_cast<uint64_t>(at - counts_.begin()));
    index = n_ - 1;
    while (x_[index * stride_] != value) --index;
  }

 private:
  /// The least and the most.
  std::pair<T, T> ends() const {
    T least = x_[0], most = x_[0];
    int64_t i = 0;
    for (const T* x = x_; i + 4 <= n_; i += 4, x += 4 * stride_) {
      const T a = x[0], b = x[stride_], c = x[2 * stride_], d = x[3 * stride_];
      least = std::min(least, std::min(std::min(a, b), std::min(c, d)));
      most = std::max(most, std::max(std::max(a, b), std::max(c, d)));
    }
    for (; i < n_; ++i) least = std::min(least, x_[i * stride_]), most = std::max(most, x_[i * stride_]);
    return {least, most};
  }
  /// Writes where a value is wanted to `to`, which has place for one more. Returns their number.
  template <class F>
  int64_t places_of(const F& wanted, int64_t* to) const {
    const int64_t n = n_, stride = stride_;
    const T* x = x_;
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i, x += stride) {  // without branches, which nobody could foretell
      to[count] = i;
      count += wanted(*x);
    }
    return count;
  }
  /// The last value in what `order` asks for.
  T last_of(const Order& order) const {
    const int64_t end = order.from + order.count, values = static_cast<int64_t>(counts_.size());
    int64_t k = 0;
    const auto at = [&] { return order.descending ? values - 1 - k : k; };
    for (int64_t seen = counts_[at()]; seen < end; seen += counts_[at()]) ++k;
    return static_cast<T>(static_cast<uint64_t>(low_) + static_cast<uint64_t>(at()));
  }
  uint64_t key(T v) const { return static_cast<uint64_t>(v) - static_cast<uint64_t>(low_); }
  const T* x_;
  int64_t n_, stride_;
  T low_ = 0;
  std::vector<int64_t> counts_;
};

}  // namespace hb::cpu
