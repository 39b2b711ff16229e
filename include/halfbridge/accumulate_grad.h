#pragma once
// The node in which the graph of a leaf ends.

#include <halfbridge/autograd.h>

namespace hb::autodiff {

/// Adds what arrives to the `.grad()` of a leaf, also where backward passes of several threads meet.
class HB_API AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor leaf);
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "torch::autograd::AccumulateGrad"; }

  Tensor variable;
};

}  // namespace hb::autodiff
