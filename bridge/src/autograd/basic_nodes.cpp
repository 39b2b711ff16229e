#include <halfbridge/bridge/autograd/basic_nodes.h>

#include <functional>

#include <halfbridge/bridge/autograd/custom_node.h>
#include <halfbridge/ops.h>

namespace hb::autodiff {

namespace {

// Tensors of the same values, whose history is the node that `make` gives.
variable_list with_history(const variable_list& inputs, const std::function<std::shared_ptr<Node>(edge_list)>& make) {
  variable_list outputs;
  edge_list edges;
  bool recorded = false;
  for (const Tensor& t : inputs) {
    outputs.push_back(t.defined() ? t.detach() : Tensor());
    edges.push_back(t.defined() ? gradient_edge(t) : Edge());
    recorded = recorded || (t.defined() && t.requires_grad());
  }
  if (recorded && GradMode::is_enabled()) set_history(outputs, make(std::move(edges)));
  return outputs;
}

}  // namespace

Error::Error(std::string message, edge_list next_edges) : Node(std::move(next_edges)), msg(std::move(message)) {
  sequence_nr_ = UINT64_MAX;  // it runs, and throws, before anything else
}
variable_list Error::apply(variable_list&&) { throw hb::Error(msg); }

DelayedError::DelayedError(std::string message, int64_t num_inputs) : msg(std::move(message)) {
  inputs_.resize(static_cast<size_t>(num_inputs));
}
variable_list DelayedError::apply(variable_list&& tensors) {
  return with_history(tensors, [&](edge_list edges) { return std::make_shared<Error>(msg, std::move(edges)); });
}

UndefinedGrad::UndefinedGrad() { inputs_.resize(1); }
variable_list UndefinedGrad::apply(variable_list&& tensors) {
  return with_history(tensors,
                      [](edge_list edges) { return std::make_shared<UndefinedGradBackward>(std::move(edges)); });
}
variable_list UndefinedGradBackward::apply(variable_list&& grads) { return variable_list(grads.size()); }

GraphRoot::GraphRoot(edge_list functions, variable_list inputs)
    : Node(std::move(functions)), outputs(std::move(inputs)) {
  for (const Tensor& t : outputs) add_input_metadata(t);
}

variable_list CopyBackwards::apply(variable_list&& grads) {
  HB_CHECK(grads.size() == 1, "[CopyBackwards] expected 1 gradient, got ", grads.size());
  variable_list results(num_outputs());
  if (!grads[0].defined()) return results;
  if (!results.empty() && task_should_compute_output(0)) results[0] = zeros_like(grads[0]);
  if (results.size() > 1 && task_should_compute_output(1)) results[1] = grads[0].to(src_options);
  return results;
}

}  // namespace hb::autodiff
