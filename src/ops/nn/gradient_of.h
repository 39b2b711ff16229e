#pragma once
// Gradients that are asked for by name, made by the function's own backward pass.

#include <optional>

#include <halfbridge/autograd.h>
#include <halfbridge/ops.h>

#include "autograd/named.h"
#include "autograd/passing_graph.h"
#include "autograd/record.h"
#include "ops/common/layout.h"

namespace hb::ops {

/// How a gradient lies in memory: what LibTorch's functions do differs.
enum class Lies { as_it_comes, contiguous, as_grad };

/// What `grad` of fn(x) is for x. Differentiable again, with a node of the name `node`, where grad or x requires a
/// gradient, or what fn reads besides does (`others`).
template <class Function>
Tensor gradient_of(const char* node, const Tensor& grad, const Tensor& x, const Function& fn, bool others = false,
                   Lies lies = Lies::as_it_comes) {
  const bool again = GradMode::is_enabled() && (others || needs_grad(grad, x));
  const PassingGraph passing(!again);
  const bool inference = InferenceMode::is_enabled();
  std::optional<InferenceMode> inside;
  if (x.is_inference() && !again) inside.emplace();  // where an inference tensor may be a leaf of a graph
  AutoGradMode enabled(true);
  const Tensor input = again && x.requires_grad() ? x.view_as(x) : x.detach().requires_grad_();
  Tensor out = autodiff::grad({fn(input)}, {input}, {grad}, std::nullopt, again)[0];
  if (lies == Lies::contiguous) out = out.contiguous();
  if (lies == Lies::as_grad) out = in_layout_of(grad, out);
  if (!again && !out.is_same(grad)) out.impl().set_inference(inference);
  return named(node, out, grad);
}
/// The same where x's values do not matter.
template <class Function>
Tensor gradient_at_zeros(const char* node, const Tensor& grad, IntArrayRef sizes, const Function& fn,
                         Lies lies = Lies::as_it_comes) {
  return gradient_of(node, grad, zeros(sizes, grad.options()), fn, false, lies);
}

}  // namespace hb::ops
