#include "cpu/fft_plan.h"

#include <cmath>
#include <list>
#include <mutex>

namespace hb::cpu {
namespace {

constexpr int64_t kLongLine = 2048;  // from here on a line and its copy leave the second-level cache

/// exp(-2 pi i k / n) for k in [0, n); angles stay within an eighth of the circle, where sine and cosine are most
/// accurate.
Complex<double> root_of_unity(int64_t k, int64_t n) {
  constexpr double kTwoPi = 6.28318530717958647692;
  const bool lower = 2 * k > n;
  if (lower) k = n - k;
  const bool left = 4 * k > n;
  if (left) k = n - 2 * k;  // twice the distance to the half circle
  const double angle = kTwoPi * static_cast<double>(k) / static_cast<double>(left ? 2 * n : n);
  const double c = std::cos(angle), s = std::sin(angle);
  return {left ? -c : c, lower ? s : -s};
}

template <class T>
std::vector<Complex<T>> roots_of(int64_t n) {
  std::vector<Complex<T>> roots(n);
  for (int64_t k = 0; k < n; ++k) roots[k] = Complex<T>(root_of_unity(k, n));
  return roots;
}

/// 8 as often as 4 and then primes are left beside it; empty where a prime is too large.
std::vector<int64_t> radices_of(int64_t n) {
  std::vector<int64_t> radices;
  while ((n % 8 == 0 && n % 16 != 0) || n % 32 == 0) radices.push_back(8), n /= 8;
  while (n % 4 == 0) radices.push_back(4), n /= 4;
  for (int64_t p = 2; n > 1 && p <= kLargestFftFactor; ++p)
    while (n % p == 0) radices.push_back(p), n /= p;
  if (n > 1) radices.clear();
  return radices;
}

/// The divisor of n that is next to its square root from below.
int64_t middle_divisor(int64_t n) {
  for (auto d = static_cast<int64_t>(std::sqrt(static_cast<double>(n))); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

/// The last few that were asked for.
template <class Value>
class Recent {
 public:
  template <class Make>
  std::shared_ptr<const Value> get(int64_t n, Make make) {
    const std::lock_guard lock(mutex_);
    for (auto it = kept_.begin(); it != kept_.end(); ++it) {
      if (it->first != n) continue;
      kept_.splice(kept_.begin(), kept_, it);
      return kept_.front().second;
    }
    kept_.emplace_front(n, std::make_shared<const Value>(make()));
    if (kept_.size() > 16) kept_.pop_back();
    return kept_.front().second;
  }

 private:
  std::mutex mutex_;
  std::list<std::pair<int64_t, std::shared_ptr<const Value>>> kept_;
};

}  // namespace

template <class T>
FftPlan<T>::FftPlan(int64_t n_) : n(n_) {
  const std::vector<int64_t> radices = radices_of(n);
  if (radices.empty() && n > 1) {
    for (padded = 1; padded < 2 * n - 1;) padded *= 2;
    for (int64_t k = 0; k < n; ++k)
      chirp.push_back(
          Complex<T>(root_of_unity(static_cast<int64_t>(static_cast<unsigned __int128>(k) * k % (2 * n)), 2 * n)));
    return;
  }
  if (const int64_t d = middle_divisor(n); d >= 16) {
    rows = n / d, columns = d;
    turns.reserve(n);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) turns.push_back(Complex<T>(root_of_unity(r * c, n)));
    if (n >= kLongLine) return;
  }
  int64_t length = n;
  for (const int64_t radix : radices) {
    Stage stage{radix, length, {}, {}};
    for (int64_t p = 0; p < length / radix; ++p)
      for (int64_t k = 1; k < radix; ++k) stage.twiddles.push_back(Complex<T>(root_of_unity(p * k % length, length)));
    if (radix > 5 && radix != 8) stage.roots = roots_of<T>(radix);
    stages.push_back(std::move(stage));
    length /= radix;
  }
}

template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n) {
  static auto& plans = *new Recent<FftPlan<T>>;  // never destroyed: threads may compute while the process ends
  return plans.get(n, [n] { return FftPlan<T>(n); });
}

template <class T>
std::shared_ptr<const std::vector<Complex<T>>> fft_roots(int64_t n) {
  static auto& tables = *new Recent<std::vector<Complex<T>>>;
  return tables.get(n, [n] { return roots_of<T>(n); });
}

template struct FftPlan<float>;
template struct FftPlan<double>;
template std::shared_ptr<const FftPlan<float>> fft_plan<float>(int64_t);
template std::shared_ptr<const FftPlan<double>> fft_plan<double>(int64_t);
template std::shared_ptr<const std::vector<Complex<float>>> fft_roots<float>(int64_t);
template std::shared_ptr<const std::vector<Complex<double>>> fft_roots<double>(int64_t);

}  // namespace hb::cpu
