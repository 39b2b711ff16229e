// autograd::backward and autograd::grad: what a pass starts from, and what becomes of its gradients.
#include <unordered_set>

#include <halfbridge/autograd.h>

#include "autograd/accumulate_grad.h"
#include "autograd/arithmetic.h"
#include "autograd/backward_pass.h"
#include "autograd/loss_scaling.h"
#include "core/stack.h"
#include "core/warnings.h"

namespace hb {
namespace {

using autodiff::arithmetic;
using autodiff::expands_to;

struct Roots {
  edge_list edges;
  variable_list grads;
};

Roots make_roots(const variable_list& tensors, const variable_list& grad_tensors) {
  HB_CHECK(grad_tensors.empty() || grad_tensors.size() == tensors.size(), "got ", tensors.size(), " tensors and ",
           grad_tensors.size(), " gradients");
  Roots roots;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    HB_CHECK(t.defined() && t.requires_grad(), "element ", i,
             " of tensors does not require grad and does not have a grad_fn");
    Tensor g = grad_tensors.empty() ? Tensor() : grad_tensors[i];
    if (g.defined()) {
      HB_CHECK(expands_to(t.impl().sizes(), g.impl().sizes()), "invalid gradient at index ", i, " - got ", g.sizes(),
               " but expected shape compatible with ", t.sizes());
      HB_CHECK(g.is_complex() == t.is_complex(),
               "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
               "dtype: grad_output[",
               i, "] has a dtype of ", g.scalar_type(), " and output[", i, "] has a dtype of ", t.scalar_type(), ".");
      if (g.impl().sizes() != t.impl().sizes()) g = arithmetic.sum_to(g, t.impl().sizes());
    } else {
      HB_CHECK(!t.is_complex(), "grad can be implicitly created only for real scalar outputs but got ", t.dtype());
      HB_CHECK(t.numel() == 1, "grad can be implicitly created only for scalar outputs, got shape ", t.sizes());
      g = arithmetic.ones_like(t, MemoryFormat::Contiguous);
    }
    roots.edges.push_back(gradient_edge(t));
    roots.grads.push_back(arithmetic.cast(g, t.scalar_type()));
  }
  return roots;
}

edge_list edges_of(const variable_list& inputs) {
  edge_list edges;
  for (size_t i = 0; i < inputs.size(); ++i) {
    HB_CHECK(inputs[i].defined() && inputs[i].requires_grad(), "element ", i,
             " of the input tensors does not require grad");
    edges.push_back(gradient_edge(inputs[i]));
  }
  return edges;
}

void add_up_gradients(const variable_list& tensors, const variable_list& grad_tensors, std::optional<bool> retain_graph,
                      bool create_graph, const variable_list& inputs) {
  Roots roots = make_roots(tensors, grad_tensors);
  BackwardPass pass(retain_graph.value_or(create_graph), create_graph);
  const edge_list wanted = edges_of(inputs);
  for (const Tensor& t : inputs) t.retain_grad();  // of a leaf: does nothing
  if (!inputs.empty()) pass.want(wanted);
  const ScaledPass scaled(roots.grads, create_graph);
  pass.run(roots.edges, std::move(roots.grads));
  std::unordered_set<const TensorImpl*> seen;  // an input may be named twice
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor g = pass.captured(i);
    if (!g.defined() || !inputs[i].is_leaf() || !seen.insert(&inputs[i].impl()).second) continue;
    g = as_the_leaf_has_it(inputs[i], std::move(g));
    AutoGradMode mode(create_graph);
    add_to_leaf(inputs[i], std::move(g));
  }
}

variable_list gradients(const variable_list& outputs, const variable_list& inputs, const variable_list& grad_outputs,
                        std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
  HB_CHECK_VALUE(!inputs.empty(), "grad requires non-empty inputs.");
  Roots roots = make_roots(outputs, grad_outputs);
  BackwardPass pass(retain_graph.value_or(create_graph), create_graph);
  pass.want(edges_of(inputs));
  const ScaledPass scaled(roots.grads, create_graph, inputs);
  pass.run(roots.edges, std::move(roots.grads));
  variable_list out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    out.push_back(scaled.returned(inputs[i], pass.captured(i)));
    HB_CHECK(allow_unused || out.back().defined(), "element ", i,
             " of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this "
             "is the desired behavior.");
  }
  return out;
}

}  // namespace

namespace autodiff {

void backward(const variable_list& tensors, const variable_list& grad_tensors, std::optional<bool> retain_graph,
              bool create_graph, const variable_list& inputs) {
  if (create_graph)
    HB_WARN_ONCE(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
        "gradient which can cause a memory leak: use autograd::grad, or reset the gradients after use.");
  detail::with_stack([&] { add_up_gradients(tensors, grad_tensors, retain_graph, create_graph, inputs); });
}

variable_list grad(const variable_list& outputs, const variable_list& inputs, const variable_list& grad_outputs,
                   std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
  return detail::with_stack(
      [&] { return gradients(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused); });
}

}  // namespace autodiff
}  // namespace hb
