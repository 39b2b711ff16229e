#pragma once
// A step that an overflow leaves out. An optimizer that can be told obeys the flag on the device, and nobody waits for
// it.

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::bridge::optim {

/// do_step() -> Tensor, unless `found_inf` (float32, one element) is not 0; gradients are divided by `grad_scale` where
/// it is defined and the optimizer supports it.
template <class F>
Tensor step_unless(Optimizer& optimizer, const Tensor& grad_scale, const Tensor& found_inf, const F& do_step) {
  if (!optimizer.supports_amp_scaling()) return found_inf.item<float>() == 0 ? do_step() : Tensor();
  struct Told {
    Optimizer& optimizer;
    ~Told() { optimizer.set_amp_scaling({}, {}); }
  } told{optimizer};
  optimizer.set_amp_scaling(grad_scale, found_inf);
  return do_step();
}

}  // namespace hb::bridge::optim
