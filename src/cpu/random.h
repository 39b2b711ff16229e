#pragma once
// Random fills of contiguous CPU memory. The caller holds the generator's mutex and has checked the
// parameters.
#include <cstdint>
#include <optional>

#include <halfbridge/dtype.h>
#include <halfbridge/generator.h>

namespace hb::cpu {

/// `count` contiguous elements of one type.
struct RandomSpan {
  void* data;
  ScalarType dtype;
  int64_t count;
};

void fill_uniform(RandomSpan out, double from, double to, CPUGeneratorImpl& rng);
/// One draw after the other, as LibTorch fills fewer than 16 or non-contiguous elements.
void fill_normal_serial(RandomSpan out, double mean, double std, CPUGeneratorImpl& rng);
/// All uniform values first, turned into normal ones in blocks of 16; needs at least 16 elements.
void fill_normal_blocks(RandomSpan out, double mean, double std, CPUGeneratorImpl& rng);
/// Integers from [base, base + range); a range of 0 stands for all 2^64 values.
void fill_integers(RandomSpan out, uint64_t range, int64_t base, CPUGeneratorImpl& rng);
/// Integers from 0 up to the largest that the type holds (a floating type: holds exactly).
void fill_integers_any(RandomSpan out, CPUGeneratorImpl& rng);
/// `yes` with probability p, else 0.
void fill_bernoulli(RandomSpan out, double p, double yes, CPUGeneratorImpl& rng);
/// 1 with a probability for each element; p.dtype must be a floating type. Throws on one outside [0,
/// 1].
void fill_bernoulli_each(RandomSpan out, RandomSpan p, CPUGeneratorImpl& rng);
void fill_exponential(RandomSpan out, double lambda, CPUGeneratorImpl& rng);
void fill_geometric(RandomSpan out, double p, CPUGeneratorImpl& rng);
void fill_log_normal(RandomSpan out, double mean, double std, CPUGeneratorImpl& rng);
void fill_cauchy(RandomSpan out, double median, double sigma, CPUGeneratorImpl& rng);
/// out and rate are of one dtype.
void fill_poisson(RandomSpan out, RandomSpan rate, CPUGeneratorImpl& rng);
void fill_binomial(RandomSpan out, RandomSpan count, RandomSpan prob, CPUGeneratorImpl& rng);
/// A permutation of 0 .. count-1.
void fill_permutation(RandomSpan out, CPUGeneratorImpl& rng);

/// Draws `samples` categories with replacement for each row of weights (rows, categories), both contiguous.
void sample_with_replacement(RandomSpan weights, int64_t rows, int64_t categories, int64_t samples, int64_t* out,
                             CPUGeneratorImpl& rng);

}  // namespace hb::cpu
