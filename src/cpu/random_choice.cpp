// Draws of one of several: permutations and multinomial samples.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "cpu/random_span.h"
#include "formulas/random.h"

namespace hb::cpu {

void fill_permutation(RandomSpan out, CPUGeneratorImpl& rng) {
  with_type("randperm", out, [&](auto* data) {
    using T = std::remove_pointer_t<decltype(data)>;
    const int64_t n = out.count;
    auto value = [](int64_t i) { return from_double<T>(static_cast<double>(i)); };
    // From this size on 32 bits no longer divide evenly enough, and the shuffle runs inside out.
    if (n < int64_t{std::numeric_limits<uint32_t>::max()} / 20) {
      for (int64_t i = 0; i < n; ++i) data[i] = value(i);
      for (int64_t i = 0; i + 1 < n; ++i)
        std::swap(data[i], data[i + static_cast<int64_t>(rng.random() % static_cast<uint64_t>(n - i))]);
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      const auto j = static_cast<int64_t>(rng.random64() % static_cast<uint64_t>(i + 1));
      data[i] = value(i);
      data[i] = data[j];
      data[j] = value(i);
    }
  });
}

namespace {

/// Cumulative weights of one row, the last one 1.
template <typename T>
std::vector<kernels::compute_t<T>> cumulative(const T* weights, int64_t n) {
  using C = kernels::compute_t<T>;
  std::vector<C> sums(n);
  C sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const C w = weights[i];
    HB_CHECK(w >= 0, "invalid multinomial distribution (encountering probability entry < 0)");
    HB_CHECK(std::isfinite(w), "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
    sum += w;
    sums[i] = sum;
  }
  HB_CHECK(sum > 0, "invalid multinomial distribution (sum of probabilities <= 0)");
  for (auto& s : sums) s /= sum;
  sums.back() = 1;
  return sums;
}

}  // namespace

void sample_with_replacement(RandomSpan weights, int64_t rows, int64_t categories, int64_t samples, int64_t* out,
                             CPUGeneratorImpl& rng) {
  with_floating_type("multinomial", weights, [&](const auto* data) {
    for (int64_t row = 0; row < rows; ++row) {
      const auto sums = cumulative(data + row * categories, categories);
      for (int64_t i = 0; i < samples; ++i) {
        const double u = kernels::unit_double(rng);
        const auto slot =
            std::partition_point(sums.begin(), sums.end(), [u](auto s) { return static_cast<double>(s) < u; });
        *out++ = slot - sums.begin();
      }
    }
  });
}

}  // namespace hb::cpu
