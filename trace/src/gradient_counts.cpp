#include <halfbridge/trace/gradient_counts.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include <halfbridge/ops.h>

#include "own_work.h"

namespace hb::trace {

namespace {

constexpr int kBias = 1023, kMantissa = 52, kBeyond = 0x7ff;  // of a double

/// Neighbours are often of one size: several tables, so that a count need not wait for the one before it.
class Counter {
 public:
  void add(double value, size_t lane) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const auto exponent = static_cast<size_t>(bits >> kMantissa & kBeyond);
    ++tables_[lane][exponent];
    const double size = std::abs(value);
    if (exponent != kBeyond && size > largest_) largest_ = size;
    if (exponent == 0 && value == 0) ++zeros_;
  }
  void add_to(GradientCounts& counts) const {
    for (size_t e = 0; e <= kBeyond; ++e) {
      uint64_t n = 0;
      for (const auto& table : tables_) n += table[e];
      if (e == kBeyond) {
        counts.not_finite += n;
        break;
      }
      if (e == 0) n -= zeros_;
      const int power = std::clamp(static_cast<int>(e) - kBias, GradientCounts::kLowest, GradientCounts::kHighest);
      counts.bins[static_cast<size_t>(power - GradientCounts::kLowest)] += n;
    }
    counts.zeros += zeros_;
    counts.largest = std::max(counts.largest, largest_);
  }
  static constexpr size_t kLanes = 4;

 private:
  std::array<std::array<uint64_t, kBeyond + 1>, kLanes> tables_{};
  uint64_t zeros_ = 0;
  double largest_ = 0;
};

template <class T>
void count(const Tensor& plain, double inverse, Counter& counter) {
  const T* data = plain.const_data_ptr<T>();
  const auto n = static_cast<size_t>(plain.numel());
  for (size_t i = 0; i < n; ++i) counter.add(static_cast<double>(data[i]) * inverse, i % Counter::kLanes);
}

}  // namespace

void GradientCounts::add(const Tensor& tensor, double scale) {
  HB_CHECK(tensor.defined(), "[gradient_counts] expected a tensor, got an undefined one");
  HB_CHECK(scale > 0 && std::isfinite(scale), "[gradient_counts] expected a positive scale, got ", scale);
  const OwnWork own;
  Tensor t = tensor.detach();
  if (t.is_sparse()) t = t.coalesce().values();
  if (t.is_complex()) t = view_as_real(t);
  if (t.scalar_type() == kHalf) from_half += static_cast<uint64_t>(t.numel());
  if (t.scalar_type() != kDouble) t = t.to(kFloat);
  t = t.to(kCPU).contiguous();
  Counter counter;
  if (t.scalar_type() == kDouble)
    count<double>(t, 1 / scale, counter);
  else
    count<float>(t, 1 / scale, counter);
  counter.add_to(*this);
}

void GradientCounts::add(const GradientCounts& other) {
  for (size_t i = 0; i < kBins; ++i) bins[i] += other.bins[i];
  zeros += other.zeros, not_finite += other.not_finite, from_half += other.from_half;
  largest = std::max(largest, other.largest);
}

uint64_t GradientCounts::finite() const { return std::accumulate(bins.begin(), bins.end(), uint64_t{0}); }

uint64_t GradientCounts::below(int exponent) const {
  const auto n = std::clamp<int64_t>(int64_t{exponent} - kLowest, 0, kBins);
  return std::accumulate(bins.begin(), bins.begin() + n, uint64_t{0});
}

}  // namespace hb::trace
