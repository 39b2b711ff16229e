// Backward passes between edges of the graph.
#include <utility>

#include <halfbridge/autograd_engine.h>

#include "autograd/accumulate_grad.h"
#include "autograd/backward_pass.h"
#include "autograd/loss_scaling.h"
#include "core/stack.h"

namespace hb::autodiff {

namespace {

struct Start {
  edge_list roots;
  variable_list grads;
};

Start start(const edge_list& roots, const variable_list& grads) {
  HB_CHECK(roots.size() == grads.size(), "got ", roots.size(), " roots and ", grads.size(), " gradients");
  Start out;
  for (size_t i = 0; i < roots.size(); ++i) {
    if (!roots[i].is_valid()) continue;
    Tensor grad = grads[i];
    const Node& node = *roots[i].function;
    if (grad.defined() && roots[i].input_nr < node.num_inputs())
      conform(nullptr, i, node.input_metadata(roots[i].input_nr), grad);
    out.roots.push_back(roots[i]);
    out.grads.push_back(std::move(grad));
  }
  return out;
}

/// Adds a wanted leaf's gradient to its sum; the pass itself kept what retain_grad() asked for.
void keep(const Edge& edge, Tensor grad, bool create_graph) {
  auto* leaf = dynamic_cast<AccumulateGrad*>(edge.function.get());
  if (!leaf || !grad.defined()) return;
  grad = as_the_leaf_has_it(leaf->variable, std::move(grad));
  const AutoGradMode mode(create_graph);
  add_to_leaf(leaf->variable, std::move(grad));
}

variable_list run(const Start& from, bool keep_graph, bool create_graph, bool accumulate, const edge_list& outputs) {
  BackwardPass pass(keep_graph, create_graph);
  if (!outputs.empty()) pass.want(outputs);
  variable_list grads = from.grads, out;
  if (!outputs.empty() && !accumulate) {
    pass.run(from.roots, std::move(grads));
    for (size_t i = 0; i < outputs.size(); ++i) out.push_back(pass.captured(i));
    return out;
  }
  const ScaledPass scaled(grads, create_graph);
  pass.run(from.roots, std::move(grads));
  for (size_t i = 0; i < outputs.size(); ++i) keep(outputs[i], pass.captured(i), create_graph);
  return out;
}

}  // namespace

BackwardEngine& BackwardEngine::get_default_engine() {
  static auto& engine = *new BackwardEngine;
  return engine;
}

variable_list BackwardEngine::execute(const edge_list& roots, const variable_list& grads, bool keep_graph,
                                      bool create_graph, bool accumulate_grad, const edge_list& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    HB_CHECK(outputs[i].is_valid(), "element ", i, " of the outputs does not require grad");
  const Start from = start(roots, grads);
  return detail::with_stack([&] { return run(from, keep_graph, create_graph, accumulate_grad, outputs); });
}

void BackwardEngine::queue_callback(std::function<void()> callback) { when_pass_ends(std::move(callback)); }

}  // namespace hb::autodiff
