// What has to be as it was for a graph to be replayed.
#include <algorithm>
#include <cstring>

#include <halfbridge/autograd.h>
#include <halfbridge/bridge/context.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/threads.h>

#include "core/watch_call.h"
#include "program.h"

namespace hb::graph {

bool requires_grad(const TensorImpl& t) {
  const AutogradMeta* meta = t.autograd_meta();
  return meta && (meta->requires_grad || meta->grad_fn);
}

size_t hooks_of(const TensorImpl& t) {
  const AutogradMeta* meta = t.autograd_meta();
  if (!meta || meta->leaf_hooks.empty()) return 0;
  const auto& hooks = meta->leaf_hooks;  // one that is removed leaves its place empty
  const auto there = std::count_if(hooks.begin(), hooks.end(), [](const auto& hook) { return hook != nullptr; });
  return hooks.size() << 32 | static_cast<size_t>(there);
}

namespace {
/// What decides which kernels a function calls, and whether it may be called.
unsigned context_settings() {
  const bridge::Context& c = bridge::globalContext();
  unsigned bits = 0;
  for (const bool on :
       {c.userEnabledFlashSDP(), c.userEnabledMathSDP(), c.allowFP16BF16ReductionMathSDP(), c.deterministicAlgorithms(),
        c.deterministicAlgorithmsWarnOnly(), c.deterministicFillUninitializedMemory()})
    bits = bits * 2 + static_cast<unsigned>(on);
  return bits;
}
}  // namespace

Surroundings Surroundings::now() {
  const capture::ReplayWatcher* const watcher = capture::replay_watcher();
  return {GradMode::is_enabled(),     InferenceMode::is_enabled(),
          get_num_threads(),          get_default_dtype(),
          context_settings(),         capture::module_modes.load(std::memory_order_relaxed),
          autocast::Snapshot::take(), watcher ? watcher->wish() : 0};
}

const char* Surroundings::differs(const Surroundings& o) const {
  if (grad_mode != o.grad_mode) return "grad mode";
  if (inference_mode != o.inference_mode) return "inference mode";
  if (default_dtype != o.default_dtype) return "the default dtype";
  if (settings != o.settings) return "settings of Context";
  if (threads != o.threads) return "the number of threads";
  if (module_modes != o.module_modes) return "train() or eval() of a module";
  if (watched != o.watched) return "what a trace records";
  const autocast::Snapshot &a = autocast, &b = o.autocast;
  bool same = a.active == b.active && a.cache_enabled == b.cache_enabled && a.level == b.level;
  for (int d = 0; d < autocast::kDeviceSlots; ++d)
    same = same && a.dtypes[d] == b.dtypes[d] && a.lists[d] == b.lists[d];
  return same ? nullptr : "autocast";
}

std::vector<Signature> Signature::of(const std::vector<Tensor>& tensors) {
  std::vector<Signature> list(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined()) continue;
    TensorImpl& t = tensors[i].impl();
    Signature& s = list[i];
    t.settle();
    s = {true, t.is_wrapped_number(), t.dtype(), t.device(), t.sizes(), t.physical_strides(), t.physical_offset()};
    for (size_t j = i; j-- > 0;)
      if (tensors[j].defined() && tensors[j].impl().physical_storage() == t.physical_storage())
        s.same_memory_as = static_cast<int>(j);
  }
  return list;
}

namespace {
// Few numbers, of many tensors, at each replay: calls of memcmp would cost more than they compare.
bool same(const DimVector& a, const DimVector& b) {
  if (a.size() != b.size()) return false;
  const int64_t *const x = a.data(), *const y = b.data();
  for (size_t i = 0; i < a.size(); ++i)
    if (x[i] != y[i]) return false;
  return true;
}

bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return x < y + b_bytes && y < x + a_bytes;
}
bool overlap(const StorageImpl& a, const StorageImpl& b) {
  return &a == &b || overlap(a.data(), a.nbytes(), b.data(), b.nbytes());
}
}  // namespace

bool Signature::fits(const Tensor& tensor) const {
  if (tensor.defined() != defined) return false;
  if (!defined) return true;
  TensorImpl& t = tensor.impl();
  if (t.layout() != kStrided) return false;
  t.settle();
  return t.dtype() == dtype && t.is_wrapped_number() == number && t.device() == device && same(t.sizes(), sizes) &&
         same(t.physical_strides(), strides) && t.physical_offset() == offset;
}

const char* Program::outside_mismatch() const {
  for (const Guarded& g : guarded_) {
    const TensorImpl& t = g.tensor->impl();
    if (!held_elsewhere(g.tensor)) return "a tensor that the step used is gone";
    if (t.physical_storage().get() != g.storage || g.storage->data() != g.data || t.physical_offset() != g.offset)
      return "a tensor that the step used has other memory";
    if (!same(t.sizes(), g.sizes) || !same(t.physical_strides(), g.strides) || t.dtype() != g.dtype)
      return "a tensor that the step used has another shape or dtype";
    if (requires_grad(t) != g.requires_grad) return "requires_grad of a tensor that the step used";
    if (hooks_of(t) != g.hooks) return "hooks of a tensor that the step used";
  }
  for (const Anonymous& a : anonymous_)
    if (!held_elsewhere(a.storage) || (*a.storage)->data() != a.data) return "memory that the step used is gone";
  return nullptr;
}

const char* Program::leaf_mismatch() const {
  for (const LeafState& l : leaves_) {
    if (l.any) continue;
    const AutogradMeta* meta = l.leaf->impl().autograd_meta();
    const bool has = meta && meta->grad.defined();
    if (has != l.had_gradient) return has ? "a gradient that was not there" : "a gradient that is not there";
    if (has && !meta->grad.is_same(*l.before)) return "a gradient is another tensor";
  }
  return nullptr;
}

// Whether an argument is no longer the tensor that it was, which is still there: only a comparison shows whether the
// step meant its argument or that tensor.
bool Program::has_other_inputs(const std::vector<Tensor>& inputs) {
  const auto is_it = [&](const RecordedInput& known) {
    return inputs[known.at].defined() && &inputs[known.at].impl() == known.impl;
  };
  if (std::all_of(recorded_inputs_.begin(), recorded_inputs_.end(), is_it)) return false;
  std::erase_if(recorded_inputs_, [](const RecordedInput& known) { return known.tensor.is_gone(); });
  return !std::all_of(recorded_inputs_.begin(), recorded_inputs_.end(), is_it);
}
void Program::did_the_same_with(const std::vector<const TensorImpl*>& inputs) {
  std::erase_if(recorded_inputs_, [&](const RecordedInput& known) {
    return std::find(inputs.begin(), inputs.end(), known.impl) == inputs.end();
  });
}

const char* Program::mismatch(const std::vector<Tensor>& inputs, const std::vector<double>& numbers,
                              const Surroundings& surroundings) {
  if (inputs.size() != inputs_.size()) return "the number of arguments";
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs_[i].fits(inputs[i])) return "shape, dtype or layout of an argument";
    if (!inputs[i].defined()) continue;
    if (requires_grad(inputs[i].impl())) return "an argument that requires a gradient";
    for (size_t j = 0; j < i; ++j)
      if (inputs[j].defined() && inputs_[i].same_memory_as != static_cast<int>(j) && inputs_[j].same_memory_as < 0 &&
          overlap(*inputs[i].impl().physical_storage(), *inputs[j].impl().physical_storage()))
        return "arguments that share memory";
    if (const int j = inputs_[i].same_memory_as;
        j >= 0 && inputs[j].impl().physical_storage() != inputs[i].impl().physical_storage())
      return "arguments that shared memory";
    const StorageImpl& storage = *inputs[i].impl().physical_storage();
    for (const Guarded& g : guarded_)
      if (overlap(g.data, g.bytes, storage.data(), storage.nbytes()))
        return "an argument in the memory of a tensor of the step";
  }
  if (numbers.size() != numbers_.size() ||
      (!numbers.empty() && std::memcmp(numbers.data(), numbers_.data(), numbers.size() * sizeof(double)) != 0))
    return "a number among the arguments";
  if (const char* what = surroundings_.differs(surroundings)) return what;
  if (const char* what = outside_mismatch()) return what;
  if (const char* what = leaf_mismatch()) return what;
  if (const char* what = objects_->differs()) return what;
  for (const capture::Differs& differs : conditions_)
    if (const char* what = differs()) return what;
  for (const int i : refreshed_)
    if (!calls_[i].refresh(*calls_[i].call, capture::Numbers::update)) return "options of an optimizer";
  return nullptr;
}

}  // namespace hb::graph
