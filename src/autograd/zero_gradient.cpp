#include "autograd/zero_gradient.h"

#include <algorithm>
#include <atomic>

#include <halfbridge/autograd.h>
#include <halfbridge/ops/factories.h>

#include "autograd/accumulate_grad.h"
#include "autograd/arithmetic.h"
#include "autograd/backward_pass.h"

namespace hb {
namespace {

constinit std::atomic<const TensorImpl*> the_zero{nullptr};

Tensor zeros_for(const InputMetadata& m) {
  Tensor zeros = empty(IntArrayRef(m.sizes), TensorOptions().dtype(m.dtype).device(m.device));
  autodiff::arithmetic.zero_(zeros);
  return zeros;
}

}  // namespace

const Tensor& autodiff::zero_gradient() {
  static const Tensor& zero = []() -> const Tensor& {
    auto* made = new Tensor(zeros_for({{}, kFloat, kCPU}));
    the_zero.store(&made->impl(), std::memory_order_relaxed);
    return *made;
  }();
  return zero;
}

bool autodiff::is_zero_gradient(const Tensor& grad) {
  return grad.defined() && &grad.impl() == the_zero.load(std::memory_order_relaxed);
}

void autodiff::show_zeros(const Node& node, variable_list& out) {
  const edge_list& edges = node.next_edges();
  for (size_t i = 0; i < edges.size() && i < out.size(); ++i)
    if (edges[i].is_valid() && is_zero_gradient(out[i]))
      out[i] = zeros_for(edges[i].function->input_metadata(edges[i].input_nr));
}

void BackwardPass::note_zero(const Edge& edge) { zeros_.emplace_back(edge.function.get(), edge.input_nr); }

bool BackwardPass::take_zeros(Node& node, bool wanted, variable_list& grads) {
  const bool seen = wanted || node.hooks_ || node.accepts_undefined() || dynamic_cast<AccumulateGrad*>(&node);
  bool any = false;
  const auto taken = [&](const std::pair<const Node*, uint32_t>& zero) {
    if (zero.first != &node) return false;
    any = true;
    if (seen && zero.second < node.num_inputs() && !grads[zero.second].defined())
      grads[zero.second] = zeros_for(node.input_metadata(zero.second));
    return true;
  };
  std::erase_if(zeros_, taken);
  return any && std::none_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); });
}

}  // namespace hb
