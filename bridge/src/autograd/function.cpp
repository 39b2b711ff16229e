#include <cxxabi.h>

#include <cstdlib>
#include <typeinfo>

#include <halfbridge/bridge/autograd_function.h>
#include <halfbridge/ops.h>

#include "autograd/history.h"
#include "autograd/record.h"

namespace hb::autograd {

void AutogradContext::mark_dirty(const variable_list& inputs) {
  dirty_.clear();
  for (const Tensor& t : inputs) dirty_.insert(t.unsafeGetTensorImpl());
}

void AutogradContext::mark_non_differentiable(const variable_list& outputs) {
  non_differentiable_.clear();
  for (const Tensor& t : outputs) non_differentiable_.insert(t.unsafeGetTensorImpl());
}

variable_list AutogradContext::get_saved_variables() const {
  HB_CHECK(node_ != nullptr, "[get_saved_variables] the context belongs to no call of a Function");
  return node_->saved_variables();
}

bool AutogradContext::needs_input_grad(size_t i) const {
  HB_CHECK(node_ != nullptr && i < node_->num_outputs(), "[needs_input_grad] input ", i, " is out of range");
  return node_->should_compute_output(i);
}

namespace detail {

struct FunctionNode::Saved {
  std::vector<SavedTensor> tensors;
  bool released = false;
};

FunctionNode::FunctionNode() : saved_(std::make_unique<Saved>()) { context_.node_ = this; }
FunctionNode::~FunctionNode() = default;

std::string FunctionNode::name() const {
  const char* mangled = typeid(*this).name();
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : mangled;
  std::free(text);
  return name;
}

void FunctionNode::set_inputs(std::vector<bool> is_tensor, variable_list inputs) {
  recorded_ = needs_grad_list(inputs);
  is_tensor_ = std::move(is_tensor);
  inputs_ = std::move(inputs);
  if (!recorded_) return;
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : inputs_) pointers.push_back(&t);
  hb::detail::collect_edges(*this, pointers);
}

// Results are saved before they get their history: the node must not own what owns it.
void FunctionNode::save(const variable_list& outputs) {
  for (const Tensor& t : context_.to_save_) {
    uint32_t place = 0;
    while (place < outputs.size() && !(t.defined() && outputs[place].is_same(t))) ++place;
    const bool is_input = [&] {
      for (const Tensor& input : inputs_)
        if (t.defined() && input.is_same(t) && !context_.dirty_.count(t.unsafeGetTensorImpl())) return true;
      return false;
    }();
    const bool is_output = place < outputs.size() && !is_input;
    saved_->tensors.push_back(is_output ? SavedTensor::output(t, place) : SavedTensor::input(t));
  }
  context_.to_save_.clear();
}

Tensor FunctionNode::wrap_one(const Tensor& output) {
  auto self = shared_from_this();
  const TensorImpl* impl = output.unsafeGetTensorImpl();
  const bool dirty = context_.dirty_.count(impl) > 0;
  if (!is_floating_type(output.scalar_type()) || context_.non_differentiable_.count(impl)) {
    add_input_metadata(output);
    return output.requires_grad() ? output.detach() : output;
  }
  bool is_input = false;
  for (const Tensor& input : inputs_) is_input = is_input || input.is_same(output);
  if (dirty) {
    HB_CHECK(!(output.is_leaf() && output.requires_grad()),
             "a leaf Variable that requires grad is being used in an in-place operation.");
    Tensor values(output.unsafeGetTensorImpl()->alias(true));
    hb::detail::attach(self, values);
    history::rebase(output, values);
    return output;
  }
  // An input that is returned as it is stays apart from what is returned.
  Tensor result = is_input ? Tensor(output.unsafeGetTensorImpl()->alias(true)) : output;
  hb::detail::attach(self, result);
  return result;
}

variable_list FunctionNode::wrap(variable_list outputs) {
  for (const Tensor& t : outputs) HB_CHECK(t.defined(), name(), ": forward returned an undefined tensor");
  if (!recorded_) {
    inputs_.clear();
    context_.to_save_.clear();
    return outputs;
  }
  for (const Tensor& t : outputs)
    if (context_.dirty_.count(t.unsafeGetTensorImpl())) t.unsafeGetTensorImpl()->bump_version();
  save(outputs);
  variable_list wrapped;
  for (const Tensor& t : outputs) wrapped.push_back(wrap_one(t));
  inputs_.clear();
  return wrapped;
}

variable_list FunctionNode::saved_variables() {
  HB_CHECK(!saved_->released, "Trying to backward through the graph a second time (or directly access saved tensors after "
           "they have already been freed): ", name(), ". Specify retain_graph=true if you need to backward through the "
           "graph a second time.");
  variable_list list;
  for (const SavedTensor& s : saved_->tensors) list.push_back(s.unpack(*this));
  return list;
}

void FunctionNode::release_variables() {
  saved_->tensors.clear();
  saved_->released = true;
}

variable_list FunctionNode::apply(variable_list&& grads) {
  for (size_t i = 0; i < grads.size(); ++i) {
    const InputMetadata& meta = input_metadata(i);
    if (grads[i].defined() || !context_.materialize_grads_ || !is_floating_type(meta.dtype)) continue;
    grads[i] = zeros(meta.sizes, TensorOptions().dtype(meta.dtype).device(meta.device));
  }
  variable_list given = run_backward(&context_, std::move(grads));
  while (given.size() > is_tensor_.size() && !given.back().defined()) given.pop_back();
  HB_CHECK(given.size() == is_tensor_.size(), "function ", name(), " returned an incorrect number of gradients (expected ",
           is_tensor_.size(), ", got ", given.size(), ")");
  variable_list wanted;
  for (size_t i = 0; i < given.size(); ++i) {
    if (is_tensor_[i]) {
      wanted.push_back(std::move(given[i]));
    } else {
      HB_CHECK(!given[i].defined(), "function ", name(), " returned a gradient at position ", i + 1,
               ", but the corresponding forward input was not a Variable");
    }
  }
  return wanted;
}

}  // namespace detail
}  // namespace hb::autograd
