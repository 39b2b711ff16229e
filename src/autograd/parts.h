#pragma once
// Gradients of parts of a tensor (select(), slice(), split(), unbind()). LibTorch puts each among zeros, as many as the
// whole has elements, and adds these up. A pass that records no graph puts them side by side in one whole instead,
// where they belong.

#include <vector>

#include "autograd/names.h"

namespace hb {

class Backward;

/// The elements `from`, `from + step` and so on before `to` of a dimension; one that is `selected` leaves the dimension
/// out.
struct Part {
  int64_t dim, from, to, step = 1;
  bool selected = false;

  int64_t count() const { return (to - from + step - 1) / step; }
  /// Whether the two have elements in common. Those of different dimensions are taken to, even where one is empty.
  bool meets(const Part& other) const;
  /// These elements of `whole`, in its memory.
  Tensor of(const Tensor& whole) const;
};

/// The history of a part.
class PartNode final : public Node {
 public:
  /// The gradient of a whole of these sizes that is `grad` in the part and zero elsewhere; composed of functions, so
  /// that it can be differentiated.
  using Embed = Tensor (*)(const Tensor& grad, const DimVector& whole, const Part& part);
  PartNode(const char* name, const Tensor& whole, const Part& part, Embed embed);

  std::string name() const override { return name_; }
  variable_list apply(variable_list&& grads) override;

 private:
  friend class autodiff::BackwardPass;
  const char* name_;
  DimVector sizes_, strides_;  // of the whole
  Part part_;
  Embed embed_;
};

/// The history of parts that together are all of a tensor, one behind the other.
class PartsNode final : public Node {
 public:
  using Join = Tensor (*)(TensorList parts, int64_t dim);
  PartsNode(const char* name, const Tensor& whole, std::vector<Part> parts, Join join);

  std::string name() const override { return name_; }
  variable_list apply(variable_list&& grads) override;

 private:
  friend class autodiff::BackwardPass;
  const char* name_;
  DimVector sizes_, strides_;  // of the whole
  std::vector<Part> parts_;
  Join join_;
};

/// Where a formula may write the gradient of its input `i`, of these sizes, in whatever strides the memory has: the
/// place of a part in the gradient of its whole. Undefined where the input is no part, or somebody would see the
/// gradient.
Tensor place_in_whole(const Backward& b, size_t i, IntArrayRef sizes, const TensorOptions& options);

namespace autodiff {

/// A gradient that is being put together from those of parts which do not meet.
class Whole {
 public:
  Whole(const Edge& edge, Tensor memory) : Whole(edge.function.get(), edge.input_nr, std::move(memory)) {}
  Whole(Node* node, uint32_t nr, Tensor memory) : node_(node), nr_(nr), memory_(std::move(memory)) {}

  /// Where the gradient goes; of the parts of a PartsNode, that.
  Node* node() const { return node_; }
  uint32_t input_nr() const { return nr_; }

  /// Memory for the gradient of `part`, by which it is known from then on; undefined where another part has some of it.
  Tensor place(const Part& part);
  /// Puts down the gradient of a part; false where it has no place. It may lie there already.
  bool put(const Part& part, const Tensor& grad);
  /// Puts down the first gradient and the zeros between its elements in one pass; false where that is no simple one.
  bool put_among_zeros(const Part& part, const Tensor& grad);
  /// The gradient, zero where none was put down. A place whose gradient is still to come is left to it.
  Tensor finished();

 private:
  struct Piece {
    const Part* key;  // its node's
    Part part;
    bool there = false;
  };

  Node* node_;
  uint32_t nr_;
  Tensor memory_;
  std::vector<Piece> pieces_;
  bool zeroed_ = false;  // all of it, before any was put down
};

}  // namespace autodiff
}  // namespace hb
