#include <halfbridge/bridge/autograd/custom_node.h>

#include <algorithm>

#include <halfbridge/ops/factories.h>

#include "autograd/accumulate_grad.h"
#include "autograd/record.h"

namespace hb::autodiff {

SavedVariableHooks::~SavedVariableHooks() = default;

struct SavedVariable::State {
  SavedTensor tensor;
  // What the hooks know nothing of.
  std::unique_ptr<SavedVariableHooks> hooks;
  Edge history;                      // of a saved input
  std::optional<int64_t> output_nr;  // of a saved result

  void pack(const Variable& saved);
  Variable unpacked(const std::shared_ptr<Node>& saved_for) const;
};

void SavedVariable::State::pack(const Variable& saved) {
  if (!output_nr) history = gradient_edge(saved);
  const NoGradGuard no_grad;
  const Tensor shown = saved.detach();
  const auto version = shown._version();
  hooks->call_pack_hook(shown);
  HB_CHECK(
      shown._version() == version,
      "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be "
      "modified by in-place operations as this can lead to unexpected side-effects.");
  tensor.release();
}

// The hook's tensor in the place of the one that was saved.
Variable SavedVariable::State::unpacked(const std::shared_ptr<Node>& saved_for) const {
  Tensor given = hooks->call_unpack_hook();
  const Edge edge = output_nr ? Edge(saved_for, static_cast<uint32_t>(*output_nr)) : history;
  if (!edge.is_valid()) return given;
  Tensor variable(given.impl().alias(true));
  AutogradMeta& meta = variable.impl().materialize_autograd_meta();
  if (dynamic_cast<const AccumulateGrad*>(edge.function.get())) {
    meta.requires_grad = true;
    meta.grad_accumulator = edge.function;
  } else {
    meta.grad_fn = edge.function;
    meta.output_nr = edge.input_nr;
  }
  return variable;
}

SavedVariable::SavedVariable() = default;
SavedVariable::SavedVariable(const Variable& variable, bool is_output, bool /*is_inplace_on_view*/) {
  if (!variable.defined()) return;
  // A leaf that an operation gives back as it is has no history that could own the node.
  const bool kept_apart = is_output && !(variable.is_leaf() && variable.requires_grad());
  const auto nr = static_cast<uint32_t>(variable.output_nr());
  auto* state = new State{kept_apart ? SavedTensor::output(variable, nr) : SavedTensor::input(variable), {}, {}, {}};
  if (kept_apart) state->output_nr = nr;
  state_ = hb::detail::Owned(state);
}
SavedVariable::SavedVariable(const std::optional<Variable>& variable, bool is_output, bool is_inplace_on_view)
    : SavedVariable(variable.value_or(Variable()), is_output, is_inplace_on_view) {}
SavedVariable::SavedVariable(SavedVariable&&) noexcept = default;
SavedVariable& SavedVariable::operator=(SavedVariable&&) noexcept = default;
SavedVariable::~SavedVariable() = default;

Variable SavedVariable::unpack(const std::shared_ptr<Node>& saved_for) const {
  if (!state_) return {};
  if (state_->hooks) return state_->unpacked(saved_for);
  return saved_for ? state_->tensor.unpack(*saved_for) : state_->tensor.unpack_input();
}
void SavedVariable::reset_data() {
  if (!state_) return;
  state_->hooks.reset();
  state_->history = {};
  state_->tensor.release();
}
bool SavedVariable::has_hooks() const { return state_ && state_->hooks; }
void SavedVariable::register_hooks(std::unique_ptr<SavedVariableHooks>&& hooks) {
  HB_CHECK(hooks, "[register_hooks] expected hooks, got null");
  HB_CHECK(
      !has_hooks(),
      "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
      "allowed at a time.");
  HB_CHECK(state_, "Calling register_hooks on a saved tensor with value None is forbidden");
  HB_CHECK(
      state_->tensor.defined(),
      "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are "
      "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
      "the graph a second time or if you need to access saved variables after calling backward.");
  const Variable saved = state_->tensor.unpack_input();
  state_->hooks = std::move(hooks);
  state_->pack(saved);
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
