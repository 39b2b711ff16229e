#pragma once
// What is known of a transform before its data: factors and roots of unity.

#include <cstdint>
#include <memory>
#include <vector>

#include <halfbridge/complex.h>

namespace hb::cpu {

/// The largest prime that is a radix.
constexpr int64_t kLargestFftFactor = 31;

template <class T>
struct FftPlan {
  /// One step of Stockham's algorithm: the transforms of `radix` parts of `length` elements are joined.
  struct Stage {
    int64_t radix, length;
    std::vector<Complex<T>> twiddles;  // (length / radix, radix - 1)
    std::vector<Complex<T>> roots;     // of the radix, where it has no formula of its own
  };

  explicit FftPlan(int64_t n);

  int64_t n;
  std::vector<Stage> stages;
  /// A length with a large prime factor has no stages: it is a convolution with a chirp (Bluestein), of length
  /// `padded`.
  std::vector<Complex<T>> chirp;  // exp(-pi i k^2 / n)
  int64_t padded = 0;
  /// Long lines, which have no stages, and short ones that are few are a matrix of rows x columns whose columns and
  /// then rows are transformed; 0 where they are not.
  int64_t rows = 0, columns = 0;
  std::vector<Complex<T>> turns;  // (rows, columns), the factors between
};

/// For a length, kept for the next call. Any thread.
template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t n);
/// exp(-2 pi i k / n) for k in [0, n), kept likewise.
template <class T>
std::shared_ptr<const std::vector<Complex<T>>> fft_roots(int64_t n);

}  // namespace hb::cpu
