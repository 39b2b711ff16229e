#pragma once
// LibTorch has no operator for what nn::Linear computes: it transposes the weight and multiplies, and adds the bias in
// the product or after it. Where no module is known, this is how such a call is recognised: as `linear` of the weight
// as it was registered.

#include <vector>

#include <halfbridge/trace/libtorch/calls.h>

namespace hb::trace::libtorch {

inline const Op& linear_op() {
  static const Op op{"linear", {"input", "weight", "bias"}};
  return op;
}

/// The leaf that requires a gradient and whose transpose this is; undefined where it is none's.
inline torch::Tensor transposed_leaf(const torch::Tensor& t) {
  if (t.dim() != 2 || t.is_inference() || !t.is_view()) return {};
  const torch::Tensor base(t._base());
  if (base.dim() != 2 || !base.is_leaf() || !base.requires_grad()) return {};
  const bool whole = t.storage_offset() == base.storage_offset() && t.size(0) == base.size(1) &&
                     t.size(1) == base.size(0) && t.stride(0) == base.stride(1) && t.stride(1) == base.stride(0);
  return whole ? base : torch::Tensor();
}

/// Whether the operator multiplies with a transposed parameter; `inputs` are then those of linear().
inline bool begins_linear(const Op& op, const std::vector<torch::Tensor>& given, const std::string& config,
                          bool grad_mode, std::vector<CallTensor>& inputs) {
  const bool with_bias = op.name == "addmm" && given.size() == 3 && given[0].dim() == 1 && config == "beta=1, alpha=1";
  if (!with_bias && !(op.name == "matmul" && given.size() == 2)) return false;
  const torch::Tensor weight = transposed_leaf(given.back());
  if (!weight.defined()) return false;
  CallTensor w = call_tensor(given.back(), grad_mode);
  w.value = weight, w.key = key_of(weight), w.transposed = true;
  inputs = {call_tensor(given[with_bias ? 1 : 0], grad_mode), std::move(w)};
  if (with_bias) inputs.push_back(call_tensor(given[0], grad_mode));
  return true;
}

}  // namespace hb::trace::libtorch
