// One module in a dtype of its own.
#include <halfbridge/amp/levels.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "half_scope.h"
#include "half_storage.h"
#include "module_hooks.h"

namespace hb::amp {

namespace nn = bridge::nn;

namespace {

// The dtype of the call's first floating input, from the pre-hook to the scope, and from the scope's end to the hook.
thread_local ScalarType caller_dtype = kFloat;

struct ComputeScope {
  ComputeScope(const nn::Module& module, ScalarType dtype)
      : caller(caller_dtype), scope(device_of(module), is_half_type(dtype) ? std::optional(dtype) : std::nullopt) {}
  ~ComputeScope() { caller_dtype = caller; }
  ScalarType caller;
  HalfScope scope;
};

variable_list enter(const variable_list& inputs, ScalarType dtype) {
  caller_dtype = kFloat;
  for (const Tensor& t : inputs)
    if (t.defined() && t.is_floating_point()) {
      caller_dtype = t.scalar_type();
      break;
    }
  return cast(inputs, dtype);
}

}  // namespace

void set_compute_dtype(nn::Module& module, ScalarType dtype) {
  HB_CHECK(is_half_type(dtype) || dtype == kFloat, "[to_float] expected Float, Half or BFloat16, got ", dtype);
  HB_CHECK(!module.weak_from_this().expired(), "[to_float] expected ", module.name(), " to be held by a shared_ptr");
  remove_level(module);
  if (dtype == kFloat) module.apply([](nn::Module& m) { store_in(m, kFloat, nullptr); });
  with_hooks(module, [&](ModuleHooks& hooks) {
    for (const unsigned handle : hooks.compute_dtype) module.remove_hook(handle);
    hooks.compute_dtype = {
        module.register_forward_pre_hook(
            [dtype](nn::Module&, const variable_list& inputs) { return enter(inputs, dtype); }),
        module.register_forward_scope(
            [dtype](nn::Module& m) -> std::shared_ptr<void> { return std::make_shared<ComputeScope>(m, dtype); }),
        module.register_forward_hook([](nn::Module&, const variable_list&, const variable_list& outputs) {
          return cast(outputs, caller_dtype);
        })};
  });
}

}  // namespace hb::amp
