#include <halfbridge/bridge/autograd_function.h>

#include <algorithm>

#include <halfbridge/bridge/utility.h>
#include <halfbridge/ops/factories.h>

#include "autograd/backward_pass.h"
#include "autograd/history.h"
#include "autograd/record.h"
#include "ops/common/inplace.h"

namespace hb::autodiff {

struct AutogradContext::State {
  variable_list to_save, dirty, non_differentiable;
  std::vector<SavedTensor> saved;
  bool materialize_grads = true;
  std::weak_ptr<Node> node;
};

namespace {
bool holds(const variable_list& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& x) { return x.is_same(t); });
}
}  // namespace

AutogradContext::AutogradContext() : state_(new State()) {}
AutogradContext::~AutogradContext() = default;
void AutogradContext::save_for_backward(variable_list to_save) { state_->to_save = std::move(to_save); }
void AutogradContext::mark_dirty(const variable_list& inputs) { state_->dirty = inputs; }
void AutogradContext::mark_non_differentiable(const variable_list& outputs) { state_->non_differentiable = outputs; }
void AutogradContext::set_materialize_grads(bool value) { state_->materialize_grads = value; }

variable_list AutogradContext::get_saved_variables() const {
  auto node = state_->node.lock();
  HB_CHECK(node, "[get_saved_variables] the operation was not recorded");
  variable_list saved;
  for (const SavedTensor& s : state_->saved) saved.push_back(s.unpack(*node));
  return saved;
}

bool AutogradContext::needs_input_grad(size_t i) const {
  auto node = state_->node.lock();
  HB_CHECK(node && i < node->num_outputs(), "[needs_input_grad] expected the number of a tensor argument, got ", i);
  return node->task_should_compute_output(i);
}
bool AutogradContext::needs_input_grad(std::initializer_list<IndexRange> ranges) const {
  auto node = state_->node.lock();
  HB_CHECK(node, "[needs_input_grad] expected a call in backward");
  return node->task_should_compute_output(ranges);
}

namespace detail {

class FunctionNode final : public Node {
 public:
  FunctionNode(const std::type_info& function, BackwardFn backward) : function_(function), backward_(backward) {}
  std::string name() const override { return "torch::autograd::CppNode<" + bridge::demangle(function_.name()) + ">"; }
  bool accepts_undefined() const override { return true; }

  variable_list apply(variable_list&& grads) override {
    if (context.state_->materialize_grads)
      for (size_t i = 0; i < grads.size(); ++i)
        if (!grads[i].defined()) {
          const InputMetadata& m = input_metadata(i);
          grads[i] = zeros(m.sizes, TensorOptions().dtype(m.dtype).device(m.device));
        }
    variable_list given = backward_(&context, std::move(grads));
    const size_t expected = is_tensor.size();
    while (given.size() > expected && !given.back().defined()) given.pop_back();
    HB_CHECK(given.size() == expected, "function ", name(), " returned an incorrect number of gradients (expected ",
             expected, ", got ", given.size(), ")");
    variable_list result;
    for (size_t i = 0; i < expected; ++i) {
      if (is_tensor[i])
        result.push_back(std::move(given[i]));
      else
        HB_CHECK(!given[i].defined(), "function ", name(), " returned a gradient at position ", i + 1,
                 ", but the corresponding forward input was not a tensor");
    }
    return result;
  }

  void release_variables() override {
    for (SavedTensor& s : context.state_->saved) s.release();
  }

  AutogradContext context;
  std::vector<bool> is_tensor;  // for each argument of forward

 private:
  const std::type_info& function_;
  BackwardFn backward_;
};

FunctionCall::FunctionCall(const std::type_info& function, BackwardFn backward)
    : node_(std::make_shared<FunctionNode>(function, backward)) {}
FunctionCall::~FunctionCall() = default;

void FunctionCall::add_tensor(const Tensor* t) {
  node_->is_tensor.push_back(t != nullptr);
  if (t) inputs_.push_back(*t);
}

AutogradContext* FunctionCall::start() {
  recorded_ = needs_grad_list(inputs_);
  node_->context.state_->node = node_;
  if (recorded_) {
    std::vector<const Tensor*> inputs;
    for (const Tensor& t : inputs_) inputs.push_back(&t);
    hb::detail::collect_edges(*node_, inputs);
  }
  return &node_->context;
}

namespace {
// What an input that was given back as it is becomes: changes in place cannot become a part of its history.
Tensor view_of_self(const Tensor& t) {
  const NoGradGuard no_grad;
  return t.view_as(t);
}

// Without a gradient, and apart from the input or the leaf that it may be.
Tensor without_history(Tensor output, bool is_input, bool is_dirty) {
  if (!output.defined()) return output;
  if (!output.requires_grad()) return is_input && !is_dirty ? view_of_self(output) : output;
  if (is_input) return output.detach();
  return output.is_view() ? output : output.detach_();
}
}  // namespace

// Gives an output its history; the result is another handle where the output is an input or a view.
Tensor FunctionCall::with_history(Tensor output, size_t outputs) {
  const auto& state = *node_->context.state_;
  const bool is_input = holds(inputs_, output), is_dirty = is_input && holds(state.dirty, output);
  const bool differentiable = recorded_ && output.defined() && is_differentiable_type(output.scalar_type()) &&
                              !holds(state.non_differentiable, output);
  if (!differentiable) {
    if (recorded_) node_->add_input_metadata(output.defined() ? output : empty({0}));
    return without_history(std::move(output), is_input, is_dirty);
  }
  if (is_dirty) {
    HB_CHECK(!(output.is_leaf() && output.requires_grad()),
             "a leaf Variable that requires grad has been used in an in-place operation.");
    HB_CHECK(!output.is_view() || outputs == 1,
             "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
             "more than one Tensor.");
    check_inplace("mark_dirty", output);
    Tensor marker(output.impl().alias(false));
    hb::detail::attach(node_, marker);
    history::rebase(output, marker);
    return output;
  }
  if (is_input || output.is_view()) output = view_of_self(output);
  hb::detail::attach(node_, output);
  return output;
}

variable_list FunctionCall::finish(variable_list outputs) {
  auto& state = *node_->context.state_;
  for (const Tensor& t : state.dirty) {
    if (!holds(inputs_, t)) hb::detail::warn("Only inputs of forward need to be given to mark_dirty().");
    t.impl().bump_version();
  }
  const variable_list raw = outputs;
  for (Tensor& output : outputs) output = with_history(output, raw.size());
  for (const Tensor& t : state.dirty)
    HB_CHECK(holds(raw, t),
             "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
             "modified inplace must all be outputs of the Function.");
  if (!recorded_) return outputs;
  state.saved.resize(state.to_save.size());
  for (size_t s = 0; s < state.to_save.size(); ++s) {
    const Tensor& t = state.to_save[s];
    size_t at = 0;
    while (at < raw.size() && !(t.defined() && raw[at].defined() && raw[at].is_same(t))) ++at;
    // An output is saved without its history: the node must not own itself.
    const bool is_output = at < raw.size() && (!holds(inputs_, t) || holds(state.dirty, t));
    state.saved[s] = is_output ? SavedTensor::output(t, static_cast<uint32_t>(at)) : SavedTensor::input(t);
  }
  state.to_save.clear();
  // An input that was changed in place has this node as its history now: keeping it here would be a cycle.
  state.dirty.clear();
  state.non_differentiable.clear();
  return outputs;
}

}  // namespace detail
}  // namespace hb::autodiff
