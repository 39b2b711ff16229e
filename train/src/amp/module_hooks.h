#pragma once
// What levels and to_float() hang on modules.

#include <functional>
#include <memory>
#include <vector>

#include <halfbridge/bridge/nn/module.h>

#include "autocast/level.h"

namespace hb::amp {

/// Floating tensors in `dtype`; float64 ones and all others as they are.
variable_list cast(const variable_list& tensors, ScalarType dtype);
/// Where a module's parameters are: the CPU for one that has none.
Device device_of(const bridge::nn::Module& module);

/// The hooks of one module, and whose they are.
struct ModuleHooks {
  std::vector<unsigned> level, compute_dtype;
  std::weak_ptr<hb::autocast::WeightCopies> copies;  // of the level that was applied to this very module
};
/// Calls `f(hooks)` for a module under a lock. They are forgotten when the module goes; those of a module that no
/// shared_ptr holds are forgotten at once.
void with_hooks(const bridge::nn::Module& module, const std::function<void(ModuleHooks&)>& f);

/// Takes off what an earlier level hung on a network.
void remove_level(bridge::nn::Module& net);

}  // namespace hb::amp
