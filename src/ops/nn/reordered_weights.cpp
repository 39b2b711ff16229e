#include "ops/nn/reordered_weights.h"

#include <mutex>
#include <unordered_map>

#include <halfbridge/autograd.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "autograd/data_calls.h"
#include "autograd/weak_tensor.h"
#include "backend/conv.h"
#include "core/cuda_api.h"
#include "core/physical.h"
#include "ops/common/layout.h"

namespace hb::ops {
namespace {

struct Entry {
  WeakTensor of;
  Tensor values;
  const StorageImpl* storage = nullptr;  // the weight's
  uint32_t version = 0;
  uint64_t data_calls = 0;
};
struct Kept {
  std::mutex mutex;
  std::unordered_map<const TensorImpl*, Entry> entries;
  size_t look_at_size = 64;
};
Kept& kept() {
  static auto* const made = new Kept;
  return *made;
}

bool is_parameter(const Tensor& t) { return t.requires_grad() && t.is_leaf() && !t.is_view() && !t.is_inference(); }
/// Nobody else holds the weight's memory, or its address.
bool is_exclusive(const TensorImpl& impl) {
  const StorageImpl& storage = *impl.physical_storage();
  return storage.use_count() == 1 && !storage.is_borrowed() && !storage.address_shown();
}
bool is_current(const Entry& e, const TensorImpl& impl) {
  return e.values.defined() && e.values.scalar_type() == impl.dtype() && e.values.impl().sizes() == impl.sizes() &&
         e.storage == impl.physical_storage().get() && e.version == impl.version() &&
         e.data_calls == data_calls.load(std::memory_order_acquire);
}
void note(Entry& e, const TensorImpl& impl, Tensor values) {
  e.values = std::move(values), e.storage = impl.physical_storage().get(), e.version = impl.version();
  e.data_calls = data_calls.load(std::memory_order_acquire);
}

Entry& entry_of(Kept& k, const Tensor& t) {
  const auto known = k.entries.find(&t.impl());
  if (known != k.entries.end() && known->second.of.get() == &t.impl()) return known->second;
  // What is kept of weights that are gone goes whenever the number has doubled: a constant share of what made it.
  if (k.entries.size() >= k.look_at_size) {
    for (auto it = k.entries.begin(); it != k.entries.end();)
      it = it->second.of.is_gone() ? k.entries.erase(it) : std::next(it);
    k.look_at_size = std::max<size_t>(64, 2 * k.entries.size());
  }
  Entry& entry = k.entries[&t.impl()];
  entry = {};
  entry.of = WeakTensor(t);
  return entry;
}

int64_t inner_of(const DimVector& sizes) {
  int64_t n = 1;
  for (size_t d = 2; d < sizes.size(); ++d) n *= sizes[d];
  return n;
}

/// Transposes for each dtype's size, run together.
class Transposes {
 public:
  void add(const Tensor& out, const void* in, int64_t rows, int64_t cols) {
    device_ = out.device();
    lists_[out.impl().itemsize()].push_back({out.impl().raw_data(), in, out.size(0), rows, cols});
  }
  void run() const {
    for (const auto& [size, list] : lists_) transpose_list_kernel(device_)(size, list);
  }

 private:
  Device device_ = kCPU;
  std::unordered_map<size_t, std::vector<Transpose>> lists_;
};

bool is_dense_contiguous(const Tensor& t) { return t.impl().physically_contiguous() && t.numel() > 0; }

// A recorded graph brings weights to order in each launch: what is kept belongs to what runs outside of it.
bool is_recorded(const Device& device) {
  if (!device.is_cuda()) return false;
  CudaApi* const api = find_cuda_api();
  return api && api->is_capturing(api->current_stream(device.index()), device.index());
}

}  // namespace

bool wants_reordered_weights(const Device& device) { return transpose_list_kernel.available(device); }

Tensor reordered_weight(const Tensor& weight) {
  if (is_physically_channels_last(weight)) return physical(weight);
  if (!is_parameter(weight) || !is_dense_contiguous(weight) || is_recorded(weight.device()))
    return to_channels_last(weight);
  Kept& k = kept();
  const std::lock_guard lock(k.mutex);
  Entry& e = entry_of(k, weight);
  TensorImpl& impl = weight.impl();
  if (!is_exclusive(impl)) {
    e.values.reset();
    return to_channels_last(weight);
  }
  if (is_current(e, impl)) return e.values;
  e.values.reset();  // its memory serves the new one, unless a graph keeps it
  const InferenceMode no_inference(false);
  note(e, impl, to_channels_last(weight));
  return e.values;
}

void refresh_reordered_weights(TensorList weights) {
  Kept& k = kept();
  const std::lock_guard lock(k.mutex);
  if (k.entries.empty()) return;
  Transposes transposes;
  for (const Tensor& w : weights) {
    if (!w.defined() || w.layout() != kStrided || is_recorded(w.device())) continue;
    const auto known = k.entries.find(&w.impl());
    if (known == k.entries.end() || known->second.of.get() != &w.impl()) continue;
    Entry& e = known->second;
    const TensorImpl& impl = w.impl();
    if (!e.values.defined() || is_current(e, impl) || e.storage != impl.physical_storage().get() ||
        !is_exclusive(impl) || !is_parameter(w) || !is_dense_contiguous(w) || e.values.impl().sizes() != impl.sizes())
      continue;
    const bool kept_by_others = e.values.use_count() > 1 || e.values.impl().physical_storage()->use_count() > 1;
    const Tensor to = kept_by_others ? empty_same_layout(e.values) : e.values;
    transposes.add(to, impl.raw_data(), w.size(1), inner_of(impl.sizes()));
    note(e, impl, to);
  }
  transposes.run();
}

void settle_all(TensorList tensors) {
  Transposes transposes;
  std::vector<std::pair<const Tensor*, Tensor>> settled;
  for (const Tensor& t : tensors) {
    if (!t.defined() || t.layout() != kStrided || !t.impl().is_deferred() || t.numel() == 0) continue;
    if (!wants_reordered_weights(t.device()) || !is_physically_channels_last(t)) continue;
    const Tensor out = empty(t.sizes(), t.options());
    transposes.add(out, t.impl().raw_data(), inner_of(t.impl().sizes()), t.size(1));
    settled.emplace_back(&t, out);
  }
  transposes.run();
  for (auto& [tensor, out] : settled) tensor->impl().share_data_of(out.impl());
}

}  // namespace hb::ops
