#include <atomic>
#include <mutex>

#include <halfbridge/autograd.h>

#include "autograd/accumulate_grad.h"
#include "autograd/arithmetic.h"
#include "autograd/data_calls.h"
#include "autograd/history.h"
#include "autograd/record.h"
#include "autograd/weak_tensor.h"
#include "core/function_watch.h"
#include "core/mutex_table.h"
#include "core/pending.h"
#include "core/recorder.h"
#include "core/remains.h"

// The methods of Tensor that deal with gradients.
namespace hb {

Edge gradient_edge(const Tensor& tensor) {
  TensorImpl& impl = tensor.impl();
  if (!impl.autograd_meta()) return {};
  if (const auto& fn = tensor.grad_fn()) return {fn, impl.autograd_meta()->output_nr};
  AutogradMeta& meta = *impl.autograd_meta();
  if (!meta.requires_grad) return {};
  // Threads that share a weight may all be the first to use it.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto accumulator = meta.grad_accumulator.lock();
  if (!accumulator) {
    accumulator = std::make_shared<AccumulateGrad>(tensor);
    meta.grad_accumulator = accumulator;
  }
  return {accumulator, 0};
}

namespace {
/// A pass on one thread may write the gradient of a tensor that another gives up: the tensor's end waits for it.
/// Recursive, since other tensors may end meanwhile.
std::recursive_mutex& mutex_of(const std::shared_ptr<TensorImpl*>& slot) {
  static constinit MutexTable<std::recursive_mutex> mutexes;
  return mutexes.of(*slot);
}
void empty_slot(const std::shared_ptr<TensorImpl*>& slot) {
  const std::lock_guard lock(mutex_of(slot));
  std::atomic_ref(*slot).store(nullptr, std::memory_order_release);
}

/// What a tensor carries for autograd; null where it carries nothing.
AutogradMeta* meta_of(const Tensor& t) {
  HB_CHECK(t.defined(), "cannot call get_autograd_meta() on undefined tensor");
  return t.unsafeGetTensorImpl()->autograd_meta();
}

/// Before an alias is made; sparse tensors have nothing to settle.
void settle_strided(const Tensor& t) {
  if (t.layout() == kStrided) t.impl().settle();
}
}  // namespace

bool Tensor::requires_grad() const {
  if (!defined()) return false;
  const AutogradMeta* meta = impl().autograd_meta();
  if (!meta) return false;
  // A view says what its base says: one made in no_grad mode, though no gradient reaches it, and one whose history is
  // rebuilt when it is asked for, by another thread perhaps: so the base is asked first.
  return meta->requires_grad || (meta->base.defined() && meta->base.requires_grad()) || meta->grad_fn;
}

const std::shared_ptr<Node>& Tensor::grad_fn() const {
  static const std::shared_ptr<Node> none;
  AutogradMeta* meta = meta_of(*this);
  if (!meta) return none;
  if (meta->base.defined()) history::bring_up_to_date(*this);
  return meta->grad_fn;
}

const Tensor& Tensor::requires_grad_(bool requires_grad) const {
  HB_CHECK(!requires_grad || !defined() || is_differentiable_type(scalar_type()),
           "Only Tensors of floating point and complex dtype can require gradients, got ", scalar_type());
  if (!meta_of(*this) && !requires_grad) return *this;
  HB_CHECK(
      requires_grad || is_leaf(),
      "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph "
      "that doesn't require differentiation use var_no_grad = var.detach().");
  HB_CHECK(!requires_grad || !impl().is_inference() || InferenceMode::is_enabled(),
           "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  if (!is_leaf()) return *this;
  impl().materialize_autograd_meta().requires_grad = requires_grad;
  return *this;
}

const Tensor& Tensor::set_requires_grad(bool requires_grad) const {
  if (!requires_grad && (!defined() || !is_leaf())) return *this;  // its history says whether it does
  HB_CHECK(defined(), "Only Tensors of floating point and complex dtype can require gradients, got an undefined one");
  return requires_grad_(requires_grad);
}

bool Tensor::is_leaf() const {
  const AutogradMeta* meta = meta_of(*this);  // as in PyTorch a view is not brought up to date for this
  return !meta || !meta->grad_fn;
}
int64_t Tensor::output_nr() const {
  const AutogradMeta* meta = meta_of(*this);
  return meta ? meta->output_nr : 0;
}

namespace {
// Graph mode leaves gradients for later: the program gets none that is not written, and may write to it.
void write_if_late(const Tensor& grad) {
  if (HB_LIKELY(!pending::any()) || !grad.defined() || !grad.impl().is_deferred() || !grad.device().is_cpu()) return;
  if (grad.layout() == kStrided && pending::handles(*grad.impl().physical_storage()) > 0) grad.impl().settle();
}
}  // namespace

const Tensor& Tensor::grad() const {
  static const Tensor none;
  const AutogradMeta* meta = meta_of(*this);
  if (!meta) return none;
  capture::looks_at_gradient(*this);
  write_if_late(meta->grad);
  if (HB_UNLIKELY(meta->grad_fn && !meta->grad.defined() && !meta->retains_grad))
    detail::warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(), unless .retain_grad() is called on it.");
  return meta->grad;
}
Tensor& Tensor::mutable_grad() const {
  Tensor& grad = impl().materialize_autograd_meta().grad;
  capture::looks_at_gradient(*this);
  write_if_late(grad);
  return grad;
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::optional<TensorList> inputs) const {
  (void)meta_of(*this);
  HB_CHECK(!inputs || !inputs->empty(), "'inputs' argument to backward cannot be empty");
  autodiff::backward({*this}, {gradient}, retain_graph, create_graph, inputs ? inputs->vec() : variable_list{});
}

void Tensor::retain_grad() const {
  HB_CHECK(requires_grad(), "can't retain_grad on Tensor that has requires_grad=False");
  if (is_leaf()) return;
  AutogradMeta& meta = *impl().autograd_meta();
  if (meta.retains_grad) return;
  meta.retains_grad = true;
  // Weak: the graph must not keep the tensor that keeps the graph. The tensor is looked up by what it still is.
  auto slot = std::make_shared<TensorImpl*>(&impl());
  grad_fn()->hooks().retain_hooks.emplace_back(meta.output_nr, [slot](const Tensor& g) {
    Tensor before;  // freed when the lock is no longer held
    const std::lock_guard lock(mutex_of(slot));
    if (!*slot) return;
    Tensor& sum = (*slot)->autograd_meta()->grad;
    if (sum.defined()) {
      before = sum;
      sum = autodiff::arithmetic.add(before, g);
    } else {
      sum = autodiff::arithmetic.clone(GradMode::is_enabled() ? g : g.detach(), std::nullopt);
    }
  });
  if (meta.retain_slot) empty_slot(meta.retain_slot);  // the node of an earlier value no longer writes here
  meta.retain_slot = std::move(slot);
}
std::shared_ptr<TensorImpl*> detail::slot_of(const Tensor& tensor) {
  static std::mutex mutex;
  AutogradMeta& meta = tensor.impl().materialize_autograd_meta();
  const std::lock_guard lock(mutex);
  if (!meta.retain_slot) meta.retain_slot = std::make_shared<TensorImpl*>(&tensor.impl());
  return meta.retain_slot;
}
bool Tensor::retains_grad() const {
  const AutogradMeta* meta = meta_of(*this);
  return meta && meta->retains_grad;
}
AutogradMeta::~AutogradMeta() {
  if (retain_slot) empty_slot(retain_slot);
  if (grad_fn.use_count() == 1) detail::free_in_turn(std::move(grad_fn));
  for (Tensor* t : {&grad, &base})
    if (t->defined() && t->use_count() == 1) detail::free_in_turn(std::move(*t));
  if (!leaf_hooks.empty()) detail::free_list_in_turn(leaf_hooks);
}

unsigned Tensor::add_hook(std::function<Tensor(const Tensor&)> hook) const {
  HB_CHECK(requires_grad(), "cannot register a hook on a variable that doesn't require gradient");
  if (const auto& fn = grad_fn()) return fn->add_tensor_hook(impl().autograd_meta()->output_nr, std::move(hook));
  auto& hooks = impl().autograd_meta()->leaf_hooks;
  hooks.push_back(std::move(hook));
  return static_cast<unsigned>(hooks.size() - 1);
}
void Tensor::remove_hook(unsigned position) const {
  HB_CHECK(impl().autograd_meta(), "Invalid index, no hook at position ", position);
  if (const auto& fn = grad_fn()) return fn->remove_tensor_hook(impl().autograd_meta()->output_nr, position);
  auto& hooks = impl().autograd_meta()->leaf_hooks;
  HB_CHECK(position < hooks.size(), "Invalid index, no hook at position ", position);
  hooks[position] = nullptr;
}

// --- without history

namespace {
Tensor detach(const Tensor& self) {
  HB_OBSERVED(detach, self);
  settle_strided(self);
  Tensor t(self.impl().alias(true));
  if (self.is_view()) {
    AutogradMeta& meta = t.impl().materialize_autograd_meta();
    meta.created_in_no_grad = self.impl().autograd_meta()->created_in_no_grad;
  }
  return t;
}
}  // namespace

Tensor Tensor::detach() const { return hb::detach(*this); }

Tensor& Tensor::detach_() const {
  Tensor& self = const_cast<Tensor&>(*this);
  if (InferenceMode::is_enabled()) return self;  // as in LibTorch, where nothing of autograd's runs there
  HB_CHECK(!is_view(), "Can't detach views in-place. Use detach() instead.");
  AutogradMeta* meta = impl().autograd_meta();
  if (!meta) return self;
  meta->grad_fn.reset();
  meta->output_nr = 0;
  meta->requires_grad = false;
  return self;
}

Tensor Tensor::data() const {
  HB_CHECK(defined(), "cannot call variable_data() on undefined tensor");
  settle_strided(*this);
  capture::uses(*this);
  if (requires_grad()) ++data_calls;  // half copies of the weight may be out of date from now on
  return Tensor(impl().alias(false));
}

void Tensor::set_data(const Tensor& new_data) const {
  HB_CHECK(defined() && new_data.defined() && is_meta() == new_data.is_meta(),
           "[set_data] Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible "
           "tensor type: one has values and the other, a meta or an undefined tensor, has none");
  HB_CHECK(!requires_grad() || is_differentiable_type(new_data.scalar_type()),
           "data set to a tensor that requires gradients must be floating point or complex dtype, got ",
           new_data.scalar_type());
  settle_strided(new_data);
  settle_strided(*this);
  // The accumulator checks gradients against shape and dtype: a new one is made when they change.
  if (AutogradMeta* meta = impl().autograd_meta();
      meta && (scalar_type() != new_data.scalar_type() || impl().sizes() != new_data.impl().sizes()))
    if (auto accumulator = meta->grad_accumulator.lock()) {
      meta->grad_accumulator.reset();
    }
  impl().share_data_of(new_data.impl());
  if (requires_grad()) ++data_calls;
}

int64_t Tensor::_version() const {
  if (!defined()) return 0;
  HB_CHECK(!impl().is_inference(), "[_version] Inference tensors do not track version counter.");
  return impl().seen_version();
}

bool Tensor::is_view() const {
  const AutogradMeta* meta = meta_of(*this);
  return meta && meta->base.defined();
}
const Tensor& Tensor::_base() const {
  HB_CHECK(is_view(), "Can't get base of non-view Variable");
  return impl().autograd_meta()->base;
}
const std::string& Tensor::name() const {
  static const std::string none;
  const AutogradMeta* meta = impl().autograd_meta();
  return meta ? meta->name : none;
}

}  // namespace hb
