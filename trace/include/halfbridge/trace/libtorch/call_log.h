#pragma once
// Calls on their way to the file. Which module one belongs to may be known only when the next layer with parameters is
// called; until then it waits here, with copies of its tensors.

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <halfbridge/trace/libtorch/calls.h>
#include <halfbridge/trace/libtorch/resolve.h>

namespace hb::trace::libtorch {

struct LoggedTensor {
  torch::Tensor value;
  TensorKey key;
};

struct FinishedCall {
  std::shared_ptr<Call> call;
  std::vector<LoggedTensor> inputs, outputs;
  std::vector<torch::Tensor> masks;
  std::shared_ptr<const Call> producer;  // of the first input
  bool part_of_net = true;               // false: recorded only if it turns out to be the begin of a net
};

class CallLog {
 public:
  CallLog(TensorWriter& writer, ModuleTree& tree) : writer_(writer), tree_(tree), resolver_(tree) {}

  const Resolver& resolver() const { return resolver_; }
  void new_step() { resolver_.new_step(); }

  /// The call that returned this tensor or one that it views, or null.
  std::shared_ptr<const Call> producer_of(const torch::Tensor& t) const { return producer_of(t.unsafeGetTensorImpl()); }
  std::shared_ptr<const Call> producer_of(const TensorKey& key) const {
    return producer_of(key.tensor->_unsafe_get_target());
  }
  void set_producer(const torch::Tensor& t, std::shared_ptr<const Call> call) {
    if (producers_.size() >= limit_) forget_expired();
    producers_.insert_or_assign(t.unsafeGetTensorImpl(),
                                std::make_pair(WeakTensor(t.getIntrusivePtr()), std::move(call)));
  }

  void add(FinishedCall c) {
    Call& call = *c.call;
    if (call.module >= 0) {
      decide(&c);
      resolver_.called(call.module, /*anchor=*/true);
      return write(c);
    }
    const bool possible = resolver_.possible(*call.op);
    if (waiting_.empty() && c.part_of_net) {
      call.module = resolver_.by_sequence(question(c));
      if (call.module >= 0) resolver_.called(call.module, false);
      if (call.module >= 0 || !possible) return write(c);
    }
    if (c.part_of_net || possible) wait(std::move(c));
  }

  /// Names and writes what waits; `next`: the call of a module that follows, null where that is not known.
  void decide(const FinishedCall* next = nullptr) {
    if (waiting_.empty()) return;
    std::vector<FinishedCall> calls = std::move(waiting_);
    waiting_.clear();
    waiting_bytes_ = 0;
    if (next) find_begin_of_net(calls, *next);
    for (FinishedCall& c : calls) {
      Call& call = *c.call;
      if (c.part_of_net && call.module < 0) {
        call.module = resolver_.by_sequence(question(c));
        if (call.module < 0 && resolver_.possible(*call.op))
          call.module = resolver_.between(question(c), next ? next->call->module : -1);
      }
      if (call.module >= 0) resolver_.called(call.module, false);
      if (call.module >= 0 || c.part_of_net) write(c);
    }
  }

  void write_tensor(const Call& call, Kind kind, int64_t index, const torch::Tensor& value, TensorKey key = {}) {
    Record record;
    if (call.module >= 0) record.path = tree_.node(call.module).path;
    if (!writer_.writer().wants(kind, call.step, record.path ? *record.path : std::string())) return;
    record.kind = kind, record.step = call.step, record.index = index;
    record.call = call.number;
    if (call.module >= 0) {
      const ModuleNode& m = tree_.node(call.module);
      record.root = tree_.root_name(call.module), record.type = m.type, record.config = m.config;
      record.training = m.module->is_training();
    } else {
      record.type = call.op->name, record.config = call.config;
    }
    writer_.write(std::move(record), value, std::move(key));
  }

 private:
  std::shared_ptr<const Call> producer_of(const c10::TensorImpl* impl) const {
    const auto found = producers_.find(impl);
    return found == producers_.end() || found->second.first.expired() ? nullptr : found->second.second;
  }

  static constexpr int64_t kWaitingBytes = int64_t{64} << 20;

  Question question(const FinishedCall& c) const { return {c.call->op, &c.call->config, module_behind(c.producer)}; }

  void wait(FinishedCall c) {
    for (auto* tensors : {&c.inputs, &c.outputs}) {
      for (LoggedTensor& t : *tensors) {
        t.value = t.value.detach().clone();
        waiting_bytes_ += static_cast<int64_t>(t.value.nbytes());
      }
    }
    waiting_.push_back(std::move(c));
    if (waiting_bytes_ > kWaitingBytes) decide();
  }

  // Calls without parameters at the begin of a net (Flatten before the first Linear): known from where their result
  // goes.
  void find_begin_of_net(std::vector<FinishedCall>& calls, const FinishedCall& next) {
    int module = next.call->module;
    std::unordered_set<const void*> wanted;
    const auto want = [&](const FinishedCall& c) {
      for (const LoggedTensor& t : c.inputs) wanted.insert(t.key.tensor->_unsafe_get_target());
    };
    want(next);
    for (auto c = calls.rbegin(); c != calls.rend(); ++c) {
      if (c->part_of_net || c->outputs.empty()) continue;
      if (!wanted.count(c->outputs[0].key.tensor->_unsafe_get_target())) continue;
      const int found = resolver_.before(question(*c), module);
      if (found >= 0) module = c->call->module = found;
      if (found >= 0 || c->call->op->what == OpClass::view) want(*c);
    }
  }

  void write(FinishedCall& c) {
    if (c.call->module < 0 && c.call->op->what == OpClass::view) return;
    int64_t index = 0;
    for (LoggedTensor& t : c.inputs) write_tensor(*c.call, Kind::input, index++, t.value, std::move(t.key));
    index = 0;
    for (const torch::Tensor& mask : c.masks) write_tensor(*c.call, Kind::mask, index++, mask);
    index = 0;
    for (LoggedTensor& t : c.outputs) write_tensor(*c.call, Kind::output, index++, t.value, std::move(t.key));
  }

  void forget_expired() {
    for (auto it = producers_.begin(); it != producers_.end();)
      it = it->second.first.expired() ? producers_.erase(it) : std::next(it);
    limit_ = producers_.size() * 2 + 1024;
  }

  TensorWriter& writer_;
  ModuleTree& tree_;
  Resolver resolver_;
  std::vector<FinishedCall> waiting_;
  int64_t waiting_bytes_ = 0;
  std::unordered_map<const c10::TensorImpl*, std::pair<WeakTensor, std::shared_ptr<const Call>>> producers_;
  size_t limit_ = 1024;
};

}  // namespace hb::trace::libtorch
