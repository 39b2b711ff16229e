#pragma once
// The node in which the graph of a leaf ends.

#include <halfbridge/autograd.h>

namespace hb::autodiff {

/// Adds what arrives to the `.grad()` of a leaf, also where backward passes of several threads meet.
///
/// Who has memory ready for the leaf's gradient (a bucket that travels to other processes) gives it to the node. The
/// first gradient is then made there, or copied there, and `.grad()` is that tensor.
class HB_API AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor leaf);
  variable_list apply(variable_list&& grads) override;
  std::string name() const override { return "torch::autograd::AccumulateGrad"; }

  /// A contiguous tensor of the leaf's shape, dtype and device; undefined: the gradient has memory of its own. The node
  /// fills it in passes that add to `.grad()`, while that is undefined and nobody else holds this tensor.
  void set_destination(Tensor memory);
  const Tensor& destination() const { return destination_; }
  /// The destination for a gradient that is about to be made, undefined where it may not be written now.
  Tensor take_destination() const;

  Tensor variable;

 private:
  Tensor destination_;
};

}  // namespace hb::autodiff
