#pragma once
// How a trace learns of the modules that a program makes. As a rule nobody looks.

#include <atomic>

#include <halfbridge/bridge/nn/module.h>

namespace hb::bridge::nn {

class ModuleWatcher {
 public:
  virtual ~ModuleWatcher() = default;
  /// Its base is complete, what derives from it is not. A copy has the hooks of its original.
  virtual void made(Module& module, bool copy) = 0;
  virtual void gone(Module& module) = 0;
  /// A module was given a child, or lost one.
  virtual void children_changed() = 0;
};

inline std::atomic<ModuleWatcher*> module_watcher_slot{nullptr};
template <class F>
void tell_module_watcher(const F& f) {
  if (ModuleWatcher* w = module_watcher_slot.load(std::memory_order_acquire); HB_UNLIKELY(w != nullptr)) f(*w);
}

}  // namespace hb::bridge::nn
