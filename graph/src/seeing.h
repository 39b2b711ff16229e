#pragma once
// Tells a recording which tensors functions are about to use.

#include "core/function_watch.h"
#include "core/recorder.h"

namespace hb::graph {

class Seeing final : public FunctionWatcher {
 public:
  std::shared_ptr<void> begin(WatchedCall& call) override {
    for (const Tensor* t : call.inputs) capture::uses(*t);
    return nullptr;
  }
  void end(WatchedCall&, const std::shared_ptr<void>&, ArrayRef<const Tensor*>) override {}
  void abandon(WatchedCall&, const std::shared_ptr<void>&) override {}
  /// A view that the step makes of a tensor of the program's stands for that tensor.
  bool sees_everything() const override { return true; }
};

/// Tools that see functions, modules and steps: a replay has none.
bool watched();

}  // namespace hb::graph
