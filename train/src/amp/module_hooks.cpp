#include "module_hooks.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <unordered_map>

#include <halfbridge/ops.h>

namespace hb::amp {

namespace nn = bridge::nn;

variable_list cast(const variable_list& tensors, ScalarType dtype) {
  variable_list result;
  for (const Tensor& t : tensors) {
    const bool fits = t.defined() && t.is_floating_point() && t.scalar_type() != kDouble && t.scalar_type() != dtype;
    result.push_back(fits ? t.to(dtype) : t);
  }
  return result;
}

namespace {
const Tensor* first_parameter(const nn::Module& module, Tensor& found) {
  for (const Tensor& p : module.parameters(/*recurse=*/false)) return found = p, &found;
  for (const auto& child : module.children())
    if (first_parameter(*child, found)) return &found;
  return nullptr;
}

// Hooks would show up in a module's files as buffers of its own, so this stands apart.
struct Entry {
  std::weak_ptr<const nn::Module> module;
  ModuleHooks hooks;
};
std::unordered_map<const nn::Module*, Entry>& entries() {
  // Never destroyed: threads may ask while the process ends.
  static auto& all = *new std::unordered_map<const nn::Module*, Entry>;
  return all;
}
std::mutex entries_mutex;
size_t look_at_size = 64;
}  // namespace

Device device_of(const nn::Module& module) {
  Tensor found;
  return first_parameter(module, found) ? found.device() : Device(kCPU);
}

void with_hooks(const nn::Module& module, const std::function<void(ModuleHooks&)>& f) {
  const std::lock_guard lock(entries_mutex);
  auto& all = entries();
  if (all.size() >= look_at_size) {
    for (auto it = all.begin(); it != all.end();) it = it->second.module.expired() ? all.erase(it) : std::next(it);
    look_at_size = std::max<size_t>(64, 2 * all.size());
  }
  Entry& entry = all[&module];
  if (entry.module.expired()) entry = {module.weak_from_this(), {}};
  f(entry.hooks);
}

void remove_level(nn::Module& net) {
  const auto remove = [](nn::Module& m) {
    with_hooks(m, [&](ModuleHooks& hooks) {
      for (const unsigned handle : hooks.level) m.remove_hook(handle);
      hooks.level.clear(), hooks.copies.reset();
    });
  };
  net.apply(remove);
}

}  // namespace hb::amp
