#include "backend/distributions.h"

#include <algorithm>
#include <numeric>

#include <halfbridge/ops/factories.h>

#include "cpu/arranged.h"
#include "cpu/random.h"

namespace hb::cpu {

namespace {

RandomSpan span_of(const Tensor& t) { return {t.impl().visible_data(), t.scalar_type(), t.numel()}; }

/// Dimensions from the widest stride to the narrowest: the order in which LibTorch walks memory.
DimVector memory_order(const Tensor& t) {
  DimVector order(t.dim());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return t.stride(a) > t.stride(b); });
  return order;
}

/// Calls `fill(span, rng)` with contiguous memory that ends up in `out`, the generator locked.
template <typename F>
void with_memory(const Tensor& out, const MaybeGenerator& generator, F fill) {
  auto* rng = get_generator_or_default<CPUGeneratorImpl>(generator, default_generator());
  std::lock_guard<std::mutex> lock(rng->mutex_);
  if (out.is_contiguous()) return fill(span_of(out), *rng);
  const DimVector order = memory_order(out);
  const Tensor ordered = permuted(out, order);
  if (ordered.is_contiguous()) return fill(span_of(ordered), *rng);
  const Tensor values = empty(ordered.sizes(), out.options());
  fill(span_of(values), *rng);
  copy_values(ordered, values);
}

void uniform(const Tensor& out, double from, double to, const MaybeGenerator& g) {
  with_memory(out, g, [&](RandomSpan s, CPUGeneratorImpl& rng) { fill_uniform(s, from, to, rng); });
}
void normal(const Tensor& out, double mean, double std, const MaybeGenerator& g) {
  const bool blocks = out.numel() >= 16 && out.is_contiguous();
  with_memory(out, g, [&](RandomSpan s, CPUGeneratorImpl& rng) {
    (blocks ? fill_normal_blocks : fill_normal_serial)(s, mean, std, rng);
  });
}
void random_from_to(const Tensor& out, uint64_t range, int64_t base, const MaybeGenerator& g) {
  with_memory(out, g, [&](RandomSpan s, CPUGeneratorImpl& rng) { fill_integers(s, range, base, rng); });
}
void random(const Tensor& out, const MaybeGenerator& g) { with_memory(out, g, fill_integers_any); }
void bernoulli(const Tensor& out, double p, double yes, const MaybeGenerator& g) {
  with_memory(out, g, [&](RandomSpan s, CPUGeneratorImpl& rng) { fill_bernoulli(s, p, yes, rng); });
}
void exponential(const Tensor& out, double lambda, const MaybeGenerator& g) {
  with_memory(out, g, [&](RandomSpan s, CPUGeneratorImpl& rng) { fill_exponential(s, lambda, rng); });
}
void geometric(const Tensor& out, double p, const MaybeGenerator& g) {
  with_memory(out, g, [&](RandomSpan s, CPUGeneratorImpl& rng) { fill_geometric(s, p, rng); });
}
void log_normal(const Tensor& out, double mean, double std, const MaybeGenerator& g) {
  with_memory(out, g, [&](RandomSpan s, CPUGeneratorImpl& rng) { fill_log_normal(s, mean, std, rng); });
}
void cauchy(const Tensor& out, double median, double sigma, const MaybeGenerator& g) {
  with_memory(out, g, [&](RandomSpan s, CPUGeneratorImpl& rng) { fill_cauchy(s, median, sigma, rng); });
}
void randperm(const Tensor& out, const MaybeGenerator& g) { with_memory(out, g, fill_permutation); }

void bernoulli_each(const Tensor& out, const Tensor& p, const MaybeGenerator& g) {
  const DimVector order = memory_order(out);
  const Tensor ordered = packed(permuted(p, order));
  const Tensor logical = out.is_contiguous() ? packed(p) : ordered;
  with_memory(out, g, [&](RandomSpan s, CPUGeneratorImpl& rng) { fill_bernoulli_each(s, span_of(logical), rng); });
}

void poisson(const Tensor& out, const Tensor& rate, const MaybeGenerator& g) {
  with_memory(out, g, [&](RandomSpan s, CPUGeneratorImpl& rng) { fill_poisson(s, span_of(rate), rng); });
}
void binomial(const Tensor& out, const Tensor& count, const Tensor& prob, const MaybeGenerator& g) {
  with_memory(out, g,
              [&](RandomSpan s, CPUGeneratorImpl& rng) { fill_binomial(s, span_of(count), span_of(prob), rng); });
}

void multinomial(const Tensor& out, const Tensor& weights, const MaybeGenerator& g) {
  with_memory(out, g, [&](RandomSpan s, CPUGeneratorImpl& rng) {
    sample_with_replacement(span_of(weights), weights.size(0), weights.size(1), out.size(1),
                            static_cast<int64_t*>(s.data), rng);
  });
}

HB_REGISTER_CPU(uniform_kernel, uniform);
HB_REGISTER_CPU(normal_kernel, normal);
HB_REGISTER_CPU(random_from_to_kernel, random_from_to);
HB_REGISTER_CPU(random_kernel, random);
HB_REGISTER_CPU(bernoulli_kernel, bernoulli);
HB_REGISTER_CPU(bernoulli_each_kernel, bernoulli_each);
HB_REGISTER_CPU(exponential_kernel, exponential);
HB_REGISTER_CPU(geometric_kernel, geometric);
HB_REGISTER_CPU(log_normal_kernel, log_normal);
HB_REGISTER_CPU(cauchy_kernel, cauchy);
HB_REGISTER_CPU(poisson_kernel, poisson);
HB_REGISTER_CPU(binomial_kernel, binomial);
HB_REGISTER_CPU(randperm_kernel, randperm);
HB_REGISTER_CPU(multinomial_kernel, multinomial);

}  // namespace

}  // namespace hb::cpu
