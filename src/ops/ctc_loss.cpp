// Connectionist temporal classification: the forward recursion over the labels with blanks between, for a whole batch
// at a time, written so that it can be differentiated.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"

namespace hb {
namespace {

constexpr double kNever = -1e30;  // stands for the logarithm of zero, without the NaN of its gradients

std::vector<int64_t> values_of(const Tensor& t) {
  const Tensor dense = t.to(kLong).contiguous();
  return {dense.data_ptr<int64_t>(), dense.data_ptr<int64_t>() + dense.numel()};
}

struct Labels {
  Tensor extended;  // (N, 2 S + 1): blank, label, blank, …
  Tensor may_skip;  // (N, 2 S + 1): whether the blank before may be left out
};

Labels extend(const Tensor& targets, const std::vector<int64_t>& lengths, int64_t longest, int64_t blank) {
  const auto all = values_of(targets);
  const int64_t n = static_cast<int64_t>(lengths.size()), width = 2 * longest + 1;
  std::vector<int64_t> out(n * width, blank), skip(n * width, 0);
  int64_t start = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (targets.dim() == 2) start = i * targets.size(1);
    for (int64_t s = 0; s < lengths[i]; ++s) {
      out[i * width + 2 * s + 1] = all[start + s];
      skip[i * width + 2 * s + 1] = s > 0 && all[start + s] != all[start + s - 1];
    }
    start += lengths[i];
  }
  return {tensor(out, kLong).view({n, width}), tensor(skip, kLong).view({n, width}).to(kBool)};
}

Tensor shifted(const Tensor& alpha, int64_t by) {
  return constant_pad_nd(alpha, {by, 0}, kNever).narrow(1, 0, alpha.size(1));
}

Tensor log_add(const Tensor& a, const Tensor& b, const Tensor& c) {
  return stack({a, b, c}, 0).logsumexp(IntArrayRef({0}));
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) {
  HB_AUTOCAST(ctc_loss, fp32, as_is, log_probs, targets, input_lengths, target_lengths, blank, reduction,
              zero_infinity);
  HB_CHECK(log_probs.dim() == 3 || log_probs.dim() == 2,
           "[ctc_loss] expected log-probabilities (T, N, C) or (T, C), got ", log_probs.sizes());
  if (log_probs.dim() == 2) {
    const Tensor out = ctc_loss(log_probs.unsqueeze(1), targets.reshape({1, -1}), input_lengths.reshape({-1}),
                                target_lengths.reshape({-1}), blank, reduction, zero_infinity);
    return reduction == Reduction::None ? out.squeeze(0) : out;
  }
  const int64_t steps = log_probs.size(0), n = log_probs.size(1);
  const auto in = values_of(input_lengths), lengths = values_of(target_lengths);
  HB_CHECK(static_cast<int64_t>(in.size()) == n && static_cast<int64_t>(lengths.size()) == n, "[ctc_loss] expected ", n,
           " input and target lengths, got ", in.size(), " and ", lengths.size());
  HB_CHECK(blank >= 0 && blank < log_probs.size(2), "[ctc_loss] expected blank in [0, ", log_probs.size(2), "), got ",
           blank);
  int64_t longest = 0, total = 0;
  for (int64_t i = 0; i < n; ++i) {
    HB_CHECK(in[i] >= 0 && in[i] <= steps && lengths[i] >= 0, "[ctc_loss] expected input lengths of at most ", steps,
             " and target lengths of at least 0, got ", in[i], " and ", lengths[i]);
    longest = std::max(longest, lengths[i]);
    total += lengths[i];
  }
  HB_CHECK(targets.dim() == 1 ? total <= targets.numel()
                              : targets.dim() == 2 && targets.size(0) == n && longest <= targets.size(1),
           "[ctc_loss] expected targets (", n, ", S) with S of at least ", longest, ", or ", total,
           " labels one after the other, got ", targets.sizes());
  const Labels labels = extend(targets, lengths, longest, blank);
  const int64_t width = 2 * longest + 1;
  const Tensor emitted =
      log_probs.gather(2, labels.extended.unsqueeze(0).expand({steps, n, width}));  // (T, N, 2 S + 1)
  std::vector<int64_t> start(n * width, 1), last(n * width, 1);
  for (int64_t i = 0; i < n; ++i) {
    start[i * width] = 0;
    if (lengths[i] > 0) start[i * width + 1] = 0;
    last[i * width + 2 * lengths[i]] = 0;
    if (lengths[i] > 0) last[i * width + 2 * lengths[i] - 1] = 0;
  }
  const auto mask = [&](const std::vector<int64_t>& v) { return tensor(v, kLong).view({n, width}).to(kBool); };
  const Tensor length = tensor(in, kLong).view({n, 1});
  Tensor alpha =
      steps ? emitted.select(0, 0).masked_fill(mask(start), kNever) : full({n, width}, kNever, log_probs.options());
  for (int64_t t = 1; t < steps; ++t) {
    const Tensor skip = shifted(alpha, 2).masked_fill(labels.may_skip.logical_not(), kNever);
    const Tensor next = (log_add(alpha, shifted(alpha, 1), skip) + emitted.select(0, t)).clamp_min(kNever);
    alpha = where(length.gt(t), next, alpha);
  }
  Tensor loss = neg(alpha.masked_fill(mask(last), kNever).logsumexp(IntArrayRef({1})));
  const Tensor impossible = loss.detach().gt(-kNever / 2);
  loss = loss.masked_fill(impossible, zero_infinity ? 0.0 : std::numeric_limits<double>::infinity());
  if (reduction == Reduction::Mean) return (loss / tensor(lengths, kLong).clamp_min(1).to(loss.scalar_type())).mean();
  return reduction == Reduction::Sum ? loss.sum() : loss;
}

}  // namespace hb
