#pragma once
// A trace while it is written: what LibTorch tells of operators becomes calls.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <halfbridge/trace/libtorch/call_log.h>
#include <halfbridge/trace/libtorch/linear.h>
#include <halfbridge/trace/libtorch/steps.h>

namespace hb::trace::libtorch {

/// Speaks of the operators of the thread that made it. Gradients may arrive on others.
class Session {
 public:
  Session(const std::string& folder, Options options)
      : writer_(folder, std::move(options)),
        steps_(writer_, tree_),
        log_(writer_, tree_),
        hooks_([this](const Call& call, Kind kind, int64_t index, const torch::Tensor& gradient) {
          std::lock_guard<std::recursive_mutex> lock(mutex_);
          backward_began();
          log_.write_tensor(call, kind, index, gradient);
        }) {}

  void add_root(const torch::nn::Module& module) {
    std::lock_guard<std::recursive_mutex> lock(mutex_);
    OwnOperators own;
    decide();
    tree_.add_root(module);
    steps_.tree_grew();
  }
  void watch(torch::optim::Optimizer& optimizer) {
    std::lock_guard<std::recursive_mutex> lock(mutex_);
    steps_.watch(optimizer);
  }
  const std::string& folder() { return writer_.writer().folder(); }

  /// An operator begins; false: nothing is to be told of its end.
  bool begin(const at::RecordFunction& fn) {
    if (OwnOperators::running()) return false;
    const bool grad_mode = at::GradMode::is_enabled();
    std::lock_guard<std::recursive_mutex> lock(mutex_);
    OwnOperators own;
    if (in_backward()) {
      if (depth_ == 0) backward_began();
      return false;
    }
    if (std::this_thread::get_id() != thread_ || writer_.writer().stopped()) return false;
    const Op* op = ops_.find(fn);
    if (!op) return false;
    if (depth_++ > 0) return true;
    running_ = Running();
    running_.op = op;
    running_.grad_mode = grad_mode;
    try {
      begin_outermost(fn);
    } catch (const std::exception& e) {
      fail(e);
    }
    return true;
  }

  void end(const at::RecordFunction& fn) {
    std::lock_guard<std::recursive_mutex> lock(mutex_);
    OwnOperators own;
    --depth_;
    try {
      if (depth_ == 0) end_outermost(fn);
      if (depth_ > 0 && running_.call) note_mask(fn);
    } catch (const std::exception& e) {
      fail(e);
    }
  }

  void close() {
    std::lock_guard<std::recursive_mutex> lock(mutex_);
    OwnOperators own;
    decide();
    hooks_.remove();
    steps_.close();
    writer_.writer().close();
  }

 private:
  // The outermost operator while it runs.
  struct Running {
    const Op* op = nullptr;
    std::shared_ptr<Call> call;  // null where nothing is recorded
    std::vector<CallTensor> inputs;
    std::vector<torch::Tensor> masks;
    torch::Tensor viewed;          // the first input of a view
    uint64_t sequence_number = 0;  // of the graph when it began
    bool grad_mode = false, part_of_net = false;
  };
  // What the inputs of an operator are.
  struct Inputs {
    std::vector<torch::Tensor> all;
    std::vector<int> own;  // parameters and buffers of the tree
    bool gradient = false, leaf = false, produced = false;
  };

  // LibTorch would swallow it.
  void fail(const std::exception& e) {
    std::fprintf(stderr, "[trace] stopped: %s\n", e.what());
    running_.call = nullptr;
    writer_.writer().close(std::string("error: ") + e.what());
  }

  void end_outermost(const at::RecordFunction& fn) {
    const Running done = std::exchange(running_, Running());
    std::vector<torch::Tensor> outputs;
    for (const c10::IValue& value : fn.outputs())
      for_each_tensor(value, [&](const torch::Tensor& t) { outputs.push_back(t); });
    if (done.op->name == "zeros") note_zeros(outputs);
    if (done.op->what == OpClass::view) end_view(done, outputs);
    if (product_.call && done.op->name == "add") {
      const Running linear = std::exchange(product_, Running());
      product_outputs_.clear();
      end_call(linear, outputs);
    } else if (done.call && is_product(done)) {
      product_ = done;
      product_outputs_ = outputs;
    } else if (done.call) {
      end_call(done, outputs);
    }
  }

  // LibTorch's Linear multiplies and then adds the bias in place: two operators, one call.
  bool is_product(const Running& r) const {
    if (r.op->name != "matmul") return false;
    if (r.call->module < 0) return r.call->op == &linear_op();
    return tree_.node(r.call->module).tensors.size() > 1;
  }
  bool adds_bias(const Inputs& inputs) {
    if (running_.op->name != "add" || !running_.op->writes_first || inputs.all.size() < 2) return false;
    if (!inputs.all[0].is_same(product_outputs_[0])) return false;
    if (product_.call->module < 0) {
      const torch::Tensor& bias = inputs.all[1];
      if (bias.dim() != 1 || !bias.is_leaf() || !bias.requires_grad()) return false;
      product_.inputs.push_back(call_tensor(bias, running_.grad_mode));
      return true;
    }
    const auto is_bias = [&](int id) { return tree_.tensor(id).module == product_.call->module; };
    return std::any_of(inputs.own.begin(), inputs.own.end(), is_bias);
  }
  void finish_product() {
    if (!product_.call) return;
    const Running product = std::exchange(product_, Running());
    product.call->module = -1;  // somebody else's product with the weight
    end_call(product, std::exchange(product_outputs_, {}));
  }

  void decide() {
    finish_product();
    log_.decide();
  }
  void backward_began() {
    decide();
    steps_.backward_began();
  }

  Inputs look_at(const at::RecordFunction& fn) {
    Inputs inputs;
    for (const c10::IValue& value : inputs_of(fn)) {
      for_each_tensor(value, [&](const torch::Tensor& t) {
        inputs.all.push_back(t);
        const std::vector<int> found = tree_.find(t);
        inputs.own.insert(inputs.own.end(), found.begin(), found.end());
        const bool leaf = t.requires_grad() && t.is_leaf();
        if (leaf && found.empty()) steps_.note_leaf(t);
        inputs.leaf |= leaf;
        inputs.gradient |= t.requires_grad();
        inputs.produced |= log_.producer_of(t) != nullptr;
      });
    }
    return inputs;
  }

  void begin_outermost(const at::RecordFunction& fn) {
    const Op& op = *running_.op;
    if (op.writes_first && !inputs_of(fn).empty()) {
      for_each_tensor(inputs_of(fn)[0], [&](const torch::Tensor& t) {
        buffer_changes(t);
        if (!steps_.is_change(t)) return;
        decide();
        steps_.changes(t);
      });
    }
    if (op.what == OpClass::ignored) return;
    const Inputs inputs = look_at(fn);
    if (op.what == OpClass::compute && product_.call && !adds_bias(inputs)) finish_product();
    if (product_.call && op.what == OpClass::compute) return;
    const int module = log_.resolver().by_tensors(op, inputs.own);
    const bool by_gradient = running_.grad_mode ? inputs.gradient : inputs.leaf && op.modules;
    running_.part_of_net = module >= 0 || inputs.produced || by_gradient;
    if (op.what == OpClass::compute && running_.part_of_net && steps_.running()) {
      decide();
      steps_.finish();
    }
    if (op.what == OpClass::view && !inputs.all.empty()) running_.viewed = inputs.all[0];
    const bool may_be_layer = op.modules && log_.resolver().possible(op);
    if (!steps_.recorded() || !((op.what == OpClass::compute && running_.part_of_net) || may_be_layer)) return;
    begin_call(fn, inputs, module);
  }

  // A layer counts its batches before it computes.
  void buffer_changes(const torch::Tensor& t) {
    for (int id : tree_.find(t)) {
      if (tree_.tensor(id).parameter || !tree_.tensor(id).value.is_alias_of(t)) continue;
      decide();
      if (steps_.running()) steps_.finish();
      steps_.module_used(tree_.tensor(id).module);
    }
  }

  void begin_call(const at::RecordFunction& fn, const Inputs& inputs, int module) {
    if (named_step_ != steps_.number()) log_.new_step();
    named_step_ = steps_.number();
    auto call = std::make_shared<Call>();
    call->number = next_call_++, call->step = steps_.number();
    call->op = running_.op, call->module = module;
    call->config = arguments_text(*running_.op, inputs_of(fn));
    if (tree_.modules() == 0 &&
        begins_linear(*running_.op, inputs.all, call->config, running_.grad_mode, running_.inputs)) {
      call->op = &linear_op();
      call->config.clear();
    } else {
      for (const torch::Tensor& t : inputs.all)
        if (module < 0 || !is_given_by(module, t)) running_.inputs.push_back(call_tensor(t, running_.grad_mode));
    }
    if (running_.op->what == OpClass::view) call->viewed = log_.producer_of(inputs.all[0]);
    // What the operator overwrites is copied before.
    for (CallTensor& t : running_.inputs) {
      const bool first = &t == &running_.inputs[0];
      if (first ? running_.op->writes_first : running_.op->changes_statistics && !t.value.requires_grad())
        t.value = t.value.detach().clone();
    }
    // Before the operator runs: batch_norm changes its buffers.
    for (int id : inputs.own) steps_.module_used(tree_.tensor(id).module);
    running_.sequence_number = at::sequence_number::peek();
    running_.call = std::move(call);
  }
  // The module's own tensors, and the states of zeros that a recurrent module makes when it is given none.
  bool is_given_by(int module, const torch::Tensor& t) const {
    for (int id : tree_.find(t))
      if (tree_.tensor(id).module == module) return true;
    static const Names recurrent{"LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"};
    if (!recurrent.count(tree_.node(module).type)) return false;
    return std::any_of(zeros_.begin(), zeros_.end(), [&](const auto& zeros) {
      return !zeros.expired() && zeros._unsafe_get_target() == t.storage().unsafeGetStorageImpl();
    });
  }
  void note_zeros(const std::vector<torch::Tensor>& outputs) {
    if (zeros_.size() > 3) zeros_.erase(zeros_.begin());
    for (const torch::Tensor& t : outputs)
      if (t.has_storage()) zeros_.push_back(t.storage().getWeakStorageImpl());
  }

  // The nested operator that draws what a dropout keeps.
  void note_mask(const at::RecordFunction& fn) {
    const Op* op = ops_.find(fn);
    if (!op || fn.outputs().empty()) return;
    if (op->name == "bernoulli" && fn.outputs()[0].isTensor())
      running_.masks.push_back(fn.outputs()[0].toTensor().ne(0));
    else if (op->name == "native_dropout" && fn.outputs()[1].toTensor().is_cuda())
      running_.masks.push_back(fn.outputs()[1].toTensor().clone());
  }

  void end_view(const Running& done, const std::vector<torch::Tensor>& outputs) {
    if (!done.viewed.defined()) return;
    const auto producer = log_.producer_of(done.viewed);
    const std::vector<int> own = tree_.find(done.viewed);
    for (const torch::Tensor& t : outputs) {
      if (producer) log_.set_producer(t, producer);
      if (!own.empty() && !t.is_same(done.viewed)) tree_.note_cast(t, own);
    }
  }

  void end_call(const Running& done, const std::vector<torch::Tensor>& outputs) {
    const Call& call = *done.call;
    zeros_.clear();
    const bool floating = std::any_of(outputs.begin(), outputs.end(),
                                      [](const torch::Tensor& t) { return t.is_floating_point() || t.is_complex(); });
    if (call.module < 0 && !floating) return;
    const KindSet& kinds = writer_.options().kinds;
    if (kinds.contains(Kind::grad_output) || kinds.contains(Kind::grad_input))
      hooks_.watch(done.call, done.sequence_number, done.inputs, outputs);
    FinishedCall finished;
    finished.call = done.call;
    finished.part_of_net = done.part_of_net;
    finished.masks = done.masks;
    if (!done.inputs.empty()) finished.producer = log_.producer_of(done.inputs[0].key);
    for (const CallTensor& t : done.inputs) finished.inputs.push_back({t.value, t.key});
    for (const torch::Tensor& t : outputs) {
      finished.outputs.push_back({t, key_of(t)});
      if (done.part_of_net) log_.set_producer(t, done.call);
    }
    log_.add(std::move(finished));
  }

  std::recursive_mutex mutex_;
  const std::thread::id thread_ = std::this_thread::get_id();
  TensorWriter writer_;
  ModuleTree tree_;
  Steps steps_;
  CallLog log_;
  Ops ops_;
  GradientHooks hooks_;
  Running running_;
  Running product_;  // see is_product()
  std::vector<torch::Tensor> product_outputs_;
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> zeros_;  // made since the last call
  int depth_ = 0;
  int64_t next_call_ = 0, named_step_ = -1;
};

}  // namespace hb::trace::libtorch
