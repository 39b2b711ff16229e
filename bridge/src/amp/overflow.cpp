#include <halfbridge/bridge/amp/overflow.h>

#include <ostream>
#include <unordered_set>

#include <halfbridge/ops.h>
#include <halfbridge/ops/amp.h>

#include "autograd/accumulate_grad.h"
#include "overflow_tracer.h"

namespace hb::amp {

std::string Overflow::str() const {
  std::string text = detail::str("step ", step, " skipped at scale ", scale, ": ");
  if (rank >= 0) text += detail::str("on rank ", rank, " ");
  if (operation.empty()) {
    text += "no operation made the first inf or NaN; it was put into a gradient";
  } else {
    text += detail::str(operation, " in ", layer.empty() ? "the model itself or outside of it" : "layer " + layer,
                        " made the first inf or NaN, in the ", in_forward ? "forward" : "backward", " pass");
  }
  if (!parameter.empty()) text += "; the first parameter it reached is " + parameter;
  return text;
}
std::ostream& operator<<(std::ostream& stream, const Overflow& overflow) { return stream << overflow.str(); }

namespace {

bool finite(const Tensor& t) {
  if (!t.defined() || !is_floating_type(t.scalar_type())) return true;
  return all_finite(t).item<bool>();
}
bool finite(const variable_list& tensors) {
  for (const Tensor& t : tensors)
    if (!finite(t)) return false;
  return true;
}

std::atomic<bool> at_work{false};

}  // namespace

OverflowTracer::OverflowTracer(bridge::nn::Module& model) : running_(std::make_shared<Running>()) {
  HB_CHECK(!at_work.exchange(true), "[trace_overflow] expected no other scaler to be tracing, got one");
  for (const auto& item : model.named_parameters()) names_[&item.value().impl()] = item.key();
  model.apply(std::function<void(const std::string&, bridge::nn::Module&)>(
      [this](const std::string& path, bridge::nn::Module& module) {
        const auto scope = module.register_forward_scope(
            [path, running = running_](bridge::nn::Module&) { return running->enter(running, path); });
        const auto alive = module.weak_from_this();
        watched_.push_back({&module, alive, !alive.expired(), scope});
      }));
}

std::shared_ptr<void> OverflowTracer::Running::enter(std::shared_ptr<Running> self, const std::string& layer) {
  const auto thread = std::this_thread::get_id();
  {
    const std::lock_guard lock(mutex);
    layers[thread].push_back(layer);
  }
  return {this, [self = std::move(self), thread](void*) {
            const std::lock_guard lock(self->mutex);
            auto& mine = self->layers[thread];
            mine.pop_back();
            if (mine.empty()) self->layers.erase(thread);
          }};
}
std::string OverflowTracer::Running::innermost() {
  const std::lock_guard lock(mutex);
  const auto mine = layers.find(std::this_thread::get_id());
  return mine == layers.end() ? std::string() : mine->second.back();
}

std::shared_ptr<OverflowTracer> OverflowTracer::start(bridge::nn::Module& model) {
  const std::shared_ptr<OverflowTracer> tracer(new OverflowTracer(model));
  GraphWatchers::attach(tracer);
  return {tracer.get(), [tracer](OverflowTracer*) { tracer->stop(); }};
}

// Another thread's pass may still tell it of something after that.
void OverflowTracer::stop() {
  GraphWatchers::detach(*this);
  at_work = false;
  for (const Watched& w : watched_)
    if (!w.counted || !w.alive.expired()) w.module->remove_hook(w.scope);
}

void OverflowTracer::inputs(const Node& node, ArrayRef<const Tensor*> inputs) {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  const Unwatched guard;
  Seen& seen = seen_[&node];
  seen = Seen();
  seen.layer = running_->innermost();
  for (const Tensor* t : inputs) seen.bad_inputs = seen.bad_inputs || !finite(*t);
}

void OverflowTracer::result(const Node& node, const Tensor& result) {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  const Unwatched guard;
  Seen& seen = seen_[&node];
  seen.bad_result = seen.bad_result || !finite(result);
}

const std::string& OverflowTracer::layer_of(const Node& node) const {
  static const std::string none;
  const auto found = seen_.find(&node);
  return found == seen_.end() ? none : found->second.layer;
}

void OverflowTracer::blame(bool forward, std::string operation, const std::string& layer) {
  if (blamed_) return;
  blamed_ = true;
  found_.in_forward = forward;
  found_.operation = std::move(operation);
  found_.layer = layer;
}

void OverflowTracer::arrived(const Node& node, const variable_list& grads) {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  const Unwatched guard;
  if (finite(grads)) return;
  // No operation made it: finite gradients were summed or cast, or a hook put it there.
  const auto* leaf = dynamic_cast<const AccumulateGrad*>(&node);
  blame(false, leaf ? "the sum or cast of a gradient" : "the sum or cast of the gradient for " + node.name(),
        layer_of(node));
  if (!leaf || !found_.parameter.empty()) return;
  const auto name = names_.find(&leaf->variable.impl());
  if (name != names_.end()) found_.parameter = name->second;
}

void OverflowTracer::evaluated(const Node& node, const variable_list& grads) {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  const Unwatched guard;
  if (!blamed_ && !finite(grads)) blame(false, node.name(), layer_of(node));
}

void OverflowTracer::loss_was_scaled(const Tensor& scaled) {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  const Unwatched guard;
  if (blamed_ || finite(scaled) || !scaled.grad_fn()) return;
  // Back along values that are not finite; an infinite mask that a later operation absorbed is not an overflow.
  const Node* first = nullptr;
  std::vector<const Node*> todo{scaled.grad_fn().get()};
  std::unordered_set<const Node*> visited;
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    const auto found = seen_.find(node);
    if (found == seen_.end() || !found->second.bad_result || !visited.insert(node).second) continue;
    if (!first || node->sequence_nr() < first->sequence_nr()) first = node;
    for (const Edge& e : node->next_edges())
      if (e.is_valid()) todo.push_back(e.function.get());
  }
  if (!first) return;
  const Seen& seen = seen_.at(first);
  blame(true, seen.bad_inputs ? "an input of " + first->name() : first->name(), seen.layer);
}

void OverflowTracer::look_at(const bridge::optim::Optimizer& optimizer, const std::vector<Tensor>& grads) {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  const Unwatched guard;
  if (!found_.parameter.empty()) return;
  // The backward pass reaches the last parameters first.
  std::vector<const Tensor*> params;
  for (const auto& group : optimizer.param_groups())
    for (const Tensor& p : group.params()) params.push_back(&p);
  for (size_t i = grads.size(); i-- > 0;) {
    if (finite(grads[i])) continue;
    const auto name = names_.find(&params[i]->impl());
    if (name != names_.end()) found_.parameter = name->second;
    return;
  }
}

void OverflowTracer::next_step() {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  seen_.clear();
  blamed_ = false;
  found_ = Overflow();
}

}  // namespace hb::amp
