// What happens to an operator that has no function for autograd when an argument requires gradients: it runs, and what
// it recorded itself stands. Whoever goes back through it is warned, as the operator's gradient may be missing. And
// what a program may register instead.
#include <halfbridge/autograd.h>
#include <halfbridge/bridge/autograd/basic_nodes.h>
#include <halfbridge/bridge/autograd/custom_node.h>
#include <halfbridge/bridge/dispatch/not_implemented_fallback.h>

#include <atomic>

#include "dispatch/operator_entry.h"

namespace hb::bridge {
namespace {

using autodiff::AutogradFallbackMode;
std::atomic<AutogradFallbackMode> fallback_mode{AutogradFallbackMode::Warn};

void warn_not_implemented(const std::string& op) {
  const std::string message =
      op +
      ": an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through it. "
      "This may lead to silently incorrect behavior. If your operator is differentiable, please ensure you have "
      "registered an autograd kernel to the correct Autograd key (e.g. DispatchKey::Autograd, "
      "DispatchKey::CompositeImplicitAutograd). If your operator is not differentiable, or to squash this "
      "warning, please register torch::CppFunction::makeFallthrough() to DispatchKey::Autograd.";
  hb::detail::warn(message);
}

struct WarnNotImplemented : autodiff::Node {
  std::string op;
  WarnNotImplemented(std::string op, autodiff::edge_list edges) : Node(std::move(edges)), op(std::move(op)) {}
  variable_list apply(variable_list&&) override {
    warn_not_implemented(op);
    return variable_list(num_outputs());
  }
  std::string name() const override { return "torch::autograd::WarnNotImplemented"; }
};

template <class F>
void for_each_tensor(ArrayRef<IValue> values, F&& visit) {
  for (const IValue& value : values) {
    if (value.isTensor() && value.toTensor().defined()) visit(value.toTensor());
    if (!value.isTensorList() && !value.isOptionalTensorList()) continue;
    for (const IValue& item : value.toListRef()) {
      if (item.isTensor() && item.toTensor().defined()) visit(item.toTensor());
    }
  }
}

void run(OperatorKernel*, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  if (fallback_mode == AutogradFallbackMode::Nothing) return op.redispatchBoxed(keys & after_autograd_keyset, stack);
  const FunctionSchema& schema = op.schema();
  autodiff::edge_list edges;
  std::vector<const TensorImpl*> arguments;
  for_each_tensor(jit::last(*stack, schema.arguments().size()), [&](const Tensor& t) {
    if (t.requires_grad()) edges.push_back(gradient_edge(t));
    arguments.push_back(t.unsafeGetTensorImpl());
  });
  op.redispatchBoxed(keys & after_autograd_keyset, stack);
  for_each_tensor(jit::last(*stack, schema.returns().size()), [&](const Tensor& result) {
    for (const TensorImpl* argument : arguments) {
      if (argument == result.unsafeGetTensorImpl()) return;
    }
    const std::string name = op.operator_name().name;
    if (result.requires_grad()) {
      result.register_hook([name](const Tensor&) { warn_not_implemented(name); });
    } else if (result.is_floating_point() || result.is_complex()) {
      autodiff::set_history(result, std::make_shared<WarnNotImplemented>(name, edges));
    }
  });
}

void check_changed_arguments(const FunctionSchema& schema, ArrayRef<IValue> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const AliasInfo* const alias = schema.arguments()[i].alias_info();
    if (!alias || !alias->isWrite()) continue;
    for_each_tensor(ArrayRef<IValue>(arguments[i]), [](const Tensor& t) {
      HB_CHECK(!t.is_leaf() || !t.requires_grad(),
               "a leaf Variable that requires grad is being used in an in-place operation.");
    });
  }
}

void run_without_derivative(OperatorKernel*, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const FunctionSchema& schema = op.schema();
  const ArrayRef<IValue> arguments = jit::last(*stack, schema.arguments().size());
  autodiff::edge_list edges;
  for_each_tensor(arguments, [&](const Tensor& t) {
    if (t.requires_grad()) edges.push_back(gradient_edge(t));
  });
  const bool recorded = GradMode::is_enabled() && !edges.empty();
  if (recorded) check_changed_arguments(schema, arguments);
  {
    const AutoGradMode no_grad(false);
    op.redispatchBoxed(keys & after_autograd_keyset, stack);
  }
  if (!recorded) return;
  const auto node = std::make_shared<autodiff::NotImplemented>(op.operator_name().name, std::move(edges));
  for_each_tensor(jit::last(*stack, schema.returns().size()), [&](const Tensor& result) {
    if (is_differentiable_type(result.scalar_type())) autodiff::set_history(result, node);
  });
}

}  // namespace

const RegisteredKernel& autograd_fallback() {
  static const auto* const kernel = new RegisteredKernel{KernelFunction(BoxedKernel(nullptr, &run)), std::nullopt,
                                                         "built in, warns in the backward pass"};
  return *kernel;
}

}  // namespace hb::bridge

namespace hb::autodiff {

bridge::CppFunction autogradNotImplementedFallback() {
  return bridge::CppFunction::makeFromBoxedKernel(bridge::BoxedKernel(nullptr, &bridge::run_without_derivative));
}
bridge::CppFunction basicAutogradNotImplementedFallback() {
  return bridge::CppFunction::makeFromBoxedKernel(bridge::BoxedKernel(nullptr, &bridge::run));
}

void setAutogradFallbackMode(AutogradFallbackMode mode) {
  HB_CHECK(mode != AutogradFallbackMode::Error, "[setAutogradFallbackMode] NYI: mode='error'");
  bridge::fallback_mode = mode;
}
AutogradFallbackMode getAutogradFallbackMode() { return bridge::fallback_mode; }

}  // namespace hb::autodiff
