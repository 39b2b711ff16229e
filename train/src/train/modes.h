#pragma once

#include <utility>
#include <vector>

#include <halfbridge/bridge/nn/module.h>

namespace hb::train {

/// Puts a network into evaluation mode, and every module back into its own at the end of the scope.
class EvalMode {
 public:
  explicit EvalMode(bridge::nn::Module& net) {
    net.apply([this](bridge::nn::Module& m) { modes_.emplace_back(&m, m.is_training()); });
    net.eval();
  }
  ~EvalMode() {
    // Parents come first: each sets everything below it.
    for (auto& [module, training] : modes_) module->train(training);
  }
  EvalMode(const EvalMode&) = delete;
  EvalMode& operator=(const EvalMode&) = delete;

 private:
  std::vector<std::pair<bridge::nn::Module*, bool>> modes_;
};

}  // namespace hb::train
