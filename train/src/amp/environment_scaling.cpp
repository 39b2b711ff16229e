#include "environment_scaling.h"

#include <algorithm>

#include <halfbridge/autocast.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/amp.h>

#include "autograd/accumulate_grad.h"
#include "core/thread_object.h"
#include "distributed/shared_parameters.h"
#include "optim/step_observer.h"

namespace hb::amp {

namespace {

// The programs know nothing of skipped steps: gradients up to 64 fit into fp16 from the first step on, and the scale
// grows.
constexpr double kFirstScale = 1024, kGrowth = 2, kBackoff = 0.5;
// All networks share the scale: one that has become NaN must not take it from the others.
constexpr double kLeastScale = 1;
constexpr int64_t kGrowthInterval = 2000;

// The scale of the pass that a thread is in.
struct Pass {
  int depth = 0;
  Tensor inverse;
};
Pass& pass() { return hb::detail::thread_object<Pass>(); }

// A gradient to unscale in place: in float32, which keeps what half would lose; memory that others hold stays as it
// is.
Tensor own_and_wide(Tensor grad) {
  const auto& storage = grad.impl().physical_storage();
  const bool half = is_half_type(grad.scalar_type());
  if (!half && grad.use_count() == 1 && storage.use_count() == 1 && !storage->is_borrowed() &&
      grad.is_non_overlapping_and_dense())
    return grad;
  return grad.to(half ? kFloat : grad.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace

void enter_thread(const Environment& environment) {
  thread_local bool entered = false;
  if (entered) return;
  entered = true;
  for (const DeviceType device : {kCPU, kCUDA}) {
    hb::autocast::set_autocast_dtype(device, environment.dtype);
    hb::autocast::set_autocast_enabled(device, true);
  }
  // No guard ends here that would clear the cache.
  hb::autocast::set_autocast_cache_enabled(false);
  // CUDA's list keeps more in float32: float16 needs it to train, and bfloat16 stays closer to float32 with it.
  hb::autocast::set_op_list(kCPU, kCUDA);
}

void Scaling::begin(variable_list& grads, const variable_list& inputs) {
  enter_thread(environment_);
  Pass& own = pass();
  if (own.depth == 0 && scales()) {
    NoGradGuard no_grad;
    const Tensor now = scale_roots(grads, inputs);
    const Tensor inverse = now.defined() ? now.reciprocal() : Tensor();
    bridge::optim::tell_loss_scaled(now);
    const std::lock_guard lock(mutex_);
    if (now.defined() && passes_++ == 0) ++round_;
    own.inverse = inverse;
  }
  ++own.depth;
}

Tensor Scaling::scale_roots(variable_list& grads, const variable_list& inputs) {
  const std::lock_guard lock(mutex_);
  // Gradients of anything else may be used where no step obeys an overflow.
  const auto is_trained = [&](const Tensor& t) { return flags_.find(t) != nullptr; };
  if (!inputs.empty() && std::none_of(inputs.begin(), inputs.end(), is_trained)) return {};
  const auto first = std::find_if(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); });
  if (first == grads.end()) return {};
  Tensor now = scale(first->device()).clone();
  // A root in half holds no more.
  for (const Tensor& g : grads)
    if (g.defined() && g.scalar_type() == kHalf) now.clamp_max_(32768);
  for (Tensor& g : grads)
    if (g.defined() && g.is_floating_point()) g = g * now.to(g.device(), g.scalar_type());
  return now;
}

void Scaling::end() noexcept {
  Pass& own = pass();
  if (--own.depth > 0 || !own.inverse.defined()) return;
  own.inverse = Tensor();
  const std::lock_guard lock(mutex_);
  --passes_;
}

Tensor Scaling::arrived(const Tensor& leaf, Tensor grad) {
  const Tensor& inverse = pass().inverse;
  if (!inverse.defined() || !grad.is_floating_point()) return grad;
  NoGradGuard no_grad;
  const bool had_gradient = has_gradient(leaf);
  const std::lock_guard lock(mutex_);
  OverflowFlag* const known = flags_.find(leaf);
  Tensor overflow = known ? known->overflow : zeros({}, TensorOptions(kFloat).device(grad.device()));
  if (known) {
    known->scaled = true;
    // The first gradient since they were zeroed. Within a round a pass of another thread may have found an overflow and
    // not have added its gradient yet.
    if (std::exchange(known->round, round_) != round_ && !had_gradient) overflow.zero_();
  }
  grad = own_and_wide(std::move(grad));
  _amp_foreach_non_finite_check_and_unscale_({grad}, overflow, inverse.to(grad.device()));
  return grad;
}

Tensor Scaling::returned(const Tensor& input, Tensor grad) {
  // A pass within another has gradients that the other scaled, and gives them back to it.
  const Tensor& inverse = pass().inverse;
  if (pass().depth != 1 || !inverse.defined() || !grad.is_floating_point()) return grad;
  if (input.is_leaf()) return arrived(input, std::move(grad));
  NoGradGuard no_grad;
  return (grad.to(kFloat) * inverse.to(grad.device())).to(grad.scalar_type());
}

void Scaling::watch(const std::vector<Tensor>& parameters) {
  const std::lock_guard lock(mutex_);
  for (const Tensor& p : parameters) flags_.watch(p);
}

namespace {
TensorOptions device_of(const bridge::optim::Optimizer& optimizer) {
  for (const auto& group : optimizer.param_groups())
    if (!group.params().empty()) return TensorOptions(kFloat).device(group.params()[0].device());
  return TensorOptions(kFloat);
}
}  // namespace

Tensor Scaling::take_overflow(bridge::optim::Optimizer& optimizer, const std::vector<Tensor>* grads) {
  NoGradGuard no_grad;
  const Tensor own = own_overflow(optimizer, grads);
  const auto ranks = scales() ? distributed::group_of(optimizer) : intrusive_ptr<distributed::ProcessGroup>();
  if (!ranks) return own;
  // A rank that scaled nothing in this step takes part, lest the others wait for it.
  const Tensor both = own.defined() ? stack({ones_like(own), own.to(kFloat)}) : zeros({2}, device_of(optimizer));
  distributed::share_overflow(optimizer, both);
  return both[0].item<float>() != 0 ? both[1] : Tensor();
}

Tensor Scaling::own_overflow(bridge::optim::Optimizer& optimizer, const std::vector<Tensor>* grads) {
  const std::lock_guard lock(mutex_);
  std::vector<Tensor> overflows;
  for (const auto& group : optimizer.param_groups()) {
    for (const Tensor& p : group.params()) {
      // From now on this watches parameters that the program put into a group itself.
      OverflowFlag& flag = flags_.watch(p);
      if (std::exchange(flag.scaled, false)) overflows.push_back(flag.overflow);
    }
  }
  if (overflows.empty()) return {};
  Tensor any = stack(overflows).amax();
  for (Tensor& t : overflows) t.zero_();
  if (grads) any = any + all_finite(*grads).logical_not().to(any.options());
  return any;
}

void Scaling::adapt(const Tensor& overflow) {
  NoGradGuard no_grad;
  const std::lock_guard lock(mutex_);
  if (environment_.fixed_scale == 0) {
    Tensor& now = scale(overflow.device());
    _amp_update_scale_(now, growth_tracker_, overflow.to(now.device()), kGrowth, kBackoff, kGrowthInterval);
    now.clamp_min_(kLeastScale);
  }
  bridge::optim::tell_scale_updated(scale(overflow.device()));
}

Tensor& Scaling::scale(const Device& device) {
  if (!scale_.defined()) {
    const TensorOptions options = TensorOptions().device(device);
    scale_ = full({}, environment_.fixed_scale > 0 ? environment_.fixed_scale : kFirstScale, options.dtype(kFloat));
    growth_tracker_ = zeros({}, options.dtype(kInt));
  }
  return scale_;
}

}  // namespace hb::amp
