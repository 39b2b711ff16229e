#pragma once
// New tensors of random numbers. The CPU stream is LibTorch's: the same seed gives the same numbers.

#include <halfbridge/tensor.h>

namespace hb {

HB_API Tensor rand(IntArrayRef size, const TensorOptions& options = {});
HB_API Tensor rand(IntArrayRef size, std::optional<Generator> generator, const TensorOptions& options = {});
HB_API Tensor randn(IntArrayRef size, const TensorOptions& options = {});
HB_API Tensor randn(IntArrayRef size, std::optional<Generator> generator, const TensorOptions& options = {});
HB_API Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options = kLong);
HB_API Tensor randint(int64_t high, IntArrayRef size, std::optional<Generator> generator,
                      const TensorOptions& options = kLong);
HB_API Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options = kLong);
HB_API Tensor randint(int64_t low, int64_t high, IntArrayRef size, std::optional<Generator> generator,
                      const TensorOptions& options = kLong);
HB_API Tensor randperm(int64_t n, const TensorOptions& options = kLong);
HB_API Tensor randperm(int64_t n, std::optional<Generator> generator, const TensorOptions& options = kLong);
HB_API Tensor& randperm_out(Tensor& out, int64_t n);
HB_API Tensor& randperm_out(Tensor& out, int64_t n, std::optional<Generator> generator);
/// Without a dtype among the options: that of self.
HB_API Tensor rand_like(const Tensor& self, const TensorOptions& options = {},
                        std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor randn_like(const Tensor& self, const TensorOptions& options = {},
                         std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options = {},
                           std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor randint_like(const Tensor& self, int64_t low, int64_t high, const TensorOptions& options = {},
                           std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor rand_like(const Tensor& self, std::optional<Generator> generator, const TensorOptions& options = {},
                        std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor randn_like(const Tensor& self, std::optional<Generator> generator, const TensorOptions& options = {},
                         std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor randint_like(const Tensor& self, int64_t high, std::optional<Generator> generator,
                           const TensorOptions& options = {}, std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor randint_like(const Tensor& self, int64_t low, int64_t high, std::optional<Generator> generator,
                           const TensorOptions& options = {}, std::optional<MemoryFormat> format = std::nullopt);
/// `high`: a tensor of one integer.
HB_API Tensor randint_like(const Tensor& self, const Tensor& high, const TensorOptions& options = {},
                           std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor randint_like(const Tensor& self, const Tensor& high, std::optional<Generator> generator,
                           const TensorOptions& options = {}, std::optional<MemoryFormat> format = std::nullopt);
HB_API Tensor bernoulli(const Tensor& self, const Tensor& p, std::optional<Generator> generator = std::nullopt);
HB_API Tensor& rand_out(Tensor& out, IntArrayRef size);
HB_API Tensor& randn_out(Tensor& out, IntArrayRef size);
HB_API Tensor& randint_out(Tensor& out, int64_t high, IntArrayRef size);
HB_API Tensor& randint_out(Tensor& out, int64_t low, int64_t high, IntArrayRef size);
HB_API Tensor& rand_out(Tensor& out, IntArrayRef size, std::optional<Generator> generator);
HB_API Tensor& randn_out(Tensor& out, IntArrayRef size, std::optional<Generator> generator);
HB_API Tensor& randint_out(Tensor& out, int64_t high, IntArrayRef size, std::optional<Generator> generator);
HB_API Tensor& randint_out(Tensor& out, int64_t low, int64_t high, IntArrayRef size,
                           std::optional<Generator> generator);
HB_API Tensor normal(double mean, double std, IntArrayRef size, std::optional<Generator> generator = std::nullopt,
                     const TensorOptions& options = {});
HB_API Tensor normal(const Tensor& mean, double std = 1, std::optional<Generator> generator = std::nullopt);
HB_API Tensor normal(double mean, const Tensor& std, std::optional<Generator> generator = std::nullopt);
HB_API Tensor normal(const Tensor& mean, const Tensor& std, std::optional<Generator> generator = std::nullopt);
HB_API Tensor poisson(const Tensor& self, std::optional<Generator> generator = std::nullopt);

/// Samples of the gamma distribution with shape `self` (floating) and scale 1. Its gradient is that of the sample by
/// the shape, which _standard_gamma_grad gives of shapes and samples; that has no gradient itself.
HB_API Tensor _standard_gamma(const Tensor& self, std::optional<Generator> generator = std::nullopt);
HB_API Tensor _standard_gamma_grad(const Tensor& self, const Tensor& output);
/// Samples of the Dirichlet distribution along the last dimension, of concentrations `self`; no derivative, as in
/// PyTorch. _dirichlet_grad(x, alpha, total): the derivative of one component x of a sample by its concentration alpha,
/// where all sum to `total`, divided by 1 - x.
HB_API Tensor _sample_dirichlet(const Tensor& self, std::optional<Generator> generator = std::nullopt);
HB_API Tensor _dirichlet_grad(const Tensor& x, const Tensor& alpha, const Tensor& total);

/// Successes in `count` trials of probability `prob`, element by element.
HB_API Tensor binomial(const Tensor& count, const Tensor& prob, std::optional<Generator> generator = std::nullopt);

// New tensors of self's shape and dtype, filled as the in-place form fills.
HB_API Tensor uniform(const Tensor& self, double from = 0, double to = 1,
                      std::optional<Generator> generator = std::nullopt);
HB_API Tensor normal_functional(const Tensor& self, double mean = 0, double std = 1,
                                std::optional<Generator> generator = std::nullopt);
HB_API Tensor random(const Tensor& self, int64_t from, std::optional<int64_t> to,
                     std::optional<Generator> generator = std::nullopt);
HB_API Tensor random(const Tensor& self, int64_t to, std::optional<Generator> generator = std::nullopt);
HB_API Tensor random(const Tensor& self, std::optional<Generator> generator = std::nullopt);
HB_API Tensor exponential(const Tensor& self, double lambd = 1, std::optional<Generator> generator = std::nullopt);
HB_API Tensor geometric(const Tensor& self, double p, std::optional<Generator> generator = std::nullopt);
HB_API Tensor log_normal(const Tensor& self, double mean = 1, double std = 2,
                         std::optional<Generator> generator = std::nullopt);
HB_API Tensor cauchy(const Tensor& self, double median = 0, double sigma = 1,
                     std::optional<Generator> generator = std::nullopt);

/// (result, mask of what is kept); train: std::nullopt is true.
HB_API std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train);
HB_API Tensor dropout(const Tensor& input, double p, bool train);
HB_API Tensor& dropout_(Tensor& input, double p, bool train);
HB_API Tensor feature_dropout(const Tensor& input, double p, bool train);
HB_API Tensor& feature_dropout_(Tensor& input, double p, bool train);
HB_API Tensor alpha_dropout(const Tensor& input, double p, bool train);
HB_API Tensor& alpha_dropout_(Tensor& input, double p, bool train);
HB_API Tensor feature_alpha_dropout(const Tensor& input, double p, bool train);
HB_API Tensor& feature_alpha_dropout_(Tensor& input, double p, bool train);

}  // namespace hb
