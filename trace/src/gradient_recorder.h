#pragma once
// HALFBRIDGE_AMP_REPORT=FILE: counts the gradients of a program that knows nothing of it.

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include <halfbridge/trace/gradient_counts.h>

#include "autograd/watch.h"
#include "module_tree.h"
#include "nn/core/module_watch.h"
#include "optim/step_observer.h"

namespace hb::trace {

/// Counts what the backward pass finds for the outputs of layers and for leaves, divided by the scale of the loss:
/// before anything is clipped or added up over batches, as fp16 would have to hold it. Lives until the process ends.
class GradientRecorder final : public bridge::nn::ModuleWatcher,
                               public GraphWatcher,
                               public bridge::optim::StepObserver {
 public:
  /// Writes a first record, so that a file that cannot be written is an error now.
  explicit GradientRecorder(std::string file);
  /// From now on; writes the last record when the process ends.
  void open();

  void made(Module& module, bool copy) override;
  void gone(Module& module) override;
  void children_changed() override;

  void inputs(const Node&, ArrayRef<const Tensor*>) override {}
  void result(const Node&, const Tensor&) override {}
  void arrived(const Node& node, const variable_list& grads) override;
  void evaluated(const Node&, const variable_list&) override {}

  void step_begins(bridge::optim::Optimizer&, const std::vector<Tensor>*) noexcept override {}
  void step_ended(bridge::optim::Optimizer& optimizer) noexcept override;
  void scale_updated(const Tensor&) noexcept override {}
  void loss_scaled(const Tensor& scale) noexcept override;

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string>;  // root, path, kind, name
  void forward_ended(Module& module, const variable_list& outputs);
  GradientRow& row_of(const Place& place, const std::string& type, const std::string& kind, const std::string& name);
  void count(GradientRow& row, const Tensor& gradient);
  void count_leaf(const Tensor& leaf, const Tensor& gradient);
  void save(bool complete) noexcept;

  const std::string file_;
  std::mutex mutex_;  // of everything below
  ModuleTree tree_;
  std::deque<GradientRow> rows_;  // hooks hold on to them
  std::map<Key, GradientRow*> found_;
  double scale_ = 1;
  int64_t steps_ = 0;
  std::chrono::steady_clock::time_point saved_;
  bool failed_ = false;
};

}  // namespace hb::trace
