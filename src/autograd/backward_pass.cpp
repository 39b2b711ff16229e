#include "autograd/backward_pass.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <halfbridge/autograd.h>

#include "autograd/accumulate_grad.h"
#include "autograd/arithmetic.h"
#include "autograd/loss_scaling.h"
#include "autograd/watch.h"
#include "autograd/zero_gradient.h"
#include "core/physical.h"
#include "core/stack.h"
#include "core/warnings.h"

namespace hb {

namespace {

using autodiff::arithmetic;
bool earlier(const Node* a, const Node* b) { return a->sequence_nr() < b->sequence_nr(); }

/// What hooks and retain_grad show a program it may view and change in place: a gradient whose elements repeat (that
/// of a sum) gets memory of its own.
Tensor for_the_program(Tensor grad) {
  if (!grad.defined() || !repeats_elements(grad.impl())) return grad;
  return arithmetic.clone(grad, MemoryFormat::Contiguous);
}

std::string returned_by(const Node* producer) {
  return producer ? "Function " + producer->name() + " returned an " : std::string();
}
}  // namespace

bool autodiff::expands_to(const DimVector& from, const DimVector& to) {
  if (from.size() > to.size()) return false;
  for (size_t d = 0; d < from.size(); ++d) {
    const int64_t f = from[from.size() - 1 - d], t = to[to.size() - 1 - d];
    if (f != t && f != 1) return false;
  }
  return true;
}

void autodiff::conform(const Node* producer, size_t i, const InputMetadata& wanted, Tensor& grad) {
  if (grad.impl().sizes() != wanted.sizes) {
    HB_CHECK(expands_to(wanted.sizes, grad.impl().sizes()), returned_by(producer), "invalid gradient at index ", i,
             " - got ", grad.sizes(), " but expected shape compatible with ", IntArrayRef(wanted.sizes));
    grad = arithmetic.sum_to(grad, wanted.sizes);
  }
  if (grad.scalar_type() != wanted.dtype) grad = arithmetic.cast(grad, wanted.dtype);
  // Of a number on the CPU that was used with tensors of another device.
  if (HB_UNLIKELY(grad.device() != wanted.device) && grad.dim() == 0) grad = arithmetic.to_device(grad, wanted.device);
  HB_CHECK(grad.device() == wanted.device, returned_by(producer), "invalid gradient at index ", i,
           " - expected device ", wanted.device, " but got ", grad.device());
}

void autodiff::apply_tensor_hook(const Node::TensorHook hook, size_t number, Tensor& grad) {
  if (!hook || !grad.defined()) return;
  grad = for_the_program(std::move(grad));
  Tensor replaced = hook(grad);
  if (!replaced.defined()) return;
  HB_CHECK(replaced.sizes() == grad.sizes(), "hook '", number, "' has changed the size of value: from ", grad.sizes(),
           " to ", replaced.sizes());
  HB_CHECK(replaced.scalar_type() == grad.scalar_type(), "hook '", number, "' has changed the type of value (was ",
           grad.toString(), " got ", replaced.toString(), ")");
  grad = std::move(replaced);
}

BackwardPass::~BackwardPass() {
  for (Node* n : order_) release(n);
}

void BackwardPass::release(Node* node) {
  if (node->pass_ != this) return;
  node->progress_ = Progress();
  node->pass_ = nullptr;
}

void BackwardPass::want(edge_list inputs) {
  restricted_ = true;
  wanted_ = std::move(inputs);
  captured_.resize(wanted_.size());
  wanted_by_node_.resize(wanted_.size());
  std::iota(wanted_by_node_.begin(), wanted_by_node_.end(), size_t{0});
  const auto node = [&](size_t i) { return wanted_[i].function.get(); };
  std::sort(wanted_by_node_.begin(), wanted_by_node_.end(),
            [&](size_t a, size_t b) { return std::less<>()(node(a), node(b)); });
}

bool BackwardPass::needs(const Edge& edge) {
  if (!restricted_) return true;
  const Progress& p = progress(edge.function.get());
  return p.runs || p.wanted;
}

bool BackwardPass::visit(Node* node) {
  if (node->pass_.load(std::memory_order_relaxed) == this) return false;
  // Seen while another pass had it, which may have ended since: the node stays where this pass began to count.
  if (!elsewhere_.empty() && elsewhere_.count(node)) return false;
  const BackwardPass* nobody = nullptr;
  if (node->pass_.compare_exchange_strong(nobody, this)) {
    node->progress_ = Progress();
    return true;
  }
  elsewhere_.try_emplace(node);
  return true;
}

void BackwardPass::discover(const edge_list& roots) {
  // Nodes on the way, with the next edge to follow. Those that an error leaves here (there is no more memory) are free
  // again: another pass may stand where this one did, and would take them for its own.
  std::vector<std::pair<Node*, size_t>> way;
  struct Free {
    BackwardPass& pass;
    decltype(way)& left;
    ~Free() {
      for (const auto& [node, next] : left) pass.release(node);
    }
  } free{*this, way};
  const auto enter = [&](const Edge& edge) {
    if (!edge.is_valid()) return false;
    way.emplace_back(edge.function.get(), 0);
    if (visit(edge.function.get())) return true;
    way.pop_back();
    return false;
  };
  for (const Edge& root : roots) {
    enter(root);
    while (!way.empty()) {
      Node* const node = way.back().first;
      const edge_list& edges = node->next_edges();
      bool entered = false;
      while (!entered && way.back().second < edges.size()) entered = enter(edges[way.back().second++]);
      if (entered) continue;
      order_.push_back(node);
      way.pop_back();
    }
  }
  for (const Edge& w : wanted_)
    if (w.is_valid() && (w.function->pass_ == this || elsewhere_.count(w.function.get())))
      progress(w.function.get()).wanted = true;
  for (Node* node : order_) {
    Progress& p = progress(node);
    if (restricted_) {
      p.runs = false;
      for (const Edge& e : node->next_edges()) {
        if (!e.is_valid()) continue;
        const Progress& child = progress(e.function.get());
        p.runs = p.runs || child.runs || child.wanted;
      }
    }
    if (!p.runs) continue;
    for (const Edge& e : node->next_edges())
      if (e.is_valid()) ++progress(e.function.get()).dependencies;
  }
}

void BackwardPass::deliver(const Edge& edge, Tensor grad) {
  if (!grad.defined()) return;
  settle(*edge.function, edge.input_nr);
  accumulate(slot(*edge.function, edge.input_nr), std::move(grad));
}

void BackwardPass::capture(Node* node, const variable_list& grads) {
  const auto before = [&](size_t i, const Node* n) { return std::less<const Node*>()(wanted_[i].function.get(), n); };
  auto next = std::lower_bound(wanted_by_node_.begin(), wanted_by_node_.end(), node, before);
  for (; next != wanted_by_node_.end() && wanted_[*next].function.get() == node; ++next)
    if (wanted_[*next].input_nr < grads.size()) captured_[*next] = grads[wanted_[*next].input_nr];
}

namespace {
variable_list apply_watched(Node& node, variable_list&& grads) {
  const auto watching = GraphWatchers::now();
  const auto failed = [&](GraphWatcher& w) { w.failed(node); };
  watching.each([&](GraphWatcher& w) { w.arrived(node, grads); });
  watching.begin([&](GraphWatcher& w) { w.begins(node, grads); }, failed);
  variable_list out;
  try {
    out = node.apply(std::move(grads));
  } catch (...) {
    watching.each_back(failed);
    throw;
  }
  autodiff::show_zeros(node, out);
  watching.each_back([&](GraphWatcher& w) { w.evaluated(node, out); });
  return out;
}
}  // namespace

variable_list BackwardPass::call(Node* node, variable_list&& grads) {
  bool any = node->accepts_undefined();
  for (const Tensor& g : grads) any = any || g.defined();
  const auto* hooks = node->hooks_.get();
  if (!any) return variable_list(node->num_outputs());
  if (hooks) {
    for (const auto& h : hooks->pre_hooks) grads = h(grads);
  }
  variable_list seen;
  if (hooks && !hooks->post_hooks.empty()) seen = grads;
  variable_list out;
  {
    const Evaluating now(this, node);
    out = GraphWatchers::any() ? apply_watched(*node, std::move(grads)) : node->apply(std::move(grads));
  }
  if (!keep_graph_) node->release_variables();
  if (hooks && !hooks->post_hooks.empty()) autodiff::show_zeros(*node, out);
  if (hooks)
    for (const auto& h : hooks->post_hooks)
      if (h) out = h(out, seen);
  return out;
}

void BackwardPass::evaluate(Node* node) {
  Progress& p = progress(node);
  settle(*node);
  variable_list grads = std::move(p.buffer);
  p.buffer.clear();
  if (grads.empty()) grads.resize(node->num_inputs());
  const bool only_zeros = HB_UNLIKELY(!zeros_.empty()) && take_zeros(*node, p.wanted, grads);
  // As LibTorch: a wanted gradient is what came in where its node runs, and what the hooks made of it where it does
  // not.
  if (p.wanted && p.runs) capture(node, grads);
  if (const auto* hooks = node->hooks_.get()) {
    for (size_t i = 0, n = hooks->tensor_hooks.size(); i < n; ++i) {
      const auto& [nr, hook] = hooks->tensor_hooks[i];
      apply_tensor_hook(hook, i, grads[nr]);
    }
    for (const auto& [nr, hook] : hooks->retain_hooks)
      if (grads[nr].defined()) hook(grads[nr] = for_the_program(std::move(grads[nr])));
  }
  if (p.wanted) {
    if (auto* leaf = dynamic_cast<AccumulateGrad*>(node))
      if (const AutogradMeta* meta = leaf->variable.impl().autograd_meta())
        for (size_t i = 0, n = meta->leaf_hooks.size(); i < n; ++i) apply_tensor_hook(meta->leaf_hooks[i], i, grads[0]);
    if (!p.runs) capture(node, grads);
    GraphWatchers::each([&](GraphWatcher& w) { w.arrived(*node, grads); });
  }
  if (!p.runs) return;
  variable_list out = call(node, std::move(grads));
  const edge_list& edges = node->next_edges();
  HB_CHECK(out.size() >= edges.size(), "Function ", node->name(),
           " returned an incorrect number of gradients (expected ", edges.size(), ", got ", out.size(), ")");
  for (size_t i = 0; i < edges.size(); ++i) {
    if (!edges[i].is_valid()) continue;
    Node* next = edges[i].function.get();
    if (HB_UNLIKELY(only_zeros || autodiff::is_zero_gradient(out[i]))) {
      note_zero(edges[i]);
    } else if (out[i].defined()) {
      if (edges[i].input_nr < next->num_inputs()) conform(node, i, next->input_metadata(edges[i].input_nr), out[i]);
      if (needs(edges[i])) deliver(edges[i], std::move(out[i]));
    }
    Progress& q = progress(next);
    if (--q.dependencies == 0 && !q.queued && (q.runs || q.wanted)) {
      q.queued = true;
      ready_.push_back(next);
      std::push_heap(ready_.begin(), ready_.end(), earlier);
    }
  }
}

namespace {

/// What is left to do at the end of this thread's outermost pass.
thread_local std::vector<std::function<void()>> at_the_end;
thread_local int passes = 0;

struct Pass {
  Pass() { ++passes; }
  ~Pass() {
    if (--passes == 0) at_the_end.clear();
  }
};

}  // namespace

void autodiff::when_pass_ends(std::function<void()> function) {
  HB_CHECK(passes > 0, "[queue_callback] expected a backward pass that runs on this thread, got none");
  at_the_end.push_back(std::move(function));
}

void BackwardPass::run(const edge_list& roots, variable_list&& grads) {
  const Pass pass;
  discover(roots);
  AutoGradMode mode(create_graph_);
  for (size_t i = 0; i < roots.size(); ++i) deliver(roots[i], std::move(grads[i]));
  grads.clear();
  for (const Edge& root : roots) {
    Progress& p = progress(root.function.get());
    if (p.dependencies != 0 || p.queued || !(p.runs || p.wanted)) continue;
    p.queued = true;
    ready_.push_back(root.function.get());
    std::push_heap(ready_.begin(), ready_.end(), earlier);
  }
  while (!ready_.empty()) {
    std::pop_heap(ready_.begin(), ready_.end(), earlier);
    Node* node = ready_.back();
    ready_.pop_back();
    evaluate(node);
  }
  if (passes > 1) return;
  for (size_t i = 0; i < at_the_end.size(); ++i) at_the_end[i]();
}

}  // namespace hb
