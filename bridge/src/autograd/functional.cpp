#include <halfbridge/bridge/autograd/functional.h>

#include <unordered_set>

#include <halfbridge/ops.h>

#include "../amp/scaled_grads.h"
#include "core/physical.h"

namespace hb {

namespace detail {

Tensor differentiable_input(const Tensor& input, bool& create_graph) {
  HB_CHECK(input.defined() && is_floating_type(input.scalar_type()),
           "[value_and_grad] expected argnums to name floating tensors, got ",
           input.defined() ? input.toString() : "an undefined tensor");
  if (GradMode::is_enabled() && input.requires_grad()) {
    create_graph = true;
    return input.view_as(input);
  }
  return input.detach().requires_grad_(true);
}

namespace {

/// Whether the gradient can be changed in place without anybody noticing, and lies like its input.
bool own_memory(const Tensor& grad, const Tensor& input, std::unordered_set<const StorageImpl*>& taken) {
  const auto& storage = grad.impl().physical_storage();
  const bool same_layout = grad.impl().physical_strides() == input.impl().physical_strides() ||
                           (grad.impl().physically_contiguous() && input.impl().physically_contiguous());
  return same_layout && !repeats_elements(grad.impl()) && taken.insert(storage.get()).second &&
         storage->use_count() == 1 && !storage->is_borrowed();
}

}  // namespace

std::vector<Tensor> gradients_of(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                 bool create_graph) {
  std::vector<Tensor> used;
  for (const Tensor& t : inputs)
    if (t.defined() && t.requires_grad()) used.push_back(t);
  HB_CHECK(outputs[0].defined() && (outputs.size() > 1 || outputs[0].numel() == 1),
           "[value_and_grad] expected the function to return a tensor of one element, or several tensors, got ",
           outputs[0].defined() ? detail::str("shape ", outputs[0].sizes()) : "an undefined tensor");
  // The sum of all: of each element once.
  std::vector<Tensor> roots, ones;
  for (const Tensor& t : outputs)
    if (t.defined() && t.requires_grad()) roots.push_back(t), ones.push_back(ones_like(t));
  // No gradient at all is hardly meant: the step would do nothing.
  HB_CHECK(used.empty() || !roots.empty(),
           "[value_and_grad] expected the function to return a tensor with a history, got ", outputs[0].toString(),
           " that does not require grad and does not have a grad_fn");
  std::vector<Tensor> found(used.size());
  if (!used.empty()) found = autodiff::grad(roots, used, ones, create_graph, create_graph, /*allow_unused=*/true);
  std::unordered_set<const StorageImpl*> taken;
  std::vector<Tensor> grads;
  grads.reserve(inputs.size());
  size_t next = 0;
  for (const Tensor& t : inputs) {
    Tensor g;
    if (t.defined() && t.requires_grad()) g = std::move(found[next++]);
    if (g.defined() && !create_graph && !own_memory(g, t, taken))
      g = empty_like(t, TensorOptions().dtype(g.scalar_type())).copy_(g.detach());
    else if (g.defined() && !create_graph && g.requires_grad())
      g = g.detach();
    else if (g.defined() && create_graph && repeats_elements(g.impl()))
      g = g.clone(MemoryFormat::Contiguous);
    grads.push_back(std::move(g));
  }
  return grads;
}

}  // namespace detail

std::vector<Tensor> clip_by_global_norm(const std::vector<Tensor>& grads, double clip_norm) {
  HB_CHECK(clip_norm > 0, "[clip_by_global_norm] expected clip_norm > 0, got ", clip_norm);
  amp::warn_if_scaled(grads, "clip_by_global_norm");
  // Half types hold neither large sums of squares nor small factors.
  const auto wide = [](const Tensor& g) { return is_half_type(g.scalar_type()) ? g.to(kFloat) : g; };
  std::vector<Tensor> norms;
  for (const Tensor& g : grads)
    if (g.defined()) norms.push_back(wide(g).norm().to(kDouble));
  if (norms.empty()) return grads;
  const Tensor norm = stack(norms).norm();
  const Tensor factor = clip_norm / norm.clamp_min(clip_norm);
  std::vector<Tensor> clipped;
  clipped.reserve(grads.size());
  for (const Tensor& g : grads) clipped.push_back(g.defined() ? (wide(g) * factor).to(g.scalar_type()) : g);
  return clipped;
}

}  // namespace hb
