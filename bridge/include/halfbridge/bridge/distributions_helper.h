#pragma once
// <ATen/core/DistributionsHelper.h>: distributions over a generator's numbers, for kernels of a program's own. The
// numbers are those of LibTorch's; `generator` is a pointer, such as at::CPUGeneratorImpl*, whose mutex the caller
// holds.

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

#include <halfbridge/dtype.h>
#include <halfbridge/error.h>

namespace hb::bridge {

/// The type in which distributions of a dtype compute.
template <typename T>
struct DistAccumType {
  using type = std::conditional_t<std::is_same_v<T, double>, double, float>;
};
template <typename T>
using dist_acctype = typename DistAccumType<T>::type;

namespace transformation {
/// The lowest bits of a draw, as many as a T is exact to, over [from, to).
template <typename T, typename V>
dist_acctype<T> uniform_real(V draw, T from, T to) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr auto kMask = static_cast<V>((uint64_t(1) << kDigits) - 1);
  constexpr auto kStep = dist_acctype<T>(1) / static_cast<dist_acctype<T>>(uint64_t(1) << kDigits);
  const dist_acctype<T> part = static_cast<dist_acctype<T>>(draw & kMask) * kStep;
  return part * (to - from) + from;
}
template <typename T>
T exponential(T uniform, T lambda) {
  return static_cast<T>(-1) / lambda * std::log1p(-uniform);
}
template <typename T>
T geometric(T uniform, T p) {
  return static_cast<T>(std::ceil(std::log(uniform) / std::log1p(-p)));
}
template <typename T>
T cauchy(T uniform, T median, T sigma) {
  return median + sigma * std::tan(static_cast<T>(3.14159265358979323846) * (uniform - static_cast<T>(0.5)));
}
template <typename T>
T log_normal(T normal) {
  return std::exp(normal);
}
template <typename T>
T bernoulli(T uniform, T p) {
  return uniform < p;
}
}  // namespace transformation

/// Integers of [base, base + range).
template <typename T>
struct uniform_int_from_to_distribution {
  uniform_int_from_to_distribution(uint64_t range, int64_t base) : range_(range), base_(base) {}
  template <typename RNG>
  T operator()(RNG generator) const {
    const uint64_t draw = range_ >= uint64_t(1) << 32 ? generator->random64() : generator->random();
    return static_cast<T>(static_cast<int64_t>(draw % range_ + base_));
  }

 private:
  uint64_t range_;
  int64_t base_;
};

/// All integers of 64 bits.
template <typename T>
struct uniform_int_full_range_distribution {
  template <typename RNG>
  T operator()(RNG generator) const {
    return static_cast<T>(static_cast<int64_t>(generator->random64()));
  }
};

/// From 0 to the largest integer up to which a T is exact.
template <typename T>
struct uniform_int_distribution {
  template <typename RNG>
  T operator()(RNG generator) const {
    constexpr int kDigits = std::numeric_limits<T>::digits;
    constexpr bool kIsWide = std::is_same_v<T, double> || std::is_same_v<T, int64_t>;
    uint64_t draw;
    if constexpr (kIsWide)
      draw = generator->random64();
    else
      draw = generator->random();
    if constexpr (std::is_same_v<T, bool>) return static_cast<bool>(draw & 1);
    constexpr uint64_t kCount = (uint64_t(1) << kDigits) + (std::is_integral_v<T> ? 0 : 1);
    return static_cast<T>(draw % kCount);
  }
};

/// Numbers of [from, to).
template <typename T>
struct uniform_real_distribution {
  uniform_real_distribution(T from, T to) : from_(from), to_(to) {
    HB_CHECK(from <= to, "[uniform_real_distribution] expected from <= to, got ", from, " and ", to);
    HB_CHECK(to - from <= std::numeric_limits<T>::max(), "[uniform_real_distribution] expected a finite range");
  }
  template <typename RNG>
  dist_acctype<T> operator()(RNG generator) const {
    if constexpr (std::is_same_v<T, double>)
      return transformation::uniform_real<T>(generator->random64(), from_, to_);
    else
      return transformation::uniform_real<T>(generator->random(), from_, to_);
  }

 private:
  T from_, to_;
};

/// Pairs by Box and Muller; the generator keeps the second of a pair for the next call.
template <typename T>
struct normal_distribution {
  normal_distribution(T mean, T stdv) : mean_(mean), stdv_(stdv) {
    HB_CHECK(stdv >= 0, "[normal_distribution] stdv_in must be positive: ", stdv);
  }
  template <typename RNG>
  dist_acctype<T> operator()(RNG generator) const {
    using C = dist_acctype<T>;
    if (const std::optional<C> kept = take<C>(*generator)) return *kept * stdv_ + mean_;
    uniform_real_distribution<T> uniform(0, 1);
    const C u1 = uniform(generator), u2 = uniform(generator);
    const C r = std::sqrt(static_cast<C>(-2) * std::log1p(-u2));
    const C theta = static_cast<C>(2) * static_cast<C>(3.14159265358979323846) * u1;
    keep<C>(*generator, r * std::sin(theta));
    return r * std::cos(theta) * stdv_ + mean_;
  }

 private:
  template <typename C, typename G>
  static std::optional<C> take(G& generator) {
    std::optional<C> kept;
    if constexpr (std::is_same_v<C, double>)
      kept = generator.next_double_normal_sample(), generator.set_next_double_normal_sample(std::nullopt);
    else
      kept = generator.next_float_normal_sample(), generator.set_next_float_normal_sample(std::nullopt);
    return kept;
  }
  template <typename C, typename G>
  static void keep(G& generator, C value) {
    if constexpr (std::is_same_v<C, double>)
      generator.set_next_double_normal_sample(value);
    else
      generator.set_next_float_normal_sample(value);
  }
  T mean_, stdv_;
};

/// 1 with probability p, else 0.
template <typename T>
struct bernoulli_distribution {
  explicit bernoulli_distribution(T p) : p_(p) {
    HB_CHECK(p >= 0 && p <= 1, "[bernoulli_distribution] expected a probability, got ", p);
  }
  template <typename RNG>
  T operator()(RNG generator) const {
    return transformation::bernoulli<T>(uniform_real_distribution<T>(0, 1)(generator), p_);
  }

 private:
  T p_;
};

#define HB_DISTRIBUTION_OF_ONE(name, parameter, condition)                                         \
  template <typename T>                                                                            \
  struct name##_distribution {                                                                     \
    explicit name##_distribution(T parameter) : parameter##_(parameter) {                          \
      HB_CHECK(condition, "[" #name "_distribution] expected " #condition ", got ", parameter);    \
    }                                                                                              \
    template <typename RNG>                                                                        \
    T operator()(RNG generator) const {                                                            \
      return transformation::name<T>(uniform_real_distribution<T>(0, 1)(generator), parameter##_); \
    }                                                                                              \
                                                                                                   \
   private:                                                                                        \
    T parameter##_;                                                                                \
  };
HB_DISTRIBUTION_OF_ONE(geometric, p, p > 0 && p < 1)
HB_DISTRIBUTION_OF_ONE(exponential, lambda, lambda > 0)
#undef HB_DISTRIBUTION_OF_ONE

template <typename T>
struct cauchy_distribution {
  cauchy_distribution(T median, T sigma) : median_(median), sigma_(sigma) {}
  template <typename RNG>
  T operator()(RNG generator) const {
    return transformation::cauchy<T>(uniform_real_distribution<T>(0, 1)(generator), median_, sigma_);
  }

 private:
  T median_, sigma_;
};

/// exp() of normally distributed numbers.
template <typename T>
struct lognormal_distribution {
  lognormal_distribution(T mean, T stdv) : normal_(mean, stdv) {
    HB_CHECK(stdv > 0, "[lognormal_distribution] expected stdv > 0, got ", stdv);
  }
  template <typename RNG>
  T operator()(RNG generator) const {
    return transformation::log_normal<T>(normal_(generator));
  }

 private:
  normal_distribution<T> normal_;
};

}  // namespace hb::bridge
