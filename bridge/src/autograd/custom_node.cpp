#include <halfbridge/bridge/autograd/custom_node.h>

#include <algorithm>

#include <halfbridge/ops/factories.h>

#include "autograd/record.h"

namespace hb::autodiff {

struct SavedVariable::State {
  SavedTensor tensor;
};

SavedVariable::SavedVariable() = default;
SavedVariable::SavedVariable(const Variable& variable, bool is_output, bool /*is_inplace_on_view*/) {
  if (!variable.defined()) return;
  // A leaf that an operation gives back as it is has no history that could own the node.
  const bool kept_apart = is_output && !(variable.is_leaf() && variable.requires_grad());
  state_ = hb::detail::Owned(new State{kept_apart
                                           ? SavedTensor::output(variable, static_cast<uint32_t>(variable.output_nr()))
                                           : SavedTensor::input(variable)});
}
SavedVariable::SavedVariable(const std::optional<Variable>& variable, bool is_output, bool is_inplace_on_view)
    : SavedVariable(variable.value_or(Variable()), is_output, is_inplace_on_view) {}
SavedVariable::SavedVariable(SavedVariable&&) noexcept = default;
SavedVariable& SavedVariable::operator=(SavedVariable&&) noexcept = default;
SavedVariable::~SavedVariable() = default;

Variable SavedVariable::unpack(const std::shared_ptr<Node>& saved_for) const {
  if (!state_) return {};
  return saved_for ? state_->tensor.unpack(*saved_for) : state_->tensor.unpack_input();
}
void SavedVariable::reset_data() {
  if (state_) state_->tensor.release();
}

void copy_range(variable_list& out, IndexRange range, const Tensor& t) {
  HB_CHECK(range.second <= out.size() && range.second - range.first == 1,
           "[copy_range] expected one place for a tensor");
  out[range.first] = t;
}
void copy_range(variable_list& out, IndexRange range, TensorList list) {
  HB_CHECK(range.second <= out.size() && range.second - range.first == list.size(), "[copy_range] expected ",
           list.size(), " places");
  std::copy(list.begin(), list.end(), out.begin() + static_cast<std::ptrdiff_t>(range.first));
}

bool any_variable_requires_grad(const variable_list& variables) {
  return std::any_of(variables.begin(), variables.end(),
                     [](const Variable& v) { return v.defined() && v.requires_grad(); });
}

void detail::add_variables(variable_list& list, const Tensor& t) { list.push_back(t); }
void detail::add_variables(variable_list& list, const std::optional<Tensor>& t) {
  list.push_back(t.value_or(Tensor()));
}
void detail::add_variables(variable_list& list, TensorList tensors) {
  list.insert(list.end(), tensors.begin(), tensors.end());
}
void detail::add_variables(variable_list& list, const variable_list& tensors) {
  list.insert(list.end(), tensors.begin(), tensors.end());
}

edge_list detail::edges_of(const variable_list& variables) {
  edge_list edges;
  for (const Variable& v : variables) edges.push_back(v.defined() ? gradient_edge(v) : Edge());
  return edges;
}

void set_history(const Variable& variable, const std::shared_ptr<Node>& grad_fn) {
  HB_CHECK(grad_fn, "[set_history] expected a grad_fn");
  if (!variable.defined()) {
    grad_fn->add_input_metadata(empty({0}));
    return;
  }
  HB_CHECK(is_differentiable_type(variable.scalar_type()), "[set_history] tensors of dtype ", variable.scalar_type(),
           " have no gradient");
  Tensor result = variable;
  hb::detail::attach(grad_fn, result);
}
void set_history(const std::vector<Variable>& variables, const std::shared_ptr<Node>& grad_fn) {
  for (const Variable& v : variables) set_history(v, grad_fn);
}

void impl::set_gradient_edge(const Variable& variable, Edge edge) {
  AutogradMeta& meta = variable.impl().materialize_autograd_meta();
  meta.grad_fn = std::move(edge.function);
  meta.output_nr = edge.input_nr;
}

std::shared_ptr<Node> impl::grad_accumulator(const Variable& variable) {
  if (!variable.defined() || !variable.requires_grad() || !variable.is_leaf()) return nullptr;
  return gradient_edge(variable).function;
}

}  // namespace hb::autodiff
