#pragma once
// How tools learn of the modules that a program makes (the contract: core/watchers.h).

#include <halfbridge/bridge/nn/module.h>

#include "core/watchers.h"

namespace hb::bridge::nn {

class ModuleWatcher {
 public:
  virtual ~ModuleWatcher() = default;
  /// The module's base is complete, what derives from it is not yet. A copy has the hooks of its original. A module may
  /// be told of twice.
  virtual void made(Module& module, bool copy) = 0;
  virtual void gone(Module& module) = 0;
  /// A module was given a child, or lost one.
  virtual void children_changed() = 0;
};
using ModuleWatchers = Watchers<ModuleWatcher>;

}  // namespace hb::bridge::nn
