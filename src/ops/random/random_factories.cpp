#include <limits>

#include <halfbridge/ops.h>
#include <halfbridge/ops/random.h>

#include "autograd/record.h"
#include "backend/distributions.h"
#include "core/function_watch.h"
#include "core/loop.h"
#include "ops/common/inplace.h"
#include "ops/common/join_devices.h"
#include "ops/random/fill.h"

namespace hb {

namespace {

/// A new tensor that `fill` gives its values, and what its options said about gradients.
template <typename F>
Tensor filled(Tensor fresh, const TensorOptions& options, F fill) {
  fill(fresh);
  if (options.requires_grad()) fresh.requires_grad_();
  return fresh;
}
template <typename F>
Tensor new_filled(IntArrayRef size, const TensorOptions& options, F fill) {
  // As in LibTorch, empty() alone looks at a memory format.
  return filled(empty(size, options.requires_grad(std::nullopt).memory_format(std::nullopt)), options, fill);
}
template <typename F>
Tensor like_filled(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> format, F fill) {
  const auto wanted = format ? format : options.memory_format_opt();
  return filled(empty_like(self, options.requires_grad(std::nullopt).memory_format(std::nullopt), wanted), options,
                fill);
}

/// A result that depends on `input` by chance only: its gradient is zero.
void record_zero(const char* node, Tensor& result, const Tensor& input) {
  if (needs_grad(input))
    record(node, result, {&input},
           [input = input.detach()](Backward&) -> variable_list { return {zeros_like(input)}; });
}

void check_stds(const Tensor& std) {
  HB_CHECK(std.numel() == 0 || std.detach().min().item<double>() >= 0, "normal expects all elements of std >= 0.0");
}

}  // namespace

Tensor rand(IntArrayRef size, const TensorOptions& options) { return rand(size, std::nullopt, options); }
Tensor rand(IntArrayRef size, std::optional<Generator> generator, const TensorOptions& options) {
  HB_OBSERVED(rand, size, generator, options);
  return new_filled(size, options, [&](Tensor& t) { draws::fill_uniform(t, 0, 1, generator); });
}
Tensor randn(IntArrayRef size, const TensorOptions& options) { return randn(size, std::nullopt, options); }
Tensor randn(IntArrayRef size, std::optional<Generator> generator, const TensorOptions& options) {
  HB_OBSERVED(randn, size, generator, options);
  return new_filled(size, options, [&](Tensor& t) { draws::fill_normal(t, 0, 1, generator); });
}
Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options) {
  return randint(0, high, size, std::nullopt, options);
}
Tensor randint(int64_t high, IntArrayRef size, std::optional<Generator> generator, const TensorOptions& options) {
  return randint(0, high, size, std::move(generator), options);
}
Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options) {
  return randint(low, high, size, std::nullopt, options);
}
Tensor randint(int64_t low, int64_t high, IntArrayRef size, std::optional<Generator> generator,
               const TensorOptions& options) {
  HB_OBSERVED(randint, low, high, size, generator, options);
  return new_filled(size, options, [&](Tensor& t) { draws::fill_integers(t, low, high, generator); });
}

Tensor randperm(int64_t n, const TensorOptions& options) { return randperm(n, std::nullopt, options); }
Tensor randperm(int64_t n, std::optional<Generator> generator, const TensorOptions& options) {
  HB_OBSERVED(randperm, n, generator, options);
  HB_CHECK(n >= 0, "[randperm] Trying to create tensor with negative dimension ", n, ": n must be non-negative");
  const ScalarType t = options.dtype_opt().value_or(kLong);
  if (t == kBool) HB_NOT_SUPPORTED("\"randperm\" not implemented for 'Bool'");
  // Each of these holds the integers up to two to the power of its digits.
  const int digits = t == kLong       ? 62
                     : t == kInt      ? 31
                     : t == kShort    ? 15
                     : t == kByte     ? 8
                     : t == kChar     ? 7
                     : t == kHalf     ? 11
                     : t == kBFloat16 ? 8
                     : t == kFloat    ? 24
                                      : 53;
  HB_CHECK(n <= (int64_t{1} << digits), "n is too large for result tensor type: 'CPU", toString(t), "Type'");
  return new_filled({n}, options.dtype(t), [&](Tensor& out) { randperm_kernel(out.device())(out, generator); });
}
Tensor& randperm_out(Tensor& out, int64_t n) { return randperm_out(out, n, std::nullopt); }
Tensor& randperm_out(Tensor& out, int64_t n, std::optional<Generator> generator) {
  return assign_out("randperm", out, randperm(n, std::move(generator), out.options()));
}

Tensor& rand_out(Tensor& out, IntArrayRef size) { return rand_out(out, size, std::nullopt); }
Tensor& rand_out(Tensor& out, IntArrayRef size, std::optional<Generator> generator) {
  return assign_out("rand", out, rand(size, std::move(generator), out.options()));
}
Tensor& randn_out(Tensor& out, IntArrayRef size) { return randn_out(out, size, std::nullopt); }
Tensor& randn_out(Tensor& out, IntArrayRef size, std::optional<Generator> generator) {
  return assign_out("randn", out, randn(size, std::move(generator), out.options()));
}
Tensor& randint_out(Tensor& out, int64_t high, IntArrayRef size) { return randint_out(out, 0, high, size); }
Tensor& randint_out(Tensor& out, int64_t high, IntArrayRef size, std::optional<Generator> generator) {
  return randint_out(out, 0, high, size, std::move(generator));
}
Tensor& randint_out(Tensor& out, int64_t low, int64_t high, IntArrayRef size) {
  return randint_out(out, low, high, size, std::nullopt);
}
Tensor& randint_out(Tensor& out, int64_t low, int64_t high, IntArrayRef size, std::optional<Generator> generator) {
  return assign_out("randint", out, randint(low, high, size, std::move(generator), out.options()));
}

Tensor rand_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> format) {
  return rand_like(self, std::nullopt, options, format);
}
Tensor rand_like(const Tensor& self, std::optional<Generator> generator, const TensorOptions& options,
                 std::optional<MemoryFormat> format) {
  HB_OBSERVED(rand_like, self, generator, options, format);
  return like_filled(self, options, format, [&](Tensor& t) { draws::fill_uniform(t, 0, 1, generator); });
}
Tensor randn_like(const Tensor& self, const TensorOptions& options, std::optional<MemoryFormat> format) {
  return randn_like(self, std::nullopt, options, format);
}
Tensor randn_like(const Tensor& self, std::optional<Generator> generator, const TensorOptions& options,
                  std::optional<MemoryFormat> format) {
  HB_OBSERVED(randn_like, self, generator, options, format);
  return like_filled(self, options, format, [&](Tensor& t) { draws::fill_normal(t, 0, 1, generator); });
}
Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options,
                    std::optional<MemoryFormat> format) {
  return randint_like(self, 0, high, std::nullopt, options, format);
}
Tensor randint_like(const Tensor& self, int64_t high, std::optional<Generator> generator, const TensorOptions& options,
                    std::optional<MemoryFormat> format) {
  return randint_like(self, 0, high, std::move(generator), options, format);
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high, const TensorOptions& options,
                    std::optional<MemoryFormat> format) {
  return randint_like(self, low, high, std::nullopt, options, format);
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high, std::optional<Generator> generator,
                    const TensorOptions& options, std::optional<MemoryFormat> format) {
  return like_filled(self, options, format, [&](Tensor& t) { draws::fill_integers(t, low, high, generator); });
}
Tensor randint_like(const Tensor& self, const Tensor& high, const TensorOptions& options,
                    std::optional<MemoryFormat> format) {
  return randint_like(self, high, std::nullopt, options, format);
}
Tensor randint_like(const Tensor& self, const Tensor& high, std::optional<Generator> generator,
                    const TensorOptions& options, std::optional<MemoryFormat> format) {
  HB_CHECK(high.numel() == 1 && high.device().is_cpu(),
           "[randint_like] expected `high` to be a scalar tensor on the CPU, got one of sizes ", high.sizes(), " on ",
           high.device());
  return randint_like(self, high.item().toLong(), std::move(generator), options, format);
}

Tensor normal(double mean, double std, IntArrayRef size, std::optional<Generator> generator,
              const TensorOptions& options) {
  return new_filled(size, options, [&](Tensor& t) { draws::fill_normal(t, mean, std, generator); });
}

Tensor normal(const Tensor& mean, double std, std::optional<Generator> generator) {
  Tensor out;
  {
    NoGradGuard no_grad;
    out = empty(mean.sizes(), mean.options());
    draws::fill_normal(out, 0, std, generator);
    out = out.add_(mean.detach()).variable_data();  // its version is that of a new tensor
  }
  record_zero("NormalBackward1", out, mean);
  return out;
}
Tensor normal(double mean, const Tensor& std, std::optional<Generator> generator) {
  check_stds(std);
  Tensor out;
  {
    NoGradGuard no_grad;
    out = empty(std.sizes(), std.options());
    draws::fill_normal(out, 0, 1, generator);
    out = out.mul_(std.detach()).add_(mean).variable_data();
  }
  record_zero("NormalBackward2", out, std);
  return out;
}
Tensor normal(const Tensor& mean, const Tensor& std, std::optional<Generator> generator) {
  check_stds(std);
  Tensor out;
  const Tensor plain_mean = mean.detach(), plain_std = std.detach();
  {
    NoGradGuard no_grad;
    const Tensor* both[] = {&plain_mean, &plain_std};
    const DimVector sizes = broadcast_sizes("normal", both);
    out = empty({sizes.data(), sizes.size()}, mean.options());
    draws::fill_normal(out, 0, 1, generator);
    out = out.mul_(plain_std).add_(plain_mean).variable_data();
  }
  if (needs_grad(mean, std))
    record("NormalBackward3", out, {&mean, &std}, [plain_mean, plain_std](Backward&) -> variable_list {
      return {zeros_like(plain_mean), zeros_like(plain_std)};
    });
  return out;
}

Tensor bernoulli(const Tensor& self, std::optional<Generator> generator) {
  Tensor out = empty(self.sizes(), self.options());
  draws::fill_bernoulli(out, self.detach(), generator);
  record_zero("BernoulliBackward0", out, self);
  return out;
}
Tensor bernoulli(const Tensor& self, double p, std::optional<Generator> generator) {
  Tensor out = empty(self.sizes(), self.options());
  draws::fill_bernoulli(out, p, generator);
  record_zero("BernoulliBackward0", out, self);
  return out;
}

Tensor poisson(const Tensor& self, std::optional<Generator> generator) {
  Tensor out = empty(self.sizes(), self.options());
  if (self.numel() > 0) poisson_kernel(self.device())(out, self.detach().contiguous(), generator);
  record_zero("PoissonBackward0", out, self);
  return out;
}

Tensor binomial(const Tensor& count, const Tensor& prob, std::optional<Generator> generator) {
  HB_DEFINED(binomial, count, prob);
  HB_CHECK(count.is_floating_point(), "[binomial] only supports floating-point dtypes for count, got ",
           count.scalar_type());
  HB_CHECK(prob.is_floating_point(), "[binomial] only supports floating-point dtypes for prob, got ",
           prob.scalar_type());
  const ScalarType t = result_type(count, prob);
  Tensor counts = count.detach().to(t), chances = prob.detach().to(t);
  ops::join_devices(counts, chances);
  const auto both = broadcast_tensors({counts, chances});
  Tensor out = empty(both[0].sizes(), both[0].options());
  if (out.numel() > 0) binomial_kernel(out.device())(out, both[0].contiguous(), both[1].contiguous(), generator);
  if (needs_grad(count, prob))
    record("BinomialBackward0", out, {&count, &prob}, [](Backward& b) -> variable_list {
      return {zeros_like(b.grad()), zeros_like(b.grad())};
    });
  return out;
}

namespace {

void check_multinomial(const Tensor& self, int64_t num_samples, bool replacement) {
  HB_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  HB_CHECK(self.is_floating_point(),
           "multinomial only supports floating-point dtypes for input, got: ", self.scalar_type());
  HB_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples");
  HB_CHECK(replacement || num_samples <= self.size(-1),
           "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  // Categories are counted in float where LibTorch runs on a device.
  HB_CHECK(self.size(-1) <= (int64_t{1} << 24), "number of categories cannot exceed 2^24");
}

/// The categories with the largest weight / exponential value: a draw without replacement.
Tensor draw_without_replacement(const Tensor& weights, int64_t num_samples, std::optional<Generator> generator) {
  HB_CHECK(weights.max().item<double>() < std::numeric_limits<double>::infinity() && weights.min().item<double>() >= 0,
           "probability tensor contains either `inf`, `nan` or element < 0");
  HB_CHECK(!(weights.sum(-1) == 0).any().item<bool>(), "invalid multinomial distribution (sum of probabilities <= 0)");
  const Tensor keys = weights / empty_like(weights).exponential_(1, std::move(generator));
  if (num_samples == 1) return keys.argmax(-1, true);
  return std::get<1>(keys.topk(num_samples));
}

}  // namespace

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement, std::optional<Generator> generator) {
  HB_DEFINED(multinomial, self);
  check_multinomial(self, num_samples, replacement);
  NoGradGuard no_grad;
  const Tensor weights = self.detach();
  const TensorOptions options = self.options().dtype(kLong);
  if (weights.numel() == 0)
    return weights.dim() == 1 ? empty({num_samples}, options) : empty({weights.size(0), num_samples}, options);
  if (!replacement || num_samples == 1) return draw_without_replacement(weights, num_samples, std::move(generator));
  const Tensor rows = weights.dim() == 1 ? weights.unsqueeze(0) : weights;
  Tensor out = empty({rows.size(0), num_samples}, options);
  multinomial_kernel(self.device())(out, rows.contiguous(), generator);
  return weights.dim() == 1 ? out.squeeze(0) : out;
}

// --- into new tensors

Tensor uniform(const Tensor& self, double from, double to, std::optional<Generator> generator) {
  return empty_like(self.detach()).uniform_(from, to, std::move(generator));
}
Tensor normal_functional(const Tensor& self, double mean, double std, std::optional<Generator> generator) {
  return empty_like(self.detach()).normal_(mean, std, std::move(generator));
}
Tensor random(const Tensor& self, int64_t from, std::optional<int64_t> to, std::optional<Generator> generator) {
  return empty_like(self.detach()).random_(from, to, std::move(generator));
}
Tensor random(const Tensor& self, int64_t to, std::optional<Generator> generator) {
  return empty_like(self.detach()).random_(to, std::move(generator));
}
Tensor random(const Tensor& self, std::optional<Generator> generator) {
  return empty_like(self.detach()).random_(std::move(generator));
}
Tensor exponential(const Tensor& self, double lambd, std::optional<Generator> generator) {
  return empty_like(self.detach()).exponential_(lambd, std::move(generator));
}
Tensor geometric(const Tensor& self, double p, std::optional<Generator> generator) {
  return empty_like(self.detach()).geometric_(p, std::move(generator));
}
Tensor log_normal(const Tensor& self, double mean, double std, std::optional<Generator> generator) {
  return empty_like(self.detach()).log_normal_(mean, std, std::move(generator));
}
Tensor cauchy(const Tensor& self, double median, double sigma, std::optional<Generator> generator) {
  return empty_like(self.detach()).cauchy_(median, sigma, std::move(generator));
}

}  // namespace hb
