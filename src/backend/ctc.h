#pragma once

#include <vector>

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// The sequences of a batch of connectionist temporal classification.
struct CtcTargets {
  int64_t steps, batch, classes;
  int64_t width = 1;                     // 2 * the longest target + 1
  std::vector<int64_t> labels;           // (batch, width): blank, label, blank, …
  std::vector<char> may_skip;            // (batch, width): whether the blank before may be left out
  std::vector<int64_t> inputs, targets;  // (batch): lengths
};
inline void operands(capture::Operands& v, CtcTargets&) { v.refuse("reads labels and lengths on the host"); }

/// loss (batch) of log_probs (steps, batch, classes), contiguous float or double; alpha (batch, steps, width + 2) keeps
/// the logarithms of all beginnings, each row behind two of impossible ones.
HB_API inline Kernel<void(ScalarType dtype, const CtcTargets& t, const void* log_probs, void* alpha, void* loss)>
    ctc_kernel{"ctc_loss"};
/// grad_log_probs from grad (batch): e^log_probs - posterior, as LibTorch has it, which for normalised log_probs is the
/// gradient by what they were normalised from.
HB_API inline Kernel<void(ScalarType dtype, const CtcTargets& t, const void* log_probs, const void* alpha,
                          const void* loss, const void* grad, void* grad_log_probs)>
    ctc_backward_kernel{"ctc_loss_backward"};

}  // namespace hb
