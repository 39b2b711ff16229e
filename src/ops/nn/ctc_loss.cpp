// Connectionist temporal classification: over all alignments of the labels, with blanks between, to the steps.
#include "ops/nn/ctc_loss.h"

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/composed.h"
#include "backend/ctc.h"

namespace hb {
namespace {

using Targets = std::shared_ptr<const CtcTargets>;

std::vector<int64_t> values_of(const Tensor& t) {
  const Tensor dense = t.to(kCPU, kLong).contiguous();
  return {dense.data_ptr<int64_t>(), dense.data_ptr<int64_t>() + dense.numel()};
}

void extend(CtcTargets& t, const Tensor& targets, int64_t blank) {
  const auto all = values_of(targets);
  t.labels.assign(t.batch * t.width, blank), t.may_skip.assign(t.batch * t.width, 0);
  int64_t start = 0;
  for (int64_t i = 0; i < t.batch; ++i) {
    if (targets.dim() == 2) start = i * targets.size(1);
    for (int64_t s = 0; s < t.targets[i]; ++s) {
      const int64_t label = all[start + s], at = i * t.width + 2 * s + 1;
      HB_CHECK(label >= 0 && label < t.classes, "[ctc_loss] expected labels in [0, ", t.classes, "), got ", label);
      t.labels[at] = label;
      t.may_skip[at] = s > 0 && label != all[start + s - 1];
    }
    start += t.targets[i];
  }
}

Targets targets_of(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                   const Tensor& target_lengths, int64_t blank) {
  auto t = std::make_shared<CtcTargets>();
  t->steps = log_probs.size(0), t->batch = log_probs.size(1), t->classes = log_probs.size(2);
  t->inputs = values_of(input_lengths), t->targets = values_of(target_lengths);
  const int64_t n = t->batch;
  HB_CHECK(static_cast<int64_t>(t->inputs.size()) == n && static_cast<int64_t>(t->targets.size()) == n,
           "[ctc_loss] input_lengths must be of size batch_size, and target_lengths too: expected ", n, ", got ",
           t->inputs.size(), " and ", t->targets.size());
  HB_CHECK(blank >= 0 && blank < t->classes, "[ctc_loss] blank must be in label range: expected [0, ", t->classes,
           "), got ", blank);
  int64_t longest = 0, total = 0;
  for (int64_t i = 0; i < n; ++i) {
    HB_CHECK(t->inputs[i] <= t->steps, "[ctc_loss] Expected input_lengths to have value at most ", t->steps,
             ", but got value ", t->inputs[i]);
    HB_CHECK(t->inputs[i] >= 0 && t->targets[i] >= 0,
             "[ctc_loss] Expected input_lengths and target_lengths to have value at least 0, but got value ",
             std::min(t->inputs[i], t->targets[i]));
    longest = std::max(longest, t->targets[i]);
    total += t->targets[i];
  }
  HB_CHECK(targets.dim() == 1 ? total <= targets.numel()
                              : targets.dim() == 2 && targets.size(0) == n && longest <= targets.size(1),
           "[ctc_loss] Expected tensor to have size at least ", longest, " at dimension 1: targets (", n, ", S), or ",
           total, " labels one after the other; got ", targets.sizes());
  t->width = 2 * longest + 1;
  extend(*t, targets, blank);
  return t;
}

// --- the same by public functions, a batch at a time

constexpr double kNever = -1e30;  // stands for the logarithm of zero, without the NaN of its gradients

Tensor shifted(const Tensor& alpha, int64_t by) {
  return constant_pad_nd(alpha, {by, 0}, kNever).narrow(1, 0, alpha.size(1));
}

Tensor log_add(const Tensor& a, const Tensor& b, const Tensor& c) {
  return stack({a, b, c}, 0).logsumexp(IntArrayRef({0}));
}

// Losses of sequences of at least one step, without infinity; impossible ones have no gradient.
Tensor composed(const Tensor& log_probs, const CtcTargets& t) {
  const TensorOptions integers = log_probs.options().dtype(kLong);
  const auto matrix = [&](const std::vector<int64_t>& v) { return tensor(v, integers).view({t.batch, t.width}); };
  const Tensor skipped = matrix(std::vector<int64_t>(t.may_skip.begin(), t.may_skip.end())).to(kBool).logical_not();
  const Tensor emitted = log_probs.gather(2, matrix(t.labels).unsqueeze(0).expand({t.steps, t.batch, t.width}));
  std::vector<int64_t> start(t.batch * t.width, 1), last = start;
  for (int64_t i = 0; i < t.batch; ++i) {
    const int64_t end = 2 * t.targets[i];
    start[i * t.width] = last[i * t.width + end] = 0;
    if (end > 0) start[i * t.width + 1] = last[i * t.width + end - 1] = 0;
  }
  const Tensor length = tensor(t.inputs, integers).view({t.batch, 1});
  Tensor alpha = emitted.select(0, 0).masked_fill(matrix(start).to(kBool), kNever);
  for (int64_t i = 1; i < t.steps; ++i) {
    const Tensor skip = shifted(alpha, 2).masked_fill(skipped, kNever);
    const Tensor next = (log_add(alpha, shifted(alpha, 1), skip) + emitted.select(0, i)).clamp_min(kNever);
    alpha = where(length.gt(i), next, alpha);
  }
  return neg(alpha.masked_fill(matrix(last).to(kBool), kNever).logsumexp(IntArrayRef({1})));
}

// --- losses of all sequences

/// True (steps, batch, 1) beyond the end of a sequence, and everywhere in those without a loss if `zero_infinity`.
Tensor without_gradient(const CtcTargets& t, const Tensor& loss, bool zero_infinity) {
  const TensorOptions integers = loss.options().dtype(kLong);
  Tensor out = arange(t.steps, integers).unsqueeze(1).ge(tensor(t.inputs, integers).unsqueeze(0));
  if (zero_infinity) out = out.logical_or(loss.detach().isinf().unsqueeze(0));
  return out.unsqueeze(2);
}

Tensor gradient(const Tensor& grad, const Tensor& x, const Tensor& alpha, const Tensor& loss, const CtcTargets& t,
                bool zero_infinity) {
  const Tensor g = grad.contiguous(), dense = x.contiguous();
  const Tensor out = empty(x.sizes(), x.options());
  ctc_backward_kernel(x.device())(x.scalar_type(), t, dense.impl().visible_data(), alpha.impl().visible_data(),
                                  loss.impl().visible_data(), g.impl().visible_data(), out.impl().visible_data());
  return zero_infinity ? out.masked_fill(without_gradient(t, loss, true), 0) : out;
}

variable_list gradients(Backward& b, const Tensor& x, const Tensor& alpha, const Tensor& loss, const Targets& t,
                        bool zero_infinity) {
  if (x.numel() == 0) return {zeros_like(x)};
  if (!GradMode::is_enabled()) return {gradient(b.grad(), x, alpha, loss, *t, zero_infinity)};
  const Tensor g = b.grad().contiguous();
  // What the kernel's gradient has besides: the normalisation's.
  const Tensor out =
      composed_gradients(b, {x}, {g},
                         [&](const variable_list& v) -> variable_list { return {composed(v[0], *t)}; })[0] +
      x.exp() * g.unsqueeze(1);
  return {out.masked_fill(without_gradient(*t, loss, zero_infinity), 0)};
}

// Losses of all sequences, and what the kernel keeps for the gradient. Impossible sequences have an infinite loss.
std::pair<Tensor, Tensor> losses(const Tensor& log_probs, const Targets& t, bool zero_infinity) {
  const Tensor x = log_probs.detach().contiguous();
  const Tensor alpha = empty({t->batch, t->steps, t->width + 2}, x.options());
  Tensor out = empty({t->batch}, x.options());
  ctc_kernel(x.device())(x.scalar_type(), *t, x.impl().visible_data(), alpha.impl().visible_data(),
                         out.impl().visible_data());
  if (needs_grad(log_probs))
    record("CtcLossBackward0", out, {&log_probs},
           {SavedTensor::input(log_probs), SavedTensor::input(alpha), SavedTensor::output(out)},
           [t, zero_infinity](Backward& b, auto& s) { return gradients(b, s[0], s[1], s[2], t, zero_infinity); });
  return {out, alpha};
}

}  // namespace

namespace ops {

std::pair<Tensor, Tensor> ctc_losses(const Tensor& log_probs, const CtcLengths& c, bool zero_infinity) {
  const Targets t = targets_of(log_probs, c.targets, c.input_lengths, c.target_lengths, c.blank);
  auto [loss, alpha] = losses(log_probs, t, zero_infinity);
  return {std::move(loss), alpha.narrow(2, 2, t->width)};
}

Tensor ctc_gradient(const Tensor& grad, const Tensor& log_probs, const CtcLengths& c, const Tensor& loss,
                    const Tensor& log_alpha, bool zero_infinity) {
  const Targets t = targets_of(log_probs, c.targets, c.input_lengths, c.target_lengths, c.blank);
  HB_CHECK(log_alpha.sizes() == IntArrayRef({t->batch, t->steps, t->width}), "[_ctc_loss_backward] expected log_alpha ",
           IntArrayRef({t->batch, t->steps, t->width}), ", got ", log_alpha.sizes());
  HB_CHECK(loss.numel() == t->batch && grad.numel() == t->batch, "[_ctc_loss_backward] expected a loss and a grad of ",
           t->batch, " sequences, got ", loss.sizes(), " and ", grad.sizes());
  if (log_probs.numel() == 0) return zeros_like(log_probs);
  const Tensor impossible = constant_pad_nd(log_alpha, {2, 0}, -std::numeric_limits<double>::infinity());
  return gradient(grad.to(log_probs.device()).expand({t->batch}), log_probs, impossible, loss.contiguous(), *t,
                  zero_infinity);
}

}  // namespace ops

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  HB_DEFINED(ctc_loss, log_probs, targets, input_lengths, target_lengths);
  HB_AUTOCAST_ANYWHERE(ctc_loss, fp32, as_is, log_probs, targets, input_lengths, target_lengths, blank, reduction,
                       zero_infinity);
  HB_CHECK(isIntegralType(input_lengths.scalar_type(), false), "[ctc_loss] input_lengths must be integral, got ",
           input_lengths.scalar_type());
  HB_CHECK(isIntegralType(target_lengths.scalar_type(), false), "[ctc_loss] target_lengths must be integral, got ",
           target_lengths.scalar_type());
  HB_CHECK(log_probs.dim() == 3 || log_probs.dim() == 2,
           "[ctc_loss] expected log-probabilities (T, N, C) or (T, C), got ", log_probs.sizes());
  HB_CHECK(is_floating_type(log_probs.scalar_type()), "[ctc_loss] expected floating log-probabilities, got ",
           log_probs.scalar_type());
  if (is_half_type(log_probs.scalar_type()))
    return ctc_loss(log_probs.to(kFloat), targets, input_lengths, target_lengths, blank, reduction, zero_infinity)
        .to(log_probs.scalar_type());
  if (log_probs.dim() == 2) {
    const Tensor out = ctc_loss(log_probs.unsqueeze(1), targets.reshape({1, -1}), input_lengths.reshape({-1}),
                                target_lengths.reshape({-1}), blank, reduction, zero_infinity);
    return reduction == loss_reduction::None ? out.squeeze(0) : out;
  }
  const Targets t = targets_of(log_probs, targets, input_lengths, target_lengths, blank);
  Tensor loss = losses(log_probs, t, zero_infinity).first;
  if (zero_infinity) loss = loss.masked_fill(loss.detach().isinf(), 0);
  if (reduction == loss_reduction::Mean)
    return (loss / tensor(t->targets, loss.options().dtype(kLong)).clamp_min(1).to(loss.scalar_type())).mean();
  return reduction == loss_reduction::Sum ? loss.sum() : loss;
}

}  // namespace hb
