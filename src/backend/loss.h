#pragma once

#include <halfbridge/tensor.h>

#include "backend/kernel.h"

namespace hb {

/// Losses by class number. x: log-probabilities or logits, (outer, classes, inner) contiguous; target (outer, inner)
/// int64.
struct ClassLoss {
  int64_t outer = 0, classes = 0, inner = 1;
  const void* x = nullptr;
  const int64_t* target = nullptr;
  const void* weight = nullptr;  // (classes), dtype of x; may be absent
  int64_t ignore_index = -100;
  double smoothing = 0;
  int64_t reduction = 1;
  /// One number: the sum of the weights of the targets that count, which a mean divides by. Written by the forward
  /// pass.
  double* total = nullptr;
  /// The cross entropy of half logits in float32: `out`, and `grad` of the backward pass, are float32.
  bool float_loss = false;
};
inline void operands(capture::Operands& v, ClassLoss& l) {
  v.reads(l.x), v.reads(l.target), v.reads(l.weight);
  v.changes(l.total);
}
/// out: one value, or (outer, inner) without reduction.
HB_API inline Kernel<void(ScalarType dtype, const ClassLoss& loss, void* out)> nll_kernel{"nll_loss"};
/// grad_x from grad (one value, or (outer, inner)).
HB_API inline Kernel<void(ScalarType dtype, const ClassLoss& loss, void* grad_x, const void* grad)> nll_backward_kernel{
    "nll_loss_backward"};
/// The same on logits (inner is 1): softmax included. normalizer (outer) keeps the logarithm of each row's sum, in
/// float (double for double).
HB_API inline Kernel<void(ScalarType dtype, const ClassLoss& loss, void* out, void* normalizer)> cross_entropy_kernel{
    "cross_entropy_loss"};
HB_API inline Kernel<void(ScalarType dtype, const ClassLoss& loss, void* grad_x, const void* grad,
                          const void* normalizer)>
    cross_entropy_backward_kernel{"cross_entropy_loss_backward"};

/// Losses of pairs of numbers.
enum class PairLoss { mse, l1, smooth_l1, huber, bce, bce_logits };
/// out: n values of f(a, b), or (scale given) one value, their sum times scale.
HB_API inline Kernel<void(ScalarType dtype, PairLoss kind, double param, int64_t n, const double* scale, void* out,
                          const void* a, const void* b)>
    pair_loss_kernel{"pair_loss"};
/// grad_a (n) from grad: n values, or (scale given) one, times scale.
HB_API inline Kernel<void(ScalarType dtype, PairLoss kind, double param, int64_t n, const double* scale, void* grad_a,
                          const void* grad, const void* a, const void* b)>
    pair_loss_backward_kernel{"pair_loss_backward"};
/// Throws unless 0 <= least and most <= 1 (float64, one element each): those of a binary cross entropy's `what`.
HB_API inline Kernel<void(const Tensor& least, const Tensor& most, const char* what)> check_unit_range_kernel{
    "binary_cross_entropy"};

}  // namespace hb
