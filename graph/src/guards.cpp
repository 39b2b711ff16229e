// What has to be as it was for a graph to be replayed.
#include <halfbridge/grad_mode.h>
#include <halfbridge/threads.h>

#include "program.h"

namespace hb::graph {

Surroundings Surroundings::now() {
  return {GradMode::is_enabled(),
          InferenceMode::is_enabled(),
          get_num_threads(),
          get_default_dtype(),
          capture::module_modes.load(std::memory_order_relaxed),
          autocast::Snapshot::take()};
}

const char* Surroundings::differs(const Surroundings& o) const {
  if (grad_mode != o.grad_mode) return "grad mode";
  if (inference_mode != o.inference_mode) return "inference mode";
  if (default_dtype != o.default_dtype) return "the default dtype";
  if (threads != o.threads) return "the number of threads";
  if (module_modes != o.module_modes) return "train() or eval() of a module";
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

bool Signature::fits(const Tensor& tensor) const {
  if (tensor.defined() != defined) return false;
  if (!defined) return true;
  TensorImpl& t = tensor.impl();
  if (t.is_sparse()) return false;
  t.settle();
  return t.dtype() == dtype && t.is_wrapped_number() == number && t.device() == device && t.sizes() == sizes &&
         t.physical_strides() == strides && t.physical_offset() == offset;
}

}  // namespace hb::graph
