#include "cpu/random.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <halfbridge/error.h>

#include "cpu/random_kernels.h"
#include "cpu/random_span.h"
#include "formulas/box_muller.h"
#include "formulas/random.h"

namespace hb::cpu {

namespace {

constexpr int64_t kChunk = 1024;

/// Calls `f(bits, i)` for each i below n with 32 random bits, drawn in blocks.
template <typename F>
void each_with_bits(int64_t n, CPUGeneratorImpl& rng, F f) {
  uint32_t bits[kChunk];
  for (int64_t start = 0; start < n; start += kChunk) {
    const int64_t count = std::min(kChunk, n - start);
    rng.random_fill(bits, count);
    for (int64_t i = 0; i < count; ++i) f(bits[i], start + i);
  }
}

/// The same with 64 bits: two draws each, the first the high half.
template <typename F>
void each_with_bits64(int64_t n, CPUGeneratorImpl& rng, F f) {
  uint32_t bits[kChunk];
  for (int64_t start = 0; start < n; start += kChunk / 2) {
    const int64_t count = std::min(kChunk / 2, n - start);
    rng.random_fill(bits, 2 * count);
    for (int64_t i = 0; i < count; ++i) f((static_cast<uint64_t>(bits[2 * i]) << 32) | bits[2 * i + 1], start + i);
  }
}

template <typename T>
void uniform_values(T* out, int64_t n, T from, T to, CPUGeneratorImpl& rng) {
  const T width = to - from;
  uint32_t bits[kChunk];
  const int64_t words = std::is_same_v<T, double> ? 2 : 1;
  for (int64_t start = 0; start < n; start += kChunk / words) {
    const int64_t count = std::min(kChunk / words, n - start);
    rng.random_fill(bits, words * count);
    if constexpr (std::is_same_v<T, double>) {
      random_kernels().uniform_double(bits, count, from, width, out + start);
    } else if constexpr (std::is_same_v<T, float>) {
      random_kernels().uniform_float(bits, count, from, width, out + start);
    } else if constexpr (std::is_same_v<T, Half>) {
      random_kernels().uniform_half(bits, count, from, width, out + start);
    } else {
      random_kernels().uniform_bfloat16(bits, count, from, width, out + start);
    }
  }
}

void normal_blocks(float* data, int64_t count, float mean, float std) {
  random_kernels().box_muller(data, count, mean, std);
}
void normal_blocks(Half* data, int64_t count, Half mean, Half std) {
  random_kernels().box_muller_half(data, count, mean, std);
}
void normal_blocks(BFloat16* data, int64_t count, BFloat16 mean, BFloat16 std) {
  random_kernels().box_muller_bfloat16(data, count, mean, std);
}
void normal_blocks(double* data, int64_t count, double mean, double std) {
  for (int64_t i = 0; i < count; i += 16) kernels::box_muller_16(data + i, mean, std);
}

/// Fills a span of any type by a draw in double.
template <typename F>
void fill_each(const char* op, RandomSpan out, F draw) {
  with_type(op, out, [&](auto* data) {
    using T = std::remove_pointer_t<decltype(data)>;
    for (int64_t i = 0; i < out.count; ++i) data[i] = from_double<T>(draw());
  });
}
template <typename F>
void fill_each_floating(const char* op, RandomSpan out, F draw) {
  with_floating_type(op, out, [&](auto* data) {
    using T = std::remove_pointer_t<decltype(data)>;
    for (int64_t i = 0; i < out.count; ++i) data[i] = from_double<T>(draw());
  });
}

}  // namespace

void fill_uniform(RandomSpan out, double from, double to, CPUGeneratorImpl& rng) {
  with_floating_type("uniform_kernel_cpu", out, [&](auto* data) {
    using T = std::remove_pointer_t<decltype(data)>;
    uniform_values(data, out.count, from_double<T>(from), from_double<T>(to), rng);
  });
}

void fill_normal_serial(RandomSpan out, double mean, double std, CPUGeneratorImpl& rng) {
  fill_each_floating("normal_kernel_cpu", out, [&] { return kernels::normal(rng, mean, std); });
}

void fill_normal_blocks(RandomSpan out, double mean, double std, CPUGeneratorImpl& rng) {
  with_floating_type("normal_kernel_cpu", out, [&](auto* data) {
    using T = std::remove_pointer_t<decltype(data)>;
    const int64_t n = out.count;
    const int64_t whole = n - n % 16;
    uniform_values(data, n, T(0), T(1), rng);
    normal_blocks(data, whole, from_double<T>(mean), from_double<T>(std));
    if (whole == n) return;
    // The last 16 are drawn again, over values that are already normal.
    uniform_values(data + n - 16, 16, T(0), T(1), rng);
    normal_blocks(data + n - 16, 16, from_double<T>(mean), from_double<T>(std));
  });
}

void fill_integers(RandomSpan out, uint64_t range, int64_t base, CPUGeneratorImpl& rng) {
  with_type("random_", out, [&](auto* data) {
    using T = std::remove_pointer_t<decltype(data)>;
    auto put = [=](uint64_t bits, int64_t i) { data[i] = kernels::integer<T>(bits, range, base); };
    if (range == 0) {
      each_with_bits64(out.count, rng, [=](uint64_t bits, int64_t i) { data[i] = kernels::signed_bits<T>(bits); });
    } else if (range >= uint64_t{1} << 28) {  // 32 bits would favour the lower values by more than a sixteenth
      each_with_bits64(out.count, rng, put);
    } else {
      each_with_bits(out.count, rng, put);
    }
  });
}

void fill_integers_any(RandomSpan out, CPUGeneratorImpl& rng) {
  with_type("random_", out, [&](auto* data) {
    using T = std::remove_pointer_t<decltype(data)>;
    auto put = [=](uint64_t bits, int64_t i) { data[i] = kernels::integer_any<T>(bits); };
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, int64_t>) {
      each_with_bits64(out.count, rng, put);
    } else {
      each_with_bits(out.count, rng, put);
    }
  });
}

void fill_bernoulli(RandomSpan out, double p, double yes, CPUGeneratorImpl& rng) {
  // u < p for a u of 53 bits, compared as integers: scaling by a power of two is exact.
  const auto threshold = static_cast<uint64_t>(std::ceil(p * 0x1p53));
  uint32_t bits[kChunk];
  with_type("bernoulli_", out, [&](auto* data) {
    using T = std::remove_pointer_t<decltype(data)>;
    const T value = from_double<T>(yes);
    for (int64_t start = 0; start < out.count; start += kChunk / 2) {
      const int64_t count = std::min(kChunk / 2, out.count - start);
      rng.random_fill(bits, 2 * count);
      if constexpr (sizeof(T) == 4) {
        random_kernels().bernoulli_32(bits, count, threshold, std::bit_cast<uint32_t>(value),
                                      reinterpret_cast<uint32_t*>(data) + start);
      } else if constexpr (sizeof(T) == 2) {
        random_kernels().bernoulli_16(bits, count, threshold, std::bit_cast<uint16_t>(value),
                                      reinterpret_cast<uint16_t*>(data) + start);
      } else {
        for (int64_t i = 0; i < count; ++i)
          data[start + i] = kernels::below(bits[2 * i], bits[2 * i + 1], threshold) ? value : T(0);
      }
    }
  });
}

void fill_bernoulli_each(RandomSpan out, RandomSpan p, CPUGeneratorImpl& rng) {
  with_type("bernoulli_", out, [&](auto* data) {
    using T = std::remove_pointer_t<decltype(data)>;
    with_floating_type("bernoulli_tensor_cpu_p_", p, [&](const auto* probability) {
      using P = kernels::compute_t<std::remove_cv_t<std::remove_pointer_t<decltype(probability)>>>;
      for (int64_t i = 0; i < out.count; ++i) {
        const P value = probability[i];
        HB_CHECK(value >= 0 && value <= 1,
                 "Expected p_in >= 0 && p_in <= 1 to be true, but got false. (bernoulli_: p = ",
                 static_cast<double>(value), ")");
        const uint64_t bits = std::is_same_v<P, double> ? rng.random64() : rng.random();
        data[i] = from_double<T>(kernels::unit<P>(bits) < value);
      }
    });
  });
}

void fill_exponential(RandomSpan out, double lambda, CPUGeneratorImpl& rng) {
  fill_each_floating("exponential_cpu", out, [&] { return -1.0 / lambda * std::log1p(-kernels::unit_double(rng)); });
}

void fill_geometric(RandomSpan out, double p, CPUGeneratorImpl& rng) {
  fill_each("geometric_cpu", out, [&] { return std::ceil(std::log(kernels::unit_double(rng)) / std::log1p(-p)); });
}

void fill_log_normal(RandomSpan out, double mean, double std, CPUGeneratorImpl& rng) {
  fill_each_floating("log_normal_cpu", out, [&] { return std::exp(kernels::normal(rng, mean, std)); });
}

void fill_cauchy(RandomSpan out, double median, double sigma, CPUGeneratorImpl& rng) {
  fill_each_floating("cauchy_cpu", out, [&] {
    const double slope = std::tan(kernels::kPi * (kernels::unit_double(rng) - 0.5));
    return kernels::fused(sigma, slope, median);
  });
}

void fill_poisson(RandomSpan out, RandomSpan rate, CPUGeneratorImpl& rng) {
  with_floating_type("poisson_cpu", out, [&](auto* data) {
    using T = std::remove_pointer_t<decltype(data)>;
    const T* rates = static_cast<const T*>(rate.data);
    for (int64_t i = 0; i < out.count; ++i) {
      const auto r = static_cast<double>(rates[i]);
      HB_CHECK(r >= 0, "invalid Poisson rate, expected rate to be non-negative");
      data[i] = from_double<T>(static_cast<double>(kernels::poisson(rng, r)));
    }
  });
}

void fill_binomial(RandomSpan out, RandomSpan count, RandomSpan prob, CPUGeneratorImpl& rng) {
  with_floating_type("binomial_cpu", out, [&](auto* data) {
    using T = std::remove_pointer_t<decltype(data)>;
    const T *counts = static_cast<const T*>(count.data), *probs = static_cast<const T*>(prob.data);
    for (int64_t i = 0; i < out.count; ++i)
      data[i] = from_double<T>(kernels::binomial(rng, static_cast<double>(counts[i]), static_cast<double>(probs[i])));
  });
}

}  // namespace hb::cpu
