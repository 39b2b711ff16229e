// The state of a thread: what is on, the dtypes, the half copies of weights.
#include <algorithm>
#include <unordered_map>

#include <halfbridge/autograd.h>

#include "autocast/autocast.h"
#include "autocast/devices.h"
#include "autocast/level.h"
#include "autocast/snapshot.h"
#include "autograd/arithmetic.h"
#include "autograd/data_calls.h"
#include "autograd/weak_tensor.h"
#include "backend/elementwise.h"
#include "core/recorder.h"
#include "core/thread_object.h"

namespace hb {
namespace autocast {

namespace {

struct Settings {
  ScalarType dtypes[kDeviceSlots] = {kBFloat16, kHalf, kBFloat16, kHalf};
  DeviceType lists[kDeviceSlots] = {kCPU, kCUDA, kCUDA, kCUDA};
  bool cache_enabled = true;
  int nesting = 0;
};
thread_local constinit Settings settings;

/// A copy serves while its weight is what it was: PyTorch's goes on with what an optimizer has changed since.
struct Copy {
  Tensor weight;  // kept so that the key cannot be another tensor's
  Tensor half;
  uint32_t version = 0;
  uint64_t calls = 0;  // of data() and set_data()
  Copy() = default;
  Copy(const Tensor& of, const Tensor& values)
      : weight(of), half(values), version(of.impl().version()), calls(data_calls.load(std::memory_order_acquire)) {}
  bool is_current() const {
    return version == weight.impl().version() && calls == data_calls.load(std::memory_order_acquire);
  }
};
using CopyKey = std::pair<const TensorImpl*, ScalarType>;
struct HashKey {
  size_t operator()(const CopyKey& k) const {
    return std::hash<const void*>()(k.first) ^ static_cast<size_t>(k.second);
  }
};
std::unordered_map<CopyKey, Copy, HashKey>& copies() {
  return detail::thread_object<std::unordered_map<CopyKey, Copy, HashKey>>();
}

int checked_slot(DeviceType type) {
  const int slot = slot_of(type);
  HB_CHECK(slot >= 0, "[autocast] is not supported on device type ", type);
  return slot;
}

/// The parameters of a model: their casts are worth keeping while a guard lives.
bool is_weight(const Tensor& t) {
  return t.scalar_type() == kFloat && t.requires_grad() && t.is_leaf() && !t.is_view();
}

// Replays leave their copies here as the recorded step does.
void record_copy(const CopyKey& key, const Tensor& weight, const Tensor& half) {
  if (HB_LIKELY(!capture::any_recording())) return;
  const bool history = half.requires_grad();
  capture::keeps(half, [key, history, of = WeakTensor(weight)](const Tensor& values) {
    if (settings.nesting == 0 || of.get() != key.first) return;
    const Tensor weight(intrusive_ptr<TensorImpl>(of.get()));
    copies().insert_or_assign(key, Copy(weight, history ? recorded_copy(weight, values) : values));
  });
}

Tensor cached_copy(ScalarType to_type, const Tensor& weight) {
  auto& map = copies();
  const CopyKey key(&weight.impl(), to_type);
  const auto found = map.find(key);
  // A copy made without gradients would cut the weight off from the graph; a recorded step makes its own.
  if (found != map.end() && found->second.is_current() &&
      (found->second.half.requires_grad() || !GradMode::is_enabled()) && !capture::is_from_before(found->second.half))
    return found->second.half;
  Tensor half = autodiff::arithmetic.cast(weight, to_type);
  record_copy(key, weight, half);
  map.insert_or_assign(key, Copy(weight, half));
  return half;
}

// Under a level the values are shared by all passes, and the record of the cast by the uses of one guard: graphs of
// different passes have no node in common.
Tensor level_copy(ScalarType to_type, const Tensor& weight) {
  const Tensor values = current_level->copies->values(weight, to_type);
  if (!GradMode::is_enabled() || !weight.requires_grad()) return values;
  if (!settings.cache_enabled) return recorded_copy(weight, values);
  Copy& copy = copies()[CopyKey(&weight.impl(), to_type)];
  const bool of_these_values = copy.half.defined() && copy.half.requires_grad() &&
                               copy.half.impl().physical_storage() == values.impl().physical_storage();
  if (!of_these_values) copy = Copy(weight, recorded_copy(weight, values));
  return copy.half;
}

}  // namespace

int slot_of(DeviceType type) {
  switch (type) {
    case kCPU:
      return 0;
    case kCUDA:
      return 1;
    case kXLA:
      return 2;
    case kMPS:
      return 3;
    default:
      return -1;
  }
}

bool is_autocast_available(DeviceType type) { return slot_of(type) >= 0; }
bool is_autocast_enabled(DeviceType type) { return (active >> checked_slot(type) & 1) != 0; }
void set_autocast_enabled(DeviceType type, bool enabled) {
  const auto bit = static_cast<uint8_t>(1u << checked_slot(type));
  active = static_cast<uint8_t>(enabled ? active | bit : active & ~bit);
}
ScalarType get_autocast_dtype(DeviceType type) { return settings.dtypes[checked_slot(type)]; }
void set_autocast_dtype(DeviceType type, ScalarType dtype) { settings.dtypes[checked_slot(type)] = dtype; }
ScalarType get_lower_precision_fp_from_device_type(DeviceType type) { return get_autocast_dtype(type); }
bool is_autocast_cache_enabled() { return settings.cache_enabled; }
void set_autocast_cache_enabled(bool enabled) { settings.cache_enabled = enabled; }
void clear_cache() { copies().clear(); }
size_t cache_size() { return copies().size(); }
int increment_nesting() { return ++settings.nesting; }
int decrement_nesting() { return --settings.nesting; }

DeviceType get_op_list(DeviceType type) { return settings.lists[checked_slot(type)]; }
void set_op_list(DeviceType type, DeviceType list) {
  HB_CHECK(list == kCPU || list == kCUDA, "[autocast] expected the list of CPU or CUDA, got ", list);
  settings.lists[checked_slot(type)] = list;
}

bool is_eligible(const Tensor& arg, DeviceType type) {
  return arg.defined() && arg.device().type() == type && is_floating_type(arg.scalar_type()) &&
         arg.scalar_type() != kDouble;
}

Tensor cached_cast(ScalarType to_type, const Tensor& arg, DeviceType type) {
  if (!is_eligible(arg, type) || arg.scalar_type() == to_type) return arg;
  if (current_level && is_half_type(to_type) && current_level->copies->applies_to(arg)) return level_copy(to_type, arg);
  if (settings.cache_enabled && to_type == get_autocast_dtype(type) && is_weight(arg)) return cached_copy(to_type, arg);
  return autodiff::arithmetic.cast(arg, to_type);
}
std::optional<Tensor> cached_cast(ScalarType to_type, const std::optional<Tensor>& arg, DeviceType type) {
  return arg ? std::optional<Tensor>(cached_cast(to_type, *arg, type)) : std::nullopt;
}
std::vector<Tensor> cached_cast(ScalarType to_type, TensorList arg, DeviceType type) {
  std::vector<Tensor> out;
  out.reserve(arg.size());
  for (const Tensor& t : arg) out.push_back(cached_cast(to_type, t, type));
  return out;
}

Snapshot Snapshot::take() {
  Snapshot s;
  s.active = front::active & static_cast<uint8_t>(~kSeen), s.cache_enabled = settings.cache_enabled;
  std::copy_n(settings.dtypes, kDeviceSlots, s.dtypes);
  std::copy_n(settings.lists, kDeviceSlots, s.lists);
  if (current_level) s.level = current_level->shared_from_this();
  return s;
}
void Snapshot::apply() const {
  // Precision does not change who watches.
  front::active = static_cast<uint8_t>(active | (front::active & kSeen)), settings.cache_enabled = cache_enabled;
  std::copy_n(dtypes, kDeviceSlots, settings.dtypes);
  std::copy_n(lists, kDeviceSlots, settings.lists);
  current_level = level.get();  // who applies a snapshot keeps it
}

}  // namespace autocast

namespace {
bool device_exists(DeviceType type) { return type == kCPU || copy_kernel.available(type); }
bool usable(DeviceType type, ScalarType dtype) {
  if (!device_exists(type)) {
    detail::warn(detail::str("[autocast] device type ", type, " is not available: autocast is off for it"));
    return false;
  }
  if (!is_half_type(dtype)) {
    detail::warn(
        detail::str("[autocast] expected dtype Half or BFloat16 on ", type, ", got ", dtype, ": autocast is off"));
    return false;
  }
  return true;
}
}  // namespace

AutocastGuard::AutocastGuard(Device device, std::optional<ScalarType> dtype, bool enabled,
                             std::optional<bool> cache_enabled)
    : device_(device.type()),
      previous_dtype_(autocast::get_autocast_dtype(device_)),
      previous_enabled_(autocast::is_autocast_enabled(device_)),
      previous_cache_(autocast::is_autocast_cache_enabled()) {
  const ScalarType wanted = dtype.value_or(previous_dtype_);
  autocast::set_autocast_enabled(device_, enabled && usable(device_, wanted));
  autocast::set_autocast_dtype(device_, wanted);
  autocast::increment_nesting();
  autocast::set_autocast_cache_enabled(cache_enabled.value_or(previous_cache_));
}

AutocastGuard::~AutocastGuard() {
  if (autocast::decrement_nesting() == 0) autocast::clear_cache();
  autocast::set_autocast_enabled(device_, previous_enabled_);
  autocast::set_autocast_dtype(device_, previous_dtype_);
  autocast::set_autocast_cache_enabled(previous_cache_);
}

}  // namespace hb
