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
      if (is_half_type(grad.scalar_type())) grad = grad.to(kFloat);
      grads.push_back(grad);
    }
  }
  return grads;
}

void keep_master_weights(Optimizer& optimizer, const FullPrecision& before) {
  if (before.empty()) return;
  optimizer.use_master_weights();
  std::unordered_map<TensorImpl*, Tensor> old;
  for (const auto& [parameter, values] : before) old.emplace(parameter.unsafeGetTensorImpl(), values);
  for (auto& group : optimizer.param_groups())
    for (Tensor& p : group.params())
      if (auto found = old.find(p.unsafeGetTensorImpl()); found != old.end())
        optimizer.set_master_weight(p, found->second);
}

}  // namespace hb::amp
