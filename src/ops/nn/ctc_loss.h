#pragma once

#include <utility>

#include <halfbridge/tensor.h>

namespace hb::ops {

/// What stands in a batch of sequences beside their log-probabilities (steps, batch, classes).
struct CtcLengths {
  Tensor targets, input_lengths, target_lengths;
  int64_t blank = 0;
};

/// The losses (batch) of float or double, infinite where a sequence cannot give its labels, and the logarithms of all
/// beginnings (batch, steps, 2 * the longest target + 1). `zero_infinity` says what the gradient is there.
std::pair<Tensor, Tensor> ctc_losses(const Tensor& log_probs, const CtcLengths& lengths, bool zero_infinity);
/// The gradient of log_probs from both. It has no history.
Tensor ctc_gradient(const Tensor& grad, const Tensor& log_probs, const CtcLengths& lengths, const Tensor& loss,
                    const Tensor& log_alpha, bool zero_infinity);

}  // namespace hb::ops
