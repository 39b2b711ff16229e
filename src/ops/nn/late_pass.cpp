#include "ops/nn/late_pass.h"

#include <utility>

#include "core/geometry.h"
#include "core/physical.h"
#include "ops/common/layout.h"
#include "ops/linalg/late_product.h"

namespace hb::ops {
namespace {

bool lie_alike(const Tensor& a, const Tensor& b) {
  return a.impl().is_deferred() && b.impl().is_deferred() && a.scalar_type() == b.scalar_type() &&
         a.device() == b.device() && a.impl().sizes() == b.impl().sizes() &&
         a.impl().physical_strides() == b.impl().physical_strides();
}

NormShape rows_of(const Tensor& t) { return {t.numel() / t.size(1), t.size(1), 1}; }

/// The sum of what a pass gives and a tensor, left for later.
Tensor add_later(const LatePass& late, const Tensor& other) {
  const Tensor added = physical(other);
  Tensor out = empty_same_layout(added);
  ChannelPass pass = late.pass;
  pass.added = added.impl().raw_data();
  std::vector<Tensor> kept = late.kept;
  kept.push_back(added);
  do_later(out, pass, std::move(kept));
  return out;
}

}  // namespace

LatePass::LatePass(const Tensor& result, const ChannelPass& what, std::vector<Tensor> held)
    : Work(result), pass(what), y(result.impl().raw_data()), kept(std::move(held)) {}
void LatePass::run() { channel_pass_kernel(device())(pass, y); }

bool may_be_late(const Tensor& t) {
  return t.impl().is_deferred() && t.layout() == kStrided && channel_pass_kernel.available(t.device()) &&
         t.numel() > 0 && may_wait() && is_physically_channels_last(t) &&
         !geometry::is_contiguous(t.impl().sizes(), t.impl().physical_strides());
}
void do_later(const Tensor& result, const ChannelPass& pass, std::vector<Tensor> kept) {
  pending::add(std::make_shared<LatePass>(result, pass, std::move(kept)));
}
std::shared_ptr<LatePass> late_pass_of(const Tensor& t) {
  return pending::any() ? std::dynamic_pointer_cast<LatePass>(pending::find(t)) : nullptr;
}

Tensor after_late_pass(const FormulaKernel& formula, ScalarType result, ArrayRef<const Tensor*> inputs) {
  const auto late_of = [&](const Tensor& t) {
    return t.scalar_type() == result ? late_pass_of(t) : std::shared_ptr<LatePass>();
  };
  if (&formula == &relu_formula && inputs.size() == 1) {
    const auto late = late_of(*inputs[0]);
    if (!late || late->pass.mask) return {};
    Tensor out = empty_same_layout(late->kept[0]);
    ChannelPass pass = late->pass;
    pass.relu = true;
    channel_pass_kernel(out.device())(pass, out.impl().raw_data());
    return out;
  }
  if (&formula != &add_formula || inputs.size() != 2 || !lie_alike(*inputs[0], *inputs[1])) return {};
  for (const int i : {0, 1}) {
    const auto late = late_of(*inputs[i]);
    if (late && late->pass.scale && !late->pass.added) return add_later(*late, *inputs[1 - i]);
  }
  return {};
}

Tensor late_sum(const Tensor& a, const Tensor& b) {
  if (!lie_alike(a, b) || !may_be_late(a)) return {};
  const Tensor x = physical(a), added = physical(b);
  Tensor out = empty_same_layout(x);
  ChannelPass pass;
  pass.dtype = x.scalar_type(), pass.shape = rows_of(x);
  pass.x = x.impl().raw_data(), pass.added = added.impl().raw_data();
  do_later(out, pass, {x, added});
  return out;
}

Tensor late_relu_gradient(const Tensor& g, const Tensor& y) {
  if (!lie_alike(g, y) || !may_be_late(y)) return {};
  ChannelPass pass;
  std::vector<Tensor> kept;
  if (const auto sum = late_pass_of(g); sum && !sum->pass.scale && !sum->pass.mask) {
    pass = sum->pass, kept = sum->kept;
  } else {
    kept = {physical(g)};
    pass.dtype = g.scalar_type(), pass.shape = rows_of(g), pass.x = kept[0].impl().raw_data();
  }
  kept.push_back(physical(y));
  pass.mask = kept.back().impl().raw_data();
  Tensor out = empty_same_layout(kept[0]);
  do_later(out, pass, std::move(kept));
  return out;
}

}  // namespace hb::ops
