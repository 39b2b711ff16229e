#pragma once
// On a GPU the last pass of a batch norm waits: an addition and a relu that follow are done in it, and so is the
// gradient of a relu in the first pass of a batch norm's gradient. Results are the same bit for bit.

#include <halfbridge/tensor.h>

#include "backend/channel_pass.h"
#include "backend/elementwise.h"
#include "core/pending.h"

namespace hb::ops {

class LatePass final : public pending::Work {
 public:
  /// `kept`: what holds the memory that the pass reads.
  LatePass(const Tensor& result, const ChannelPass& pass, std::vector<Tensor> kept);
  void run() override;

  const ChannelPass pass;
  void* const y;
  const std::vector<Tensor> kept;
};

/// Whether a pass over memory like that of `t` may wait: its layout is deferred (nobody has its address), and its
/// device has such passes.
bool may_be_late(const Tensor& t);
/// Leaves a pass for later, which writes `result`.
void do_later(const Tensor& result, const ChannelPass& pass, std::vector<Tensor> kept);
/// What waits to write `t`; null where nothing does.
std::shared_ptr<LatePass> late_pass_of(const Tensor& t);

/// The result of an element-wise function of what a pass would give; undefined where they do not fit together.
Tensor after_late_pass(const FormulaKernel& formula, ScalarType result, ArrayRef<const Tensor*> inputs);
/// a + b of gradients, left for later; undefined where that cannot be.
Tensor late_sum(const Tensor& a, const Tensor& b);
/// g where y is positive, else 0, left for later; undefined where that cannot be.
Tensor late_relu_gradient(const Tensor& g, const Tensor& y);

}  // namespace hb::ops
