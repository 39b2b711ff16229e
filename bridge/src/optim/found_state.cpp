#include "found_state.h"

#include <mutex>
#include <unordered_map>

#include <halfbridge/autograd.h>

#include "core/recorder.h"

namespace hb::bridge::optim {

namespace {
/// Optimizers that graphs know of. Never destroyed: optimizers may end with the process.
struct Known {
  std::mutex mutex;
  std::unordered_map<const Optimizer*, std::shared_ptr<bool>> there;
};
Known& known() {
  static Known* const all = new Known;
  return *all;
}

std::shared_ptr<const bool> watch_end(const Optimizer& optimizer) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  auto& there = all.there[&optimizer];
  if (!there) there = std::make_shared<bool>(true);
  return there;
}

const TensorImpl* gradient_of(const Tensor& param) {
  const AutogradMeta* const meta = param.impl().autograd_meta();
  return meta && meta->grad.defined() ? &meta->grad.impl() : nullptr;
}
}  // namespace

void tell_end(const Optimizer& optimizer) noexcept {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  const auto at = all.there.find(&optimizer);
  if (at == all.there.end()) return;
  *at->second = false;
  all.there.erase(at);
}

FoundState::FoundState(const Optimizer& optimizer)
    : optimizer_(optimizer), there_(watch_end(optimizer)), master_weights_(optimizer.uses_master_weights()) {}

void FoundState::add_group(const OptimizerParamGroup& group) { groups_.push_back({&group.options(), {}}); }
void FoundState::add_param(const Tensor& param, const Tensor& gradient) {
  const TensorImpl* const own = gradient_of(param);
  const bool made = own && hb::capture::recorder()->was_made(param.grad());
  const bool given = own != (gradient.defined() ? &gradient.impl() : nullptr);
  groups_.back().params.push_back({&param.impl(), made || given, own, nullptr, {}});
}
void FoundState::add_state(OptimizerParamState& state, Tensor* const* tensors, int count) {
  Param& p = groups_.back().params.back();
  const auto keep = [&](Tensor& t) {
    if (t.defined()) p.tensors.push_back({&t, &t.impl()});
  };
  p.state = &state;
  keep(state.master_weight());
  for (int i = 0; i < count; ++i)
    if (tensors[i]) keep(*tensors[i]);
}

bool FoundState::same(const Param& was) const {
  if (!was.state) return true;
  const auto at = optimizer_.state().find(const_cast<TensorImpl*>(was.param));
  if (at == optimizer_.state().end() || at->second.get() != was.state) return false;
  for (const Kept& t : was.tensors)
    if (t.place->unsafeGetTensorImpl() != t.tensor) return false;
  return true;
}

const char* FoundState::differs() const {
  if (!*there_) return "an optimizer is gone";
  const auto& groups = optimizer_.param_groups();
  if (groups.size() != groups_.size()) return "the groups of an optimizer";
  if (optimizer_.uses_master_weights() != master_weights_) return "master weights of an optimizer";
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto& params = groups[g].params();
    const Group& was = groups_[g];
    if (!groups[g].has_options() || &groups[g].options() != was.options) return "the options of an optimizer";
    if (params.size() != was.params.size()) return "the parameters of an optimizer";
    for (size_t i = 0; i < params.size(); ++i) {
      if (params[i].unsafeGetTensorImpl() != was.params[i].param) return "the parameters of an optimizer";
      if (!was.params[i].any_gradient && gradient_of(params[i]) != was.params[i].gradient)
        return "a gradient is another tensor";
      if (!same(was.params[i])) return "the state of an optimizer";
    }
  }
  return nullptr;
}

}  // namespace hb::bridge::optim
