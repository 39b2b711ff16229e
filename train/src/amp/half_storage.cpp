#include "half_storage.h"

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "module_hooks.h"

namespace hb::amp {

namespace nn = bridge::nn;

namespace {

void cast_inputs(nn::Module& module, ScalarType dtype) {
  module.register_forward_pre_hook([dtype](nn::Module&, const variable_list& inputs) { return cast(inputs, dtype); });
}

void store(nn::Module& module, const CastList& black, ScalarType dtype, FullPrecision& before) {
  if (black.contains(module)) {
    cast_inputs(module, kFloat);
    module.register_forward_hook([dtype](nn::Module&, const variable_list&, const variable_list& outputs) {
      variable_list result = cast(outputs, dtype);
      for (size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i].defined() && outputs[i].dim() == 0) result[i] = outputs[i];  // a loss stays in float32
      return result;
    });
    return;
  }
  store_in(module, dtype, &before);
  if (!module.parameters(/*recurse=*/false).empty()) cast_inputs(module, dtype);
  for (const auto& child : module.children()) store(*child, black, dtype, before);
}

}  // namespace

void store_in(nn::Module& module, ScalarType dtype, FullPrecision* before) {
  NoGradGuard no_grad;
  const auto fits = [&](const Tensor& t) {
    return t.defined() && t.is_floating_point() && t.scalar_type() != kDouble && t.scalar_type() != dtype;
  };
  for (const Tensor& p : module.parameters(/*recurse=*/false)) {
    if (!fits(p)) continue;
    const Tensor old = p.data();
    p.set_data(p.to(dtype));
    if (p.grad().defined()) p.mutable_grad() = p.grad().to(dtype);
    if (before && old.scalar_type() == kFloat) before->emplace_back(p, old);
  }
  for (const Tensor& b : module.buffers(/*recurse=*/false))
    if (fits(b)) b.set_data(b.to(dtype));
}

FullPrecision store_network_in_half(nn::Module& net, const CastList& black, ScalarType dtype) {
  FullPrecision before;
  store(net, black, dtype, before);
  cast_inputs(net, dtype);
  net.register_forward_hook(
      [](nn::Module&, const variable_list&, const variable_list& outputs) { return cast(outputs, kFloat); });
  return before;
}

}  // namespace hb::amp
