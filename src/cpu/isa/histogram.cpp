// How many values lie in each of equal parts of a range.
#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "backend/sort.h"
#include "cpu/isa/convert_element.h"
#include "cpu/isa/vec.h"
#include "cpu/parallel.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Tables of counts, written in turn: a count that follows another in its place waits for it. Each ends with one of
/// those that are in no part.
class Counts {
 public:
  explicit Counts(int64_t bins) : size_(bins + 1), tables_(bins <= kSmall ? kTables : 1), counts_(size_ * tables_) {}

  template <class Place>
  void add(const Place* places, int64_t n) {
    int64_t* const counts = counts_.data();
    int64_t i = 0;
    for (; tables_ == kTables && i + kTables <= n; i += kTables)
      for (int64_t k = 0; k < kTables; ++k) ++counts[k * size_ + places[i + k]];
    for (; i < n; ++i) ++counts[places[i]];
  }
  void add_to(int64_t* total) const {
    for (int64_t k = 0; k < tables_; ++k)
      for (int64_t b = 0; b < size_ - 1; ++b) total[b] += counts_[k * size_ + b];
  }

 private:
  static constexpr int64_t kSmall = 4096, kTables = 4;
  int64_t size_, tables_;
  std::vector<int64_t> counts_;
};

/// Parts of [low, high]. Places are computed in the type of the values, in LibTorch's order: another would put a few of
/// a million elsewhere.
template <class T>
struct Parts {
  using C = compute_t<T>;
  using Place = std::conditional_t<sizeof(C) == 4, int32_t, int64_t>;
  static constexpr int64_t kBlock = 512;
  C low, high;
  Place bins;

  void count(const T* in, int64_t n, Counts& counts) const {
    Place places[kBlock];
    const C width = high - low, number = static_cast<C>(bins);
    for (int64_t b = 0; b < n; b += kBlock, in += kBlock) {
      const int64_t size = std::min(kBlock, n - b);
      HB_INDEPENDENT
      for (int64_t i = 0; i < size; ++i) {
        const C x = widen(in[i]);
        const bool inside = (x >= low) & (x <= high);
        const auto place = static_cast<Place>(((inside ? x : low) - low) * number / width);
        places[i] = inside ? std::min<Place>(place, bins - 1) : bins;
      }
      counts.add(places, size);
    }
  }
};

template <class T>
void histogram_of(int64_t* counts, int64_t bins, const T* in, int64_t n, double low, double high) {
  using P = Parts<T>;
  HB_CHECK_SUPPORTED(bins < std::numeric_limits<typename P::Place>::max(), "[histc] is not supported for ", bins,
                     " bins of this dtype");
  const P parts{static_cast<typename P::C>(low), static_cast<typename P::C>(high),
                static_cast<typename P::Place>(bins)};
  const int threads = bins < n ? threads_for(n, kGrain) : 1;
  std::vector<Counts> all(threads, Counts(bins));
  parallel_ranges(0, n, threads, [&](int64_t b, int64_t e, int me) { parts.count(in + b, e - b, all[me]); });
  for (const Counts& one : all) one.add_to(counts);
}

void histogram(const Tensor& counts, const Tensor& in, double low, double high) {
  HB_FLOATING_SWITCH("histc", in.scalar_type(), [&](auto type) {
    using T = decltype(type);
    histogram_of(static_cast<int64_t*>(counts.impl().raw_data()), counts.numel(),
                 static_cast<const T*>(in.impl().raw_data()), in.numel(), low, high);
  });
}
HB_REGISTER_ISA(histogram_kernel, histogram);

}  // namespace
}  // namespace hb::cpu::HB_ISA
