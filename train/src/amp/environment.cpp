// HALFBRIDGE_AMP=O1|O2|O3[:fp16|:bf16]: mixed precision, loss scaling included, for a program that knows nothing of it.
//
// - Autocast is on in every thread that trains.
// - In O2 and O3, weights that an optimizer steps become half: in O2 those of two dimensions and more, with float32
//   master weights in the optimizer (norms and biases stay in float32), in O3 all.
// - backward() multiplies the gradient that it begins with by the scale (fp16), and divides the gradient of a leaf by
//   it when it arrives: the program never sees a scaled one, and may clip or print what it likes. Passes that return
//   gradients (value_and_grad, autograd::grad) do likewise for the parameters of optimizers.
// - step() and step(grads) change nothing where a gradient of their parameters overflowed, and adapt the scale.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <unordered_map>

#include <halfbridge/autocast.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/amp.h>

#include "autograd/loss_scaling.h"
#include "environment.h"
#include "optim/step_observer.h"
#include "optim/step_unless.h"
#include "optim/step_watcher.h"

namespace hb::amp {

using bridge::optim::Optimizer;

Environment parse_environment(const std::string& value) {
  Environment e;
  const size_t colon = value.find(':');
  const std::string level = value.substr(0, colon),
                    dtype = colon == std::string::npos ? "fp16" : value.substr(colon + 1);
  if (level == "O1")
    e.level = 1;
  else if (level == "O2")
    e.level = 2;
  else if (level == "O3")
    e.level = 3;
  else if (level != "O0")
    e.level = -1;
  if (dtype == "bf16")
    e.dtype = kBFloat16;
  else if (dtype != "fp16")
    e.level = -1;
  if (e.level < 0)
    throw ValueError("[HALFBRIDGE_AMP] expected O0, O1, O2 or O3, alone or followed by :fp16 or :bf16, got '" + value +
                     "'");
  return e;
}

namespace {

// The programs know nothing of skipped steps: gradients up to 64 fit into fp16 from the first step on, and the scale
// grows.
constexpr double kFirstScale = 1024, kGrowth = 2, kBackoff = 0.5;
constexpr int64_t kGrowthInterval = 2000;

void enter_thread(const Environment& e) {
  thread_local bool entered = false;
  if (entered) return;
  entered = true;
  hb::autocast::set_autocast_dtype(kCPU, e.dtype);
  hb::autocast::set_autocast_enabled(kCPU, true);
  // No guard ends here that would clear the cache.
  hb::autocast::set_autocast_cache_enabled(false);
  // CUDA's list keeps more in float32: float16 needs it to train, and bfloat16 stays closer to float32 with it.
  hb::autocast::set_op_list(kCPU, kCUDA);
}

// The scale of the pass that a thread is in.
struct Pass {
  int depth = 0;
  Tensor inverse;
};
Pass& pass() {
  thread_local Pass p;
  return p;
}

class Scaling final : public BackwardScaling {
 public:
  explicit Scaling(const Environment& e) : environment_(e) {}

  void begin(variable_list& grads, const variable_list& inputs) override {
    enter_thread(environment_);
    if (pass().depth++ > 0 || environment_.dtype != kHalf) return;
    NoGradGuard no_grad;
    const std::lock_guard lock(mutex_);
    // Gradients of anything else may be used where no step obeys an overflow.
    const auto is_trained = [&](const Tensor& t) { return flags_.count(t.unsafeGetTensorImpl()) != 0; };
    if (!inputs.empty() && std::none_of(inputs.begin(), inputs.end(), is_trained)) return;
    Tensor now = scale().clone();
    // A root in half holds no more.
    for (const Tensor& g : grads)
      if (g.defined() && g.scalar_type() == kHalf) now.clamp_max_(32768);
    for (Tensor& g : grads)
      if (g.defined() && g.is_floating_point()) g = g * now.to(g.scalar_type());
    pass().inverse = now.reciprocal();
  }
  void end() override {
    if (--pass().depth == 0) pass().inverse = Tensor();
  }

  Tensor arrived(const Tensor& leaf, Tensor grad) override {
    const Tensor& inverse = pass().inverse;
    if (!inverse.defined() || !grad.is_floating_point()) return grad;
    NoGradGuard no_grad;
    const std::lock_guard lock(mutex_);
    auto found = flags_.find(leaf.unsafeGetTensorImpl());
    Tensor flag = found == flags_.end() ? zeros({}, kFloat) : found->second.overflow;
    if (found != flags_.end()) {
      found->second.scaled = true;
      if (!leaf.grad().defined()) flag.zero_();  // the first gradient since they were zeroed
    }
    // float32 keeps what unscaling a half gradient would lose; memory that others hold stays as it is.
    const auto& storage = grad.impl().physical_storage();
    const bool ours = grad.use_count() == 1 && storage.use_count() == 1 && !storage->is_borrowed() &&
                      !is_half_type(grad.scalar_type()) && grad.is_non_overlapping_and_dense();
    if (!ours)
      grad = grad.to(is_half_type(grad.scalar_type()) ? kFloat : grad.scalar_type(), /*non_blocking=*/false,
                     /*copy=*/true);
    _amp_foreach_non_finite_check_and_unscale_({grad}, flag, inverse);
    return grad;
  }

  Tensor returned(const Tensor& input, Tensor grad) override {
    // A pass within another has gradients that the other scaled, and gives them back to it.
    const Tensor& inverse = pass().inverse;
    if (pass().depth != 1 || !inverse.defined() || !grad.is_floating_point()) return grad;
    if (input.is_leaf()) return arrived(input, std::move(grad));
    NoGradGuard no_grad;
    return (grad.to(kFloat) * inverse).to(grad.scalar_type());
  }

  void watch(const std::vector<Tensor>& parameters) {
    const std::lock_guard lock(mutex_);
    for (const Tensor& p : parameters)
      flags_[p.unsafeGetTensorImpl()] = {zeros({}, TensorOptions().dtype(kFloat).device(p.device())), false};
  }

  /// Whether a gradient of these parameters overflowed (float32, not 0), undefined where none was scaled; forgets it.
  /// Explicit gradients are looked at too: they may be sums of several passes, of which flags know the last.
  Tensor take_overflow(Optimizer& optimizer, const std::vector<Tensor>* grads) {
    NoGradGuard no_grad;
    const std::lock_guard lock(mutex_);
    std::vector<Tensor> overflows;
    for (const auto& group : optimizer.param_groups()) {
      for (const Tensor& p : group.params()) {
        auto found = flags_.find(p.unsafeGetTensorImpl());
        if (found == flags_.end() || !found->second.scaled) continue;
        found->second.scaled = false;
        overflows.push_back(found->second.overflow);
      }
    }
    if (overflows.empty()) return {};
    Tensor any = stack(overflows).amax();
    for (Tensor& t : overflows) t.zero_();
    if (grads) any = any + all_finite(*grads).logical_not().to(any.options());
    return any;
  }
  void adapt(const Tensor& overflow) {
    NoGradGuard no_grad;
    const std::lock_guard lock(mutex_);
    _amp_update_scale_(scale(), growth_tracker_, overflow, kGrowth, kBackoff, kGrowthInterval);
    if (auto* observer = bridge::optim::step_observer(); HB_UNLIKELY(observer != nullptr))
      observer->scale_updated(scale());
  }

 private:
  Tensor& scale() {
    if (!scale_.defined()) scale_ = full({}, kFirstScale, kFloat), growth_tracker_ = zeros({}, kInt);
    return scale_;
  }

  struct Flag {
    Tensor overflow;
    bool scaled = false;
  };
  const Environment environment_;
  std::mutex mutex_;
  std::unordered_map<TensorImpl*, Flag> flags_;  // of parameters that optimizers have
  Tensor scale_, growth_tracker_;
};

class Steps final : public bridge::optim::StepWatcher {
 public:
  Steps(const Environment& e, Scaling& scaling) : environment_(e), scaling_(scaling) {}

  void parameters_added(const std::vector<Tensor>& parameters) override {
    enter_thread(environment_);
    scaling_.watch(parameters);
  }

  Tensor step(Optimizer& optimizer, const std::vector<Tensor>* grads, const std::function<Tensor()>& do_step) override {
    enter_thread(environment_);
    round_weights(optimizer);
    const Tensor overflow = scaling_.take_overflow(optimizer, grads);
    if (!overflow.defined()) return do_step();
    scaling_.adapt(overflow);
    // The program may have a scaler of its own, which has told the optimizer already.
    const Tensor& told = optimizer.found_inf();
    return bridge::optim::step_unless(optimizer, optimizer.grad_scale(), told.defined() ? told + overflow : overflow,
                                      do_step);
  }

 private:
  // At the first step, when the program has loaded what it wanted.
  void round_weights(Optimizer& optimizer) {
    if (environment_.level < 2) return;
    for (const auto& group : optimizer.param_groups())
      for (const Tensor& p : group.params()) round(optimizer, p);
  }
  void round(Optimizer& optimizer, const Tensor& p) {
    const bool masters = environment_.level == 2;
    if (masters && !optimizer.supports_amp_scaling()) return;
    const bool float_weight = p.scalar_type() == kFloat && (environment_.level == 3 || p.dim() >= 2);
    if (!float_weight && !is_half_type(p.scalar_type())) return;
    NoGradGuard no_grad;
    const Tensor before = p.data();
    if (float_weight) p.set_data(p.to(environment_.dtype));
    if (!masters) return;
    optimizer.use_master_weights();
    if (!optimizer.master_weight(p).defined()) optimizer.set_master_weight(p, before);  // or it came from a file
  }

  const Environment environment_;
  Scaling& scaling_;
};

// A wrong value is an error of the first optimizer or backward pass: nothing can be thrown while the library loads.
class WrongValue final : public BackwardScaling, public bridge::optim::StepWatcher {
 public:
  explicit WrongValue(std::string message) : message_(std::move(message)) {}
  void begin(variable_list&, const variable_list&) override { throw ValueError(message_); }
  void end() override {}
  Tensor arrived(const Tensor&, Tensor grad) override { return grad; }
  Tensor returned(const Tensor&, Tensor grad) override { return grad; }
  void parameters_added(const std::vector<Tensor>&) override { throw ValueError(message_); }
  Tensor step(Optimizer&, const std::vector<Tensor>*, const std::function<Tensor()>&) override {
    throw ValueError(message_);
  }

 private:
  std::string message_;
};

const bool read = [] {
  const char* value = std::getenv("HALFBRIDGE_AMP");
  if (!value || !*value) return false;
  // These live until the process ends: tensors may be trained while it does.
  try {
    const Environment e = parse_environment(value);
    if (e.level == 0) return false;
    auto* scaling = new Scaling(e);
    backward_scaling_slot = scaling;
    bridge::optim::step_watcher_slot = new Steps(e, *scaling);
    enter_thread(e);
  } catch (const ValueError& error) {
    std::cerr << error.what() << std::endl;
    auto* wrong = new WrongValue(error.what());
    backward_scaling_slot = wrong;
    bridge::optim::step_watcher_slot = wrong;
  }
  return true;
}();

}  // namespace
}  // namespace hb::amp
