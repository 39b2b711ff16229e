#pragma once
// <torch/csrc/autograd/functions/…>: nodes that no function records, for programs that build graphs of their own.

#include <string>
#include <utility>

#include <halfbridge/accumulate_grad.h>

namespace hb::autodiff {

/// Throws when gradients reach it.
struct HB_API Error : Node {
  explicit Error(std::string message, edge_list next_edges = {});
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "torch::autograd::Error"; }
  std::string msg;
};

/// What a function without a derivative records.
struct HB_API NotImplemented : Error {
  explicit NotImplemented(const std::string& forward_fn, edge_list next_edges = {})
      : Error("derivative for " + forward_fn + " is not implemented", std::move(next_edges)) {}
  std::string name() const override { return "torch::autograd::NotImplemented"; }
};

/// Gives tensors of the same values; what they need of a gradient throws `msg`.
struct HB_API DelayedError : Node {
  DelayedError(std::string message, int64_t num_inputs);
  variable_list apply(variable_list&& tensors) override;
  std::string name() const override { return "torch::autograd::DelayedError"; }
  std::string msg;
};

/// Gives its tensors with a history that sends undefined gradients back.
struct HB_API UndefinedGrad : Node {
  UndefinedGrad();
  variable_list apply(variable_list&& tensors) override;
  std::string name() const override { return "torch::autograd::UndefinedGrad"; }
};
struct HB_API UndefinedGradBackward : Node {
  explicit UndefinedGradBackward(edge_list next_edges = {}) : Node(std::move(next_edges)) {}
  variable_list apply(variable_list&& grads) override;
  bool accepts_undefined() const override { return true; }
  std::string name() const override { return "torch::autograd::UndefinedGradBackward"; }
};

/// Where a backward pass starts: its outputs are the gradients of the roots.
struct HB_API GraphRoot : Node {
  GraphRoot(edge_list functions, variable_list inputs);
  variable_list apply(variable_list&&) override { return outputs; }
  std::string name() const override { return "torch::autograd::GraphRoot"; }
  variable_list outputs;
};

struct HB_API Identity : Node {
  variable_list apply(variable_list&& grads) override { return std::move(grads); }
  std::string name() const override { return "torch::autograd::Identity"; }
};

/// The backward pass of copy_: nothing for the tensor that was overwritten, the gradient for the source.
struct HB_API CopyBackwards : Node {
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "torch::autograd::CopyBackwards"; }
  TensorOptions src_options;
};

}  // namespace hb::autodiff
