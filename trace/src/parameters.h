#pragma once
// Values and gradients of parameters, buffers, and optimizers' states.

#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <halfbridge/bridge/optim/optimizer.h>

#include "module_tree.h"
#include "recorder.h"

namespace hb::trace {

/// Guarded by its owner's lock.
class Parameters {
 public:
  Parameters(ModuleTree& tree, Recorder& recorder) : tree_(tree), recorder_(recorder) {}

  /// A module is called: its values, unless they were recorded.
  void module_called(const Module& module, int64_t step);
  void module_gone(const Module& module, int64_t step);
  /// `grads` as StepObserver has them.
  void step_begins(const bridge::optim::Optimizer& optimizer, const std::vector<Tensor>* grads, int64_t step);
  void step_ended(const bridge::optim::Optimizer& optimizer, int64_t step);
  /// Gradients that no step followed.
  void trace_ends(int64_t step);
  /// A gradient arrived at a leaf. Under no lock of the owner's.
  void touched(const Tensor& leaf) {
    const std::lock_guard lock(touched_mutex_);
    touched_.insert(&leaf.impl());
  }

 private:
  void write(Kind kind, int64_t step, const Module& module, const std::string& name, const Tensor& t,
             const Recorder::Remake& again = {});
  void write_value(int64_t step, const Module& module, const std::string& name, const Tensor& p);
  void write_gradient(int64_t step, const Tensor& parameter, const Tensor& grad);
  void write_gradients(int64_t step, const Module& module);
  void write_state(int64_t step, const bridge::optim::Optimizer& optimizer, const Tensor& parameter);
  void write_changed_buffers(int64_t step);

  struct Value {
    int64_t step;      // whose beginning it stands for
    uint32_t version;  // of buffers
  };
  using Key = std::pair<const Module*, std::string>;
  struct HashKey {
    size_t operator()(const Key& k) const {
      return std::hash<const void*>()(k.first) ^ std::hash<std::string>()(k.second);
    }
  };
  ModuleTree& tree_;
  Recorder& recorder_;
  std::unordered_map<Key, Value, HashKey> values_;   // on record
  std::unordered_set<const Module*> called_;         // in this step
  std::unordered_set<const TensorImpl*> gradients_;  // on record, of this step
  std::mutex touched_mutex_;
  std::unordered_set<const TensorImpl*> touched_;  // leaves that got a gradient that no step has used
};

}  // namespace hb::trace
