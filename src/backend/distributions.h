#pragma once
// Routines that draw random numbers. `out` may be strided: it is filled in the order in which its elements
// lie in memory. Parameters are checked by the caller; the generator is the device's default one where none
// is given.
#include <optional>

#include <halfbridge/generator.h>
#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

using MaybeGenerator = std::optional<Generator>;

HB_API inline Kernel<void(const Tensor& out, double from, double to, const MaybeGenerator&)> uniform_kernel{"uniform_"};
HB_API inline Kernel<void(const Tensor& out, double mean, double std, const MaybeGenerator&)> normal_kernel{"normal_"};
/// Integers in [base, base + range); a range of 0 stands for all 2^64 values.
HB_API inline Kernel<void(const Tensor& out, uint64_t range, int64_t base, const MaybeGenerator&)>
    random_from_to_kernel{"random_"};
/// Any non-negative integer that the dtype holds (for floating types: holds exactly).
HB_API inline Kernel<void(const Tensor& out, const MaybeGenerator&)> random_kernel{"random_"};
/// `yes` with probability p, else 0.
HB_API inline Kernel<void(const Tensor& out, double p, double yes, const MaybeGenerator&)> bernoulli_kernel{
    "bernoulli_"};
/// 1 with the probability at the same place in p (same sizes as out), else 0.
HB_API inline Kernel<void(const Tensor& out, const Tensor& p, const MaybeGenerator&)> bernoulli_each_kernel{
    "bernoulli_"};
/// A mask of dropout: `yes` with the probability `keep`, else 0, in the order in which the mask lies in memory. A
/// thread draws for `neighbours` elements that lie side by side (1, 2, 4 or 8, which divide their number); `input` is
/// the dtype of what is masked. Not for the CPU, whose masks are those of bernoulli_kernel.
HB_API inline Kernel<void(const Tensor& mask, ScalarType input, double keep, double yes, int64_t neighbours)>
    dropout_mask_kernel{"native_dropout"};
/// `out` is `input` times such a mask, of the same dtype and memory layout. Without memory for it (an undefined tensor)
/// the mask is not written.
HB_API inline Kernel<void(const Tensor& out, const Tensor& mask, const Tensor& input, double keep, double yes,
                          int64_t neighbours)>
    dropout_kernel{"dropout"};
/// Factors of rrelu: a draw between low and high where the input is not positive, else 1. out is contiguous. Not for
/// the CPU, which draws for the elements alone that are not positive.
HB_API inline Kernel<void(const Tensor& out, const Tensor& input, double low, double high, const MaybeGenerator&)>
    rrelu_slopes_kernel{"rrelu"};
HB_API inline Kernel<void(const Tensor& out, double lambda, const MaybeGenerator&)> exponential_kernel{"exponential_"};
HB_API inline Kernel<void(const Tensor& out, double p, const MaybeGenerator&)> geometric_kernel{"geometric_"};
HB_API inline Kernel<void(const Tensor& out, double mean, double std, const MaybeGenerator&)> log_normal_kernel{
    "log_normal_"};
HB_API inline Kernel<void(const Tensor& out, double median, double sigma, const MaybeGenerator&)> cauchy_kernel{
    "cauchy_"};
/// Poisson counts; out and rate are contiguous and of one floating dtype.
HB_API inline Kernel<void(const Tensor& out, const Tensor& rate, const MaybeGenerator&)> poisson_kernel{"poisson"};
HB_API inline Kernel<void(const Tensor& out, const Tensor& count, const Tensor& prob, const MaybeGenerator&)>
    binomial_kernel{"binomial"};
/// Samples of the gamma distribution of scale 1, none below `least`; out and shape are contiguous and of one floating
/// dtype.
HB_API inline Kernel<void(const Tensor& out, const Tensor& shape, double least, const MaybeGenerator&)>
    standard_gamma_kernel{"_standard_gamma"};
/// out = d sample / d shape at fixed probability; all contiguous, of one floating dtype.
HB_API inline Kernel<void(const Tensor& out, const Tensor& shape, const Tensor& sample)> standard_gamma_grad_kernel{
    "_standard_gamma_grad"};
/// The same for a component x of a Dirichlet sample with concentration alpha of a total.
HB_API inline Kernel<void(const Tensor& out, const Tensor& x, const Tensor& alpha, const Tensor& total)>
    dirichlet_grad_kernel{"_dirichlet_grad"};
/// A permutation of 0 .. numel-1 in contiguous memory.
HB_API inline Kernel<void(const Tensor& out, const MaybeGenerator&)> randperm_kernel{"randperm"};
/// out (rows, samples) of int64, weights (rows, categories), both contiguous.
HB_API inline Kernel<void(const Tensor& out, const Tensor& weights, const MaybeGenerator&)> multinomial_kernel{
    "multinomial"};

}  // namespace hb
