#pragma once
// Optimizer steps, and what is recorded of parameters and buffers around them. LibTorch does not tell of a step: it is
// noticed when a parameter changes in place after a backward pass.

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfbridge/trace/libtorch/calls.h>
#include <halfbridge/trace/libtorch/optimizers.h>

namespace hb::trace::libtorch {

class Steps {
 public:
  Steps(TensorWriter& writer, ModuleTree& tree) : writer_(writer), tree_(tree) {}

  int64_t number() const { return number_; }
  bool recorded() const { return writer_.options().steps.contains(number_) && !writer_.writer().stopped(); }
  bool running() const { return running_; }
  void watch(torch::optim::Optimizer& optimizer) { optimizers_.emplace_back(optimizer); }

  /// A module added while the trace is written: its tensors follow those that were known.
  void tree_grew() { states_.resize(static_cast<size_t>(tree_.tensors())); }

  /// An operator uses a tensor of this module: before its first call in a step its values are recorded.
  void module_used(int module) {
    if (!recorded()) return;
    for (int id : tree_.node(module).tensors) {
      State& s = states_[static_cast<size_t>(id)];
      if (s.used_in == number_) continue;
      s.used_in = number_;
      const OwnedTensor& t = tree_.tensor(id);
      if (!t.parameter) s.hash = TensorWriter::hash_of(t.value);
      // The record of the step before holds it.
      const bool known = s.updated_in >= 0 && s.updated_in == number_ - 1;
      if (!known) write(t.parameter ? Kind::parameter : Kind::buffer, id, t.value);
    }
  }

  void backward_began() {
    if (running_) finish();
    backward_seen_ = true;
  }

  /// A tensor that needs a gradient and no module has: changes of it are a step too.
  void note_leaf(const torch::Tensor& t) {
    if (!t.has_storage() || is_leaf(t)) return;
    if (leaves_.size() >= 65536) leaves_.clear();
    leaves_.insert_or_assign(t.storage().unsafeGetStorageImpl(), t.storage().getWeakStorageImpl());
  }

  /// Whether an operator that is about to change this tensor in place is an optimizer's.
  bool is_change(const torch::Tensor& t) const {
    return (backward_seen_ || running_) && (is_leaf(t) || !parameters_at(t).empty());
  }
  void changes(const torch::Tensor& t) {
    const std::vector<int> found = parameters_at(t);
    const int optimizer = optimizer_of(found.empty() ? t : tree_.tensor(found[0]).value);
    if (running_ && backward_seen_ && optimizer != optimizer_) finish(/*keep_backward=*/true);
    if (!running_) running_ = true, optimizer_ = optimizer;
    for (int id : found) {
      State& s = states_[static_cast<size_t>(id)];
      if (s.changed_in == number_) continue;
      s.changed_in = number_;
      write_gradient(id);
    }
  }

  /// The step is over: a forward begins, or a backward pass.
  void finish(bool keep_backward = false) {
    if (recorded()) {
      for (int id = 0; id < tree_.tensors(); ++id) write_updated(id);
      writer_.writer().flush();
    }
    tree_.forget_casts();
    tree_.refresh_storages();
    running_ = false;
    backward_seen_ = keep_backward;
    ++number_;
  }

  /// The end of the trace.
  void close() {
    if (running_) return finish();
    if (!recorded()) return;
    for (int id = 0; id < tree_.tensors(); ++id)
      if (tree_.tensor(id).parameter && states_[static_cast<size_t>(id)].used_in == number_) write_gradient(id);
  }

 private:
  struct State {
    int64_t used_in = -1, changed_in = -1, updated_in = -1;  // steps
    uint64_t hash = 0;  // of a buffer when its module was called: batch_norm changes it without counting
  };

  bool is_leaf(const torch::Tensor& t) const {
    if (!t.has_storage()) return false;
    const auto found = leaves_.find(t.storage().unsafeGetStorageImpl());
    return found != leaves_.end() && !found->second.expired();
  }
  // Parameters whose memory this is.
  std::vector<int> parameters_at(const torch::Tensor& t) const {
    std::vector<int> found = tree_.find(t);
    const auto other = [&](int id) {
      const OwnedTensor& own = tree_.tensor(id);
      return !own.parameter || !own.registered || !own.value.is_alias_of(t);
    };
    found.erase(std::remove_if(found.begin(), found.end(), other), found.end());
    return found;
  }
  int optimizer_of(const torch::Tensor& parameter) const {
    for (size_t i = 0; i < optimizers_.size(); ++i)
      if (optimizers_[i].has(parameter)) return static_cast<int>(i);
    return -1;
  }
  void write_gradient(int id) {
    const torch::Tensor& gradient = tree_.tensor(id).value.grad();
    if (gradient.defined()) write(Kind::parameter_grad, id, gradient);
  }
  void write_updated(int id) {
    State& s = states_[static_cast<size_t>(id)];
    const OwnedTensor& t = tree_.tensor(id);
    const bool changed =
        t.parameter ? s.changed_in == number_ : s.used_in == number_ && TensorWriter::hash_of(t.value) != s.hash;
    if (!changed) return;
    s.updated_in = number_;
    write(t.parameter ? Kind::updated_parameter : Kind::updated_buffer, id, t.value);
    if (!t.parameter || optimizer_ < 0) return;
    for (const auto& item : optimizers_[static_cast<size_t>(optimizer_)].state_of(t.value))
      if (item.second.defined()) write(Kind::optimizer_state, id, item.second, t.name + "/" + item.first);
  }
  void write(Kind kind, int id, const torch::Tensor& value, const std::string& name = {}) {
    const OwnedTensor& t = tree_.tensor(id);
    const ModuleNode& m = tree_.node(t.module);
    if (!writer_.writer().wants(kind, number_, m.path)) return;
    Record record;
    record.kind = kind, record.step = number_;
    record.path = m.path, record.root = tree_.root_name(t.module);
    record.type = m.type, record.config = m.config;
    record.name = name.empty() ? t.name : name;
    writer_.write(std::move(record), value);
  }

  TensorWriter& writer_;
  ModuleTree& tree_;
  std::vector<State> states_;  // of the tree's tensors
  // Compared by their memory, for SGD changes `p.data()`.
  std::unordered_map<const c10::StorageImpl*, c10::weak_intrusive_ptr<c10::StorageImpl>> leaves_;
  std::vector<WatchedOptimizer> optimizers_;
  int64_t number_ = 0;
  int optimizer_ = -1;  // whose step it is, where it was watched
  bool running_ = false, backward_seen_ = false;
};

}  // namespace hb::trace::libtorch
