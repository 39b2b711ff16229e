#pragma once
// Calls of modules and functions, and the gradients that the backward pass brings to them.

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/SequenceNumber.h>
#include <halfbridge/trace/libtorch/modules.h>
#include <halfbridge/trace/libtorch/tensors.h>
#include <torch/csrc/autograd/graph_task.h>

namespace hb::trace::libtorch {

inline bool in_backward() { return torch::autograd::get_current_graph_task_exec_info() != nullptr; }

struct Call {
  int64_t number = 0, step = 0;
  const Op* op = nullptr;
  std::string config;                  // of the function
  int module = -1;                     // -1: a function, or not known yet
  std::shared_ptr<const Call> viewed;  // of a call that may turn out to be a mere view: what made its input
};

/// The module that computed what this call returned, -1 for none.
inline int module_behind(const std::shared_ptr<const Call>& call) {
  const Call* c = call.get();
  while (c && c->module < 0 && c->op->what == OpClass::view) c = c->viewed.get();
  return c ? c->module : -1;
}

/// A tensor of a call, and where its gradient flows.
struct CallTensor {
  torch::Tensor value;
  TensorKey key;
  torch::autograd::Edge edge;  // invalid where it needs no gradient
  bool transposed = false;     // `value` is the transpose of what the call was given
};

inline CallTensor call_tensor(const torch::Tensor& t, bool grad_mode) {
  CallTensor c{t, key_of(t), {}};
  if (grad_mode && t.requires_grad()) c.edge = torch::autograd::impl::gradient_edge(t);
  return c;
}

/// Gradients are given to `(call, kind, index, gradient)`.
using GradientSink = std::function<void(const Call&, Kind, int64_t, const torch::Tensor&)>;

// A call's part of the graph: the nodes that it recorded, between the edges of its outputs and those of its inputs.
// What flows over an input's edges from these nodes is this call's own share, also where the input is used elsewhere.
class CallGradients {
 public:
  CallGradients(std::shared_ptr<const Call> call, const std::vector<CallTensor>& inputs)
      : call_(std::move(call)), shares_(inputs.size()) {
    for (size_t i = 0; i < inputs.size(); ++i) shares_[i].transposed = inputs[i].transposed;
  }

  void expect(size_t input) { ++shares_[input].edges; }
  const Call& call() const { return *call_; }

  void output(int64_t index, const torch::Tensor& gradient, const GradientSink& sink) const {
    if (gradient.defined()) sink(*call_, Kind::grad_output, index, gradient);
  }
  void input(size_t index, const torch::Tensor& gradient, const GradientSink& sink) {
    Share& share = shares_[index];
    if (gradient.defined()) share.sum = share.sum.defined() ? share.sum + gradient : gradient;
    if (++share.arrived < share.edges) return;
    if (share.sum.defined())
      sink(*call_, Kind::grad_input, static_cast<int64_t>(index), share.transposed ? share.sum.t() : share.sum);
    share.sum = torch::Tensor();
    share.arrived = 0;  // the graph may be walked again
  }

 private:
  struct Share {
    int edges = 0, arrived = 0;
    bool transposed = false;
    torch::Tensor sum;
  };
  std::shared_ptr<const Call> call_;
  std::vector<Share> shares_;
};

/// The hooks of all calls, on nodes of the graph. They hold no node, so that a graph dies when the program lets it go.
class GradientHooks {
 public:
  explicit GradientHooks(GradientSink sink) : sink_(std::make_shared<GradientSink>(std::move(sink))) {}
  ~GradientHooks() { remove(); }
  GradientHooks(const GradientHooks&) = delete;
  GradientHooks& operator=(const GradientHooks&) = delete;

  /// `begin`: at::sequence_number::peek() when the call began.
  void watch(const std::shared_ptr<const Call>& call, uint64_t begin, const std::vector<CallTensor>& inputs,
             const std::vector<torch::Tensor>& outputs) {
    const auto gradients = std::make_shared<CallGradients>(call, inputs);
    std::unordered_map<Node*, Watched> watched;
    std::vector<std::shared_ptr<Node>> open;
    const auto recorded_here = [&](const std::shared_ptr<Node>& node) {
      return node && node->sequence_nr() >= begin && node->sequence_nr() != UINT64_MAX;  // that is AccumulateGrad
    };
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto node = outputs[i].requires_grad() ? outputs[i].grad_fn() : nullptr;
      // A call that returned its input itself has no part in the graph.
      if (!recorded_here(node)) continue;
      Watched& w = watched[node.get()];
      if (!w.node) w.node = node, open.push_back(node);
      w.outputs.emplace_back(outputs[i].output_nr(), static_cast<int64_t>(i));
    }
    while (!open.empty()) {
      const std::shared_ptr<Node> node = std::move(open.back());
      open.pop_back();
      const auto& edges = node->next_edges();
      std::vector<int> seen(inputs.size(), 0);
      for (size_t e = 0; e < edges.size(); ++e) {
        const int input = index_of(inputs, edges[e], seen);
        if (input >= 0) {
          watched[node.get()].inputs.emplace_back(e, static_cast<size_t>(input));
          gradients->expect(static_cast<size_t>(input));
        } else if (recorded_here(edges[e].function) && !watched.count(edges[e].function.get())) {
          watched[edges[e].function.get()].node = edges[e].function;
          open.push_back(edges[e].function);
        }
      }
    }
    for (auto& item : watched)
      if (!item.second.inputs.empty() || !item.second.outputs.empty()) add(item.second, gradients);
  }

  void remove() {
    *sink_ = nullptr;
    for (const auto& hook : hooks_)
      if (const auto node = hook.first.lock()) node->del_post_hook(hook.second);
    hooks_.clear();
  }

 private:
  using Node = torch::autograd::Node;

  struct Watched {
    std::shared_ptr<Node> node;
    std::vector<std::pair<size_t, int64_t>> outputs;  // position among the node's gradients, index of the output
    std::vector<std::pair<size_t, size_t>> inputs;    // number of the edge, index of the input
  };

  struct Hook : torch::autograd::FunctionPostHook {
    torch::autograd::variable_list operator()(const torch::autograd::variable_list& to_inputs,
                                              const torch::autograd::variable_list& to_outputs) override {
      const auto sink = this->sink;  // a hook may be removed while it runs
      if (*sink) {
        OwnOperators own;
        for (const auto& o : outputs)
          if (o.first < to_outputs.size()) gradients->output(o.second, to_outputs[o.first], *sink);
        for (const auto& i : inputs)
          if (i.first < to_inputs.size()) gradients->input(i.second, to_inputs[i.first], *sink);
      }
      return to_inputs;
    }
    std::vector<std::pair<size_t, int64_t>> outputs;
    std::vector<std::pair<size_t, size_t>> inputs;
    std::shared_ptr<CallGradients> gradients;
    std::shared_ptr<GradientSink> sink;
  };

  // A tensor that was given twice has an edge for each, in the order of the arguments.
  static int index_of(const std::vector<CallTensor>& inputs, const torch::autograd::Edge& edge,
                      std::vector<int>& seen) {
    int found = -1;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!edge.is_valid() || inputs[i].edge != edge) continue;
      if (found < 0 || seen[i] < seen[static_cast<size_t>(found)]) found = static_cast<int>(i);
    }
    if (found >= 0) ++seen[static_cast<size_t>(found)];
    return found;
  }
  void add(Watched& w, const std::shared_ptr<CallGradients>& gradients) {
    auto hook = std::make_unique<Hook>();
    hook->outputs = std::move(w.outputs), hook->inputs = std::move(w.inputs);
    hook->gradients = gradients, hook->sink = sink_;
    if (hooks_.size() >= limit_) forget_expired();
    hooks_.emplace_back(w.node, w.node->add_post_hook(std::move(hook)));
  }
  void forget_expired() {
    hooks_.erase(std::remove_if(hooks_.begin(), hooks_.end(), [](const auto& h) { return h.first.expired(); }),
                 hooks_.end());
    limit_ = hooks_.size() * 2 + 1024;
  }

  std::shared_ptr<GradientSink> sink_;
  std::vector<std::pair<std::weak_ptr<Node>, uintptr_t>> hooks_;
  size_t limit_ = 1024;
};

}  // namespace hb::trace::libtorch
