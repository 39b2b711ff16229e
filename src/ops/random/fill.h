#pragma once
// Random values for tensors that a function has just made: what uniform_ and its like do besides changing a tensor that
// the program has. No history, and the version stays 0.

#include <optional>

#include <halfbridge/generator.h>
#include <halfbridge/tensor.h>

namespace hb::draws {

void fill_uniform(const Tensor& fresh, double from, double to, const std::optional<Generator>& generator);
void fill_normal(const Tensor& fresh, double mean, double std, const std::optional<Generator>& generator);
/// Integers from `from` on and below `to`.
void fill_integers(const Tensor& fresh, int64_t from, int64_t to, const std::optional<Generator>& generator);
/// 1 with the probability `p`, or with that of each place, otherwise 0.
void fill_bernoulli(const Tensor& fresh, double p, const std::optional<Generator>& generator);
void fill_bernoulli(const Tensor& fresh, const Tensor& p, const std::optional<Generator>& generator);

}  // namespace hb::draws
