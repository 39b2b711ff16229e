// HALFBRIDGE_AMP=O1|O2|O3[:fp16|:bf16][:scale=dynamic|:scale=NUMBER]: mixed precision, loss scaling included, for a
// program that knows nothing of it.
//
// - Autocast is on in every thread that trains.
// - In O2 and O3, weights that an optimizer steps become half: in O2 those of two dimensions and more, with float32
//   master weights in the optimizer (norms and biases stay in float32), in O3 all.
// - backward() multiplies the gradient that it begins with by the scale (fp16), and divides the gradient of a leaf by
//   it when it arrives: the program never sees a scaled one, and may clip or print what it likes. Passes that return
//   gradients (value_and_grad, autograd::grad) do likewise for the parameters of optimizers.
// - step() and step(grads) change nothing where a gradient of their parameters overflowed, and adapt the scale. A step
//   that computes its gradients itself is taken back when one of them overflows.
#include "environment.h"

#include <cstdlib>
#include <iostream>
#include <vector>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "environment_scaling.h"
#include "optim/step_unless.h"
#include "optim/step_watcher.h"

namespace hb::amp {

using bridge::optim::Optimizer;

namespace {

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

  bool evaluation_overflowed(Optimizer& optimizer) override {
    const Tensor overflow = scaling_.take_overflow(optimizer, nullptr);
    if (!overflow.defined()) return false;
    scaling_.adapt(overflow);
    return overflow.item<float>() != 0;
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
  void end() noexcept override {}
  Tensor arrived(const Tensor&, Tensor grad) override { return grad; }
  Tensor returned(const Tensor&, Tensor grad) override { return grad; }
  void parameters_added(const std::vector<Tensor>&) override { throw ValueError(message_); }
  Tensor step(Optimizer&, const std::vector<Tensor>*, const std::function<Tensor()>&) override {
    throw ValueError(message_);
  }
  bool evaluation_overflowed(Optimizer&) override { throw ValueError(message_); }

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
    Watchers<BackwardScaling>::attach(*scaling);
    bridge::optim::StepWatchers::attach(*new Steps(e, *scaling));
    enter_thread(e);
  } catch (const ValueError& error) {
    std::cerr << error.what() << std::endl;
    auto* wrong = new WrongValue(error.what());
    Watchers<BackwardScaling>::attach(*wrong);
    bridge::optim::StepWatchers::attach(*wrong);
  }
  return true;
}();

}  // namespace
}  // namespace hb::amp
