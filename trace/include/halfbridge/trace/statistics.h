#pragma once
// Statistics of a tensor's elements, in double.

#include <cmath>
#include <limits>

#include <halfbridge/trace/record.h>

namespace hb::trace {
namespace detail {

inline float bits_to_float(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline double half_to_double(uint16_t half) {
  const int exponent = (half >> 10) & 31, fraction = half & 1023;
  const double sign = half & 0x8000 ? -1 : 1;
  if (exponent == 31)
    return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

// Several sums side by side: one would wait for every addition.
class Accumulator {
 public:
  static constexpr int kLanes = 8;
  void add(int lane, double v) {
    if (!(std::fabs(v) <= std::numeric_limits<double>::max())) {
      ++(v != v ? nan_ : inf_);
      return;
    }
    if (!started_) shift_ = v, started_ = true;
    Lane& l = lanes_[lane];
    const double d = v - shift_;
    l.sum += d;
    l.squares += d * d;
    l.norm += v * v;
    l.min = v < l.min ? v : l.min;
    l.max = v > l.max ? v : l.max;
    l.zeros += v == 0;
    ++l.count;
  }
  Statistics result() {
    Lane all;
    for (const Lane& l : lanes_) {
      all.sum += l.sum, all.squares += l.squares, all.norm += l.norm;
      all.min = l.min < all.min ? l.min : all.min;
      all.max = l.max > all.max ? l.max : all.max;
      all.zeros += l.zeros, all.count += l.count;
    }
    Statistics s;
    s.nan = nan_, s.inf = inf_, s.zeros = all.zeros;
    if (all.count == 0) {
      s.min = s.max = s.mean = s.std = s.l2 = std::numeric_limits<double>::quiet_NaN();
      return s;
    }
    const double n = static_cast<double>(all.count), mean = all.sum / n;
    s.min = all.min, s.max = all.max, s.mean = shift_ + mean, s.l2 = std::sqrt(all.norm);
    s.std = std::sqrt(std::fmax(0, all.squares / n - mean * mean));
    return s;
  }

 private:
  struct Lane {
    double sum = 0, squares = 0, norm = 0;
    double min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity();
    int64_t zeros = 0, count = 0;
  };
  Lane lanes_[kLanes];
  double shift_ = 0;  // the first value: the sums stay small where the mean is far from 0
  int64_t nan_ = 0, inf_ = 0;
  bool started_ = false;
};

template <class T, class ToDouble>
Statistics accumulate(const void* data, int64_t n, ToDouble to_double) {
  const char* bytes = static_cast<const char*>(data);
  Accumulator sums;
  for (int64_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, bytes + i * static_cast<int64_t>(sizeof value), sizeof value);
    sums.add(static_cast<int>(i % Accumulator::kLanes), to_double(value));
  }
  return sums.result();
}

}  // namespace detail

/// `data`: n elements, contiguous, aligned or not.
inline Statistics statistics_of(Dtype dtype, const void* data, int64_t n) {
  const auto plain = [](auto v) { return static_cast<double>(v); };
  switch (dtype) {
    case Dtype::F64:
      return detail::accumulate<double>(data, n, plain);
    case Dtype::F32:
      return detail::accumulate<float>(data, n, plain);
    case Dtype::F16:
      return detail::accumulate<uint16_t>(data, n, detail::half_to_double);
    case Dtype::BF16:
      return detail::accumulate<uint16_t>(
          data, n, [](uint16_t v) { return static_cast<double>(detail::bits_to_float(uint32_t{v} << 16)); });
    case Dtype::I64:
      return detail::accumulate<int64_t>(data, n, plain);
    case Dtype::I32:
      return detail::accumulate<int32_t>(data, n, plain);
    case Dtype::I16:
      return detail::accumulate<int16_t>(data, n, plain);
    case Dtype::I8:
      return detail::accumulate<int8_t>(data, n, plain);
    case Dtype::U8:
      return detail::accumulate<uint8_t>(data, n, plain);
    case Dtype::BOOL:
      return detail::accumulate<uint8_t>(data, n, [](uint8_t v) { return v ? 1.0 : 0.0; });
  }
  return {};
}

}  // namespace hb::trace
