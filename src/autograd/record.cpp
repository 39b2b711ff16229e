#include "autograd/record.h"

#include <atomic>
#include <cstdlib>
#include <thread>
#include <utility>

#include <halfbridge/ops/factories.h>

#include "autograd/arithmetic.h"
#include "autograd/passing_graph.h"
#include "autograd/record_some.h"
#include "autograd/watch.h"
#include "core/geometry.h"

namespace hb {

bool needs_grad_list(TensorList inputs) {
  if (!GradMode::is_enabled()) return false;
  for (const Tensor& t : inputs)
    if (t.defined() && t.requires_grad()) return true;
  return false;
}

namespace {
thread_local SavedSource* current_source = nullptr;
thread_local bool graph_passes = false;
}  // namespace
PassingGraph::PassingGraph(bool passing) : previous_(graph_passes) { graph_passes = passing; }
PassingGraph::~PassingGraph() { graph_passes = previous_; }
bool PassingGraph::active() { return graph_passes; }

SavedSource* SavedSource::current() { return current_source; }
SavedSource::Scope::Scope(SavedSource* source) : previous_(current_source) { current_source = source; }
SavedSource::Scope::~Scope() { current_source = previous_; }

bool SavedTensor::hand_over(const Tensor& t) {
  const auto number = current_source->add(t);
  if (!number) return false;
  version_ = *number;
  source_ = intrusive_ptr<SavedSource>(current_source);
  return true;
}

SavedTensor SavedTensor::input(const Tensor& t) {
  SavedTensor s;
  if (!t.defined()) return s;
  HB_CHECK(!t.impl().is_inference() || graph_passes,
           "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
           "computation tracked by autograd: make a clone to get a normal tensor, or use no_grad mode in place of "
           "inference mode.");
  s.defined_ = true;
  if (HB_UNLIKELY(current_source) && s.hand_over(t)) return s;
  s.tensor_ = t, s.version_ = t.impl().seen_version();
  return s;
}

SavedTensor SavedTensor::output(const Tensor& t, uint32_t output_nr) {
  SavedTensor s;
  if (!t.defined()) return s;
  s.output_nr_ = output_nr, s.is_output_ = s.defined_ = true;
  if (HB_UNLIKELY(current_source) && s.hand_over(t)) return s;
  // A record of its own: the node must not own the tensor that owns the node.
  s.tensor_ = Tensor(t.impl().alias(true));
  s.version_ = s.tensor_.impl().seen_version();
  return s;
}

namespace {
// `producer` made the tensor as its output `nr`, unless it is null.
[[noreturn]] void fail_as_changed(const Tensor& t, uint32_t expected, const Node* producer, uint32_t nr) {
  HB_CHECK(false, "one of the variables needed for gradient computation has been modified by an inplace operation: [",
           t.toString(), " ", t.sizes(), "]",
           producer ? detail::str(", which is output ", nr, " of ", producer->name(), ",") : "", " is at version ",
           t.impl().seen_version(), "; expected version ", expected,
           " instead. Hint: torch::autograd::DetectAnomalyGuard tells where the function was called.");
  std::abort();
}
}  // namespace

namespace {
// Held for the copy of a handle, by one thread almost always.
class Busy {
 public:
  explicit Busy(bool& flag) : flag_(flag) {
    while (flag_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  ~Busy() { flag_.store(false, std::memory_order_release); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  const std::atomic_ref<bool> flag_;
};
}  // namespace

void SavedTensor::release() {
  Tensor tensor;  // freed when the others may come again
  intrusive_ptr<SavedSource> source;
  {
    const Busy busy(busy_);
    std::swap(tensor, tensor_), std::swap(source, source_);
    released_ = true;
  }
  if (source) source->drop(version_);
}

Tensor SavedTensor::value(const Node* node) const {
  if (!defined_) return Tensor();
  Tensor kept;
  intrusive_ptr<SavedSource> source;
  bool released;
  {
    const Busy busy(busy_);
    kept = tensor_, source = source_, released = released_;
  }
  auto name = [node] { return node ? node->name() : "a later pass"; };
  HB_CHECK(!released,
           "Trying to backward through the graph a second time (or directly access saved tensors after they "
           "have already been freed): ",
           name(),
           ". Specify retain_graph=True if you need to backward through the "
           "graph a second time.");
  if (HB_UNLIKELY(source)) return source->get(version_);
  if (HB_UNLIKELY(kept.impl().seen_version() != version_)) {
    const AutogradMeta* meta = kept.impl().autograd_meta();
    const bool own = is_output_ && node;
    fail_as_changed(kept, version_,
                    own    ? node
                    : meta ? meta->grad_fn.get()
                           : nullptr,
                    own || !meta ? output_nr_ : meta->output_nr);
  }
  return kept;
}

Tensor SavedTensor::unpack(Node& node) const {
  Tensor kept = value(&node);
  if (!is_output_ || !GradMode::is_enabled()) return kept;
  // A result is saved without its history, which it gets back here.
  Tensor t(kept.impl().alias(true));
  AutogradMeta& meta = t.impl().materialize_autograd_meta();
  meta.grad_fn = node.shared_from_this();
  meta.output_nr = output_nr_;
  return t;
}

namespace detail {

void collect_edges(Node& node, ArrayRef<const Tensor*> inputs) {
  edge_list edges;
  edges.reserve(inputs.size());
  for (const Tensor* t : inputs) edges.push_back(t->defined() ? gradient_edge(*t) : Edge());
  node.set_next_edges(std::move(edges));
  GraphWatchers::each([&](GraphWatcher& w) { w.inputs(node, inputs); });
}

void attach(const std::shared_ptr<Node>& node, Tensor& result) {
  HB_CHECK(is_differentiable_type(result.scalar_type()), "[autograd] a tensor of dtype ", result.scalar_type(),
           " cannot require a gradient");
  AutogradMeta& meta = result.impl().materialize_autograd_meta();
  meta.grad_fn = node;
  meta.output_nr = node->add_input_metadata(result);
  meta.attr_version = result.impl().version();
  GraphWatchers::each([&](GraphWatcher& w) { w.result(*node, result); });
}

void attach_all(const std::shared_ptr<Node>& node, ArrayRef<Tensor*> results) {
  for (Tensor* r : results) {
    if (r->defined() && is_differentiable_type(r->scalar_type())) {
      attach(node, *r);
    } else if (r->defined()) {
      node->add_input_metadata(*r);  // keeps the numbering of results
    }
  }
}

namespace {
using autodiff::arithmetic;

class ManyNode final : public Node {
 public:
  ManyNode(const char* name, std::vector<SavedTensor> saved, BackwardFn f, bool zeros)
      : name_(name), saved_(std::move(saved)), f_(std::move(f)), zeros_(zeros) {}
  std::string name() const override { return name_; }
  variable_list apply(variable_list&& grads) override {
    front::Excluded excluded;
    for (size_t i = 0; zeros_ && i < grads.size(); ++i) {
      if (grads[i].defined() || !is_differentiable_type(input_metadata(i).dtype)) continue;
      grads[i] = empty(input_metadata(i).sizes,
                       TensorOptions().dtype(input_metadata(i).dtype).device(input_metadata(i).device));
      arithmetic.zero_(grads[i]);
    }
    Backward context(*this, grads);
    variable_list saved;
    saved.reserve(saved_.size());
    for (const SavedTensor& s : saved_) saved.push_back(s.unpack(*this));
    return f_(context, saved);
  }
  void release_variables() override {
    for (auto& s : saved_) s.release();
  }

 private:
  const char* name_;
  std::vector<SavedTensor> saved_;
  BackwardFn f_;
  bool zeros_;  // in place of gradients of results that were not used
};

void record_results(const char* name, ArrayRef<Tensor*> results, ArrayRef<const Tensor*> inputs,
                    std::vector<SavedTensor> saved, BackwardFn f, bool zeros) {
  auto node = std::make_shared<ManyNode>(name, std::move(saved), std::move(f), zeros);
  collect_edges(*node, inputs);
  attach_all(node, results);
}
}  // namespace

Tensor make_view_tensor(const Tensor& base, ScalarType dtype, DimVector sizes, DimVector strides, int64_t offset) {
  TensorImpl& b = base.impl();
  b.settle();
  geometry::numel(sizes);  // throws where an expanded tensor would have more elements than can be counted
  auto impl = make_intrusive<TensorImpl>(b.storage(), dtype, std::move(sizes), std::move(strides), offset);
  impl->set_inference(b.is_inference());
  impl->set_shared_version(b.shared_version());
  if (!b.is_inference()) {
    AutogradMeta& meta = impl->materialize_autograd_meta();
    const AutogradMeta* base_meta = b.autograd_meta();
    meta.base = base_meta && base_meta->base.defined() ? base_meta->base : base;
    meta.attr_version = impl->version();
    meta.created_in_no_grad = !GradMode::is_enabled() || (base_meta && base_meta->created_in_no_grad);
  }
  return Tensor(std::move(impl));
}

}  // namespace detail

void record_many(const char* name, ArrayRef<Tensor*> results, ArrayRef<const Tensor*> inputs,
                 std::vector<SavedTensor> saved, BackwardFn f) {
  detail::record_results(name, results, inputs, std::move(saved), std::move(f), true);
}
void record_some(const char* name, ArrayRef<Tensor*> results, ArrayRef<const Tensor*> inputs,
                 std::vector<SavedTensor> saved, BackwardFn f) {
  detail::record_results(name, results, inputs, std::move(saved), std::move(f), false);
}

}  // namespace hb
