#include <halfbridge/bridge/nn/hooks.h>

#include <algorithm>

#include <halfbridge/bridge/nn/module.h>

#include "autograd/record.h"

namespace hb::bridge::nn {

namespace detail {

/// Hooks of one kind, in the order in which they were registered. A copy of the list, which a call takes when it
/// begins, holds the same hooks, so that a hook may remove itself or register others.
template <class Hook>
using HookTable = std::vector<std::pair<unsigned, std::shared_ptr<Hook>>>;

struct ModuleHooks {
  HookTable<ForwardPreHook> pre;
  HookTable<ForwardHook> post;
  HookTable<FullBackwardHook> backward;
  HookTable<ForwardScope> scopes;
  unsigned next = 0;

  ModuleHooks() = default;
  /// Hooks of its own, as a copy of the module has them.
  ModuleHooks(const ModuleHooks& other);
  ModuleHooks& operator=(const ModuleHooks&) = delete;
  bool empty() const { return pre.empty() && post.empty() && backward.empty() && scopes.empty(); }
  /// False where there is none of this number.
  bool remove(unsigned handle);
};

}  // namespace detail

using detail::HookTable;

namespace {

// Passes values on unchanged and shows their gradients to a function.
class GradientTap final : public Node {
 public:
  using Fn = std::function<variable_list(variable_list)>;
  explicit GradientTap(Fn fn) : fn_(std::move(fn)) {}
  std::string name() const override { return "BackwardHookFunctionBackward"; }
  bool accepts_undefined() const override { return true; }
  variable_list apply(variable_list&& grads) override { return fn_(std::move(grads)); }

 private:
  Fn fn_;
};

// Replaces those of the tensors that require a gradient by aliases whose gradient passes through `fn` together.
bool tap(const TensorPointers& tensors, const std::function<variable_list(variable_list)>& fn) {
  if (!GradMode::is_enabled()) return false;
  TensorPointers tapped;
  for (Tensor* t : tensors)
    if (t->defined() && t->requires_grad()) tapped.push_back(t);
  if (tapped.empty()) return false;
  auto node = std::make_shared<GradientTap>(fn);
  std::vector<const Tensor*> inputs(tapped.begin(), tapped.end());
  hb::detail::collect_edges(*node, inputs);
  variable_list aliases;
  for (Tensor* t : tapped) aliases.push_back(t->detach());
  TensorPointers results;
  for (auto& a : aliases) results.push_back(&a);
  hb::detail::attach_all(node, results);
  for (size_t i = 0; i < tapped.size(); ++i) *tapped[i] = aliases[i];
  return true;
}

variable_list values_of(const TensorPointers& tensors) {
  variable_list values;
  for (const Tensor* t : tensors) values.push_back(*t);
  return values;
}

void replace(const char* hook, const TensorPointers& tensors, const variable_list& values) {
  if (values.empty()) return;
  HB_CHECK(values.size() == tensors.size(), "[", hook, "] expected the hook to return ", tensors.size(),
           " tensors, got ", values.size());
  for (size_t i = 0; i < tensors.size(); ++i) *tensors[i] = values[i];
}

template <class T>
bool drop(T& table, unsigned handle) {
  auto it = std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.first == handle; });
  if (it == table.end()) return false;
  table.erase(it);
  return true;
}

template <class Hook>
HookTable<Hook> copies_of(const HookTable<Hook>& table) {
  HookTable<Hook> copies;
  for (const auto& [handle, hook] : table) copies.emplace_back(handle, std::make_shared<Hook>(*hook));
  return copies;
}

template <class Hook>
unsigned add(HookTable<Hook>& table, unsigned handle, Hook hook) {
  table.emplace_back(handle, std::make_shared<Hook>(std::move(hook)));
  return handle;
}

}  // namespace

namespace detail {

const ModuleHooks*& entered_hooks() {
  static thread_local constinit const ModuleHooks* hooks = nullptr;
  return hooks;
}

ModuleHooks::ModuleHooks(const ModuleHooks& o)
    : pre(copies_of(o.pre)),
      post(copies_of(o.post)),
      backward(copies_of(o.backward)),
      scopes(copies_of(o.scopes)),
      next(o.next) {}

bool no_hooks(const ModuleHooks& hooks) { return hooks.empty(); }

bool ModuleHooks::remove(unsigned handle) {
  return drop(pre, handle) || drop(post, handle) || drop(backward, handle) || drop(scopes, handle);
}

HookSlot::HookSlot() noexcept = default;
HookSlot::HookSlot(const HookSlot& o) : hooks_(o.hooks_ ? new ModuleHooks(*o.hooks_) : nullptr) {}
HookSlot::HookSlot(HookSlot&&) noexcept = default;
HookSlot& HookSlot::operator=(HookSlot o) noexcept { return hooks_ = std::move(o.hooks_), *this; }
HookSlot::~HookSlot() = default;
ModuleHooks& HookSlot::make() {
  if (!hooks_) hooks_ = Owned(new ModuleHooks());
  return *hooks_;
}

struct HookedCall::BackwardState {
  HookTable<FullBackwardHook> hooks;
  std::weak_ptr<Module> module;
  variable_list grad_outputs;
  bool inputs_tapped = false;

  variable_list run(variable_list grad_inputs) {
    auto owner = module.lock();
    if (!owner) return grad_inputs;
    for (auto& [handle, hook] : hooks) {
      variable_list replaced = (*hook)(*owner, grad_inputs, grad_outputs);
      if (replaced.empty()) continue;
      HB_CHECK(replaced.size() == grad_inputs.size(), "[full_backward_hook] expected the hook to return ",
               grad_inputs.size(), " gradients, got ", replaced.size());
      grad_inputs = std::move(replaced);
    }
    return grad_inputs;
  }
};

HookedCall::HookedCall(Module& module, ModuleHooks& hooks)
    : module_(module), hooks_(hooks), outer_(std::exchange(entered_hooks(), nullptr)) {}
HookedCall::~HookedCall() {
  entered_hooks() = outer_;
  leave_scopes();
}
void HookedCall::leave_scopes() {
  while (!scopes_.empty()) scopes_.pop_back();
}
void HookedCall::before(Tensor& input) { before(TensorPointers{&input}); }
void HookedCall::after(Tensor& output) { after(TensorPointers{&output}); }

void HookedCall::before(const TensorPointers& inputs) {
  for (const auto& [handle, hook] : HookTable<ForwardPreHook>(hooks_.pre))
    replace("forward_pre_hook", inputs, (*hook)(module_, values_of(inputs)));
  if (!hooks_.backward.empty()) {
    backward_ = std::make_shared<BackwardState>();
    backward_->hooks = hooks_.backward;
    backward_->module = module_.weak_from_this();
    HB_CHECK(!backward_->module.expired(), "[full_backward_hook] expected ", module_.name(),
             " to be held by a shared_ptr");
    backward_->inputs_tapped = tap(inputs, [state = backward_](variable_list g) { return state->run(std::move(g)); });
  }
  inputs_ = values_of(inputs);
  for (const auto& [handle, scope] : HookTable<ForwardScope>(hooks_.scopes)) scopes_.push_back((*scope)(module_));
}

void HookedCall::after(const TensorPointers& outputs) {
  entered_hooks() = nullptr;
  leave_scopes();
  for (const auto& [handle, hook] : HookTable<ForwardHook>(hooks_.post))
    replace("forward_hook", outputs, (*hook)(module_, inputs_, values_of(outputs)));
  if (!backward_) return;
  tap(outputs, [state = backward_](variable_list g) {
    state->grad_outputs = g;
    // Without an input that wants a gradient nothing comes after this.
    if (!state->inputs_tapped) state->run({});
    return g;
  });
}

}  // namespace detail

inline namespace modules {
unsigned Module::add_pre_hook(ForwardPreHook hook) {
  return add(hooks_.make().pre, hooks_.make().next++, std::move(hook));
}
unsigned Module::add_forward_hook(ForwardHook hook) {
  return add(hooks_.make().post, hooks_.make().next++, std::move(hook));
}
unsigned Module::add_backward_hook(FullBackwardHook hook) {
  return add(hooks_.make().backward, hooks_.make().next++, std::move(hook));
}
unsigned Module::add_scope(ForwardScope scope) {
  return add(hooks_.make().scopes, hooks_.make().next++, std::move(scope));
}
bool Module::remove_hook(unsigned handle) { return hooks_.get() && hooks_.get()->remove(handle); }
}  // namespace modules

}  // namespace hb::bridge::nn
