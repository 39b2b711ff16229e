#include "gradients.h"

#include <unordered_map>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

namespace hb::amp {

using bridge::optim::Optimizer;

std::vector<Tensor> full_precision_grads(Optimizer& optimizer) {
  NoGradGuard no_grad;
  std::vector<Tensor> grads;
  for (auto& group : optimizer.param_groups()) {
    for (Tensor& p : group.params()) {
      Tensor& grad = p.mutable_grad();
      if (!grad.defined()) continue;
      if (grad.scalar_type() == kHalf || grad.scalar_type() == kBFloat16) grad = grad.to(kFloat);
      grads.push_back(grad);
    }
  }
  return grads;
}

void keep_master_weights(Optimizer& optimizer, const FullPrecision& before) {
  if (before.empty() || !optimizer.supports_amp_scaling()) return;
  optimizer.use_master_weights();
  std::unordered_map<TensorImpl*, Tensor> old;
  for (const auto& [parameter, values] : before) old.emplace(parameter.unsafeGetTensorImpl(), values);
  for (auto& group : optimizer.param_groups())
    for (Tensor& p : group.params())
      if (auto found = old.find(p.unsafeGetTensorImpl()); found != old.end())
        optimizer.set_master_weight(p, found->second);
}

void step_unless(Optimizer& optimizer, const Tensor& found_inf) {
  if (optimizer.supports_amp_scaling()) {
    struct Flag {
      Optimizer& optimizer;
      ~Flag() { optimizer.set_amp_scaling({}, {}); }
    } flag{optimizer};
    optimizer.set_amp_scaling({}, found_inf);
    optimizer.step();
  } else if (found_inf.item<float>() == 0) {
    optimizer.step();
  }
}

}  // namespace hb::amp
