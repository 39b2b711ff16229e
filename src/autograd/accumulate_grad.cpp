#include "autograd/accumulate_grad.h"

#include <mutex>

#include <halfbridge/ops/factories.h>

#include "autograd/arithmetic.h"
#include "autograd/backward_pass.h"
#include "autograd/loss_scaling.h"
#include "core/geometry.h"
#include "core/mutex_table.h"
#include "core/physical.h"
#include "core/recorder.h"

namespace hb {

namespace {

using autodiff::arithmetic;
bool unshared(const Tensor& t, size_t handles) {
  return t.use_count() <= handles && t.impl().physical_storage().use_count() == 1 &&
         !t.impl().physical_storage()->is_borrowed();
}

bool lie_alike(const Tensor& a, const Tensor& b) {
  const Physical x(a), y(b);
  if (x->is_deferred() && y->physically_contiguous()) return true;  // the program sees it contiguous
  return x->physical_strides() == y->physical_strides() || (x->physically_contiguous() && y->physically_contiguous());
}

// A sparse and a strided gradient give a strided one.
Tensor sum_of_layouts(const Tensor& a, const Tensor& b) {
  return a.layout() != kStrided && b.layout() == kStrided ? arithmetic.add(b, a) : arithmetic.add(a, b);
}

// The first gradient of a leaf, or the next one, where one of them or the leaf is sparse.
void accumulate_layouts(Tensor& sum, const Tensor& g) {
  const bool graph = GradMode::is_enabled();
  if (!sum.defined())
    sum = arithmetic.clone(graph ? g : g.detach(), std::nullopt);
  else if (graph || (sum.layout() != kStrided && g.layout() == kStrided))
    sum = sum_of_layouts(sum, g);
  else
    arithmetic.add_(sum, g);  // handles to the gradient stay current
}

// Whether a leaf's first gradient, which is g, is to be copied to where the next reader wants it.
bool may_fill(const Tensor& destination, const Tensor& g) {
  return destination.defined() && destination.use_count() == 1 && g.scalar_type() == destination.scalar_type() &&
         g.impl().sizes() == destination.impl().sizes() && !capture::any_recording();
}

// Of the sum of a leaf. It belongs to the leaf, not to the node: a leaf has one node after the other where its graphs
// come and go, and two threads may each hold one of them.
std::mutex& mutex_of(const Tensor& leaf) {
  static constinit MutexTable<> mutexes;
  return mutexes.of(leaf.impl());
}
}  // namespace

AccumulateGrad::AccumulateGrad(Tensor leaf) : variable(std::move(leaf)) {
  add_input_metadata(variable);
  sequence_nr_ = UINT64_MAX;  // leaves come first: their gradients are freed early
}

void AccumulateGrad::set_destination(Tensor memory) {
  HB_CHECK(!memory.defined() || (memory.sizes() == variable.sizes() && memory.scalar_type() == variable.scalar_type() &&
                                 memory.device() == variable.device() && memory.is_contiguous()),
           "[AccumulateGrad] expected a contiguous destination like the leaf (", variable.toString(), " ",
           variable.sizes(), "), got ", memory.toString(), " ", memory.sizes());
  const std::lock_guard lock(mutex_of(variable));
  destination_ = std::move(memory);
}

Tensor AccumulateGrad::take_destination() const {
  const std::lock_guard lock(mutex_of(variable));
  const bool free = destination_.defined() && destination_.use_count() == 1 && !variable.grad().defined();
  return free && !capture::any_recording() ? destination_ : Tensor();
}

variable_list AccumulateGrad::apply(variable_list&& grads) {
  if (!grads[0].defined() || !variable.requires_grad()) return {};  // it may have been frozen since
  Tensor g = as_the_leaf_has_it(variable, std::move(grads[0]));
  const auto& hooks = variable.impl().materialize_autograd_meta().leaf_hooks;
  for (size_t i = 0, n = hooks.size(); i < n; ++i) apply_tensor_hook(hooks[i], i, g);
  add_to_leaf(variable, std::move(g), destination_);
  return {};
}

void add_to_leaf(const Tensor& leaf, Tensor g, const Tensor& destination) {
  if (HB_UNLIKELY(capture::any_recording()))
    if (capture::Recorder* r = capture::recorder()) r->leaf(leaf);
  const std::lock_guard lock(mutex_of(leaf));
  Tensor& sum = leaf.mutable_grad();
  if (HB_UNLIKELY(g.layout() != kStrided || leaf.layout() != kStrided || sum.layout() != kStrided)) {
    accumulate_layouts(sum, g);
  } else if (!sum.defined()) {
    const bool same_layout = lie_alike(g, leaf);
    if (!GradMode::is_enabled()) {
      if (g.is_same(destination)) {
        sum = std::move(g);
      } else if (may_fill(destination, g)) {
        Tensor filled = destination;
        arithmetic.copy_(filled, g);
        sum = std::move(filled);
      } else if (same_layout && unshared(g, 1)) {
        sum = g.requires_grad() ? g.detach() : std::move(g);
      } else {
        sum = empty_like(leaf, TensorOptions().dtype(g.scalar_type()));
        arithmetic.copy_(sum, g);
      }
    } else {
      sum = arithmetic.clone(g, same_layout ? std::nullopt : std::optional(MemoryFormat::Contiguous));
    }
  } else if (!GradMode::is_enabled()) {
    arithmetic.add_(sum, g);
  } else {
    sum = arithmetic.add(sum, g);
  }
}

bool has_gradient(const Tensor& leaf) {
  const std::lock_guard lock(mutex_of(leaf));
  const AutogradMeta* meta = leaf.impl().autograd_meta();
  return meta && meta->grad.defined();
}

bool unseen(const Tensor& t) {
  const TensorImpl& i = t.impl();
  return unshared(t, 1) && (i.physically_contiguous() || geometry::is_dense(i.sizes(), i.physical_strides()));
}

void accumulate(Tensor& sum, Tensor update) {
  if (!update.defined()) return;
  if (!sum.defined()) {
    sum = std::move(update);
    return;
  }
  if (HB_UNLIKELY(sum.layout() != kStrided || update.layout() != kStrided)) {
    if (!GradMode::is_enabled() && sum.layout() == kStrided && unseen(sum))
      arithmetic.add_(sum, update);
    else
      sum = sum_of_layouts(sum, update);
  } else if (GradMode::is_enabled()) {
    sum = arithmetic.add(sum, update);
  } else if (Tensor later = sum.device().is_cpu() ? Tensor() : arithmetic.late_sum(sum, update); later.defined()) {
    sum = std::move(later);
  } else if (unseen(sum)) {
    arithmetic.add_(sum, update);
  } else if (unseen(update)) {
    // The sum commutes bit for bit.
    arithmetic.add_(update, sum);
    sum = std::move(update);
  } else {
    sum = arithmetic.add(sum, update);
  }
}

}  // namespace hb
