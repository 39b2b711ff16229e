// Gradients written as classes of their own: Node, SavedVariable, collect_next_edges, set_history and hooks as objects.
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>

#include "parity/case.h"

using torch::Tensor;
using torch::autograd::Node;
using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

namespace {

struct MulBackward : Node {
  variable_list apply(variable_list&& grads) override {
    variable_list result(2);
    if (should_compute_output(0)) result[0] = grads[0] * b.unpack();
    if (should_compute_output(1)) result[1] = grads[0] * a.unpack();
    return result;
  }
  std::string name() const override { return "MyMul"; }
  void release_variables() override { a.reset_data(), b.reset_data(); }
  SavedVariable a, b;
};

Tensor my_mul(const Tensor& a, const Tensor& b) {
  std::shared_ptr<MulBackward> node;
  if (torch::autograd::compute_requires_grad(a, b)) {
    node = std::shared_ptr<MulBackward>(new MulBackward(), torch::autograd::deleteNode);
    node->set_next_edges(torch::autograd::collect_next_edges(a, b));
    node->a = SavedVariable(a, false);
    node->b = SavedVariable(b, false);
  }
  Tensor result;
  {
    torch::NoGradGuard no_grad;
    result = a * b;
  }
  if (node) torch::autograd::set_history(result, node);
  return result;
}

struct ExpBackward : Node {
  variable_list apply(variable_list&& grads) override { return {grads[0] * result.unpack(shared_from_this())}; }
  void release_variables() override { result.reset_data(); }
  SavedVariable result;
};

Tensor my_exp(const Tensor& x) {
  std::shared_ptr<ExpBackward> node(new ExpBackward(), torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(x));
  Tensor result;
  {
    torch::NoGradGuard no_grad;
    result = x.exp();
  }
  torch::autograd::set_history(result, node);
  node->result = SavedVariable(result, true);
  return result;
}

/// The sum of a list of tensors and a number of times one more.
struct SumBackward : Node {
  variable_list apply(variable_list&& grads) override {
    variable_list result(num_outputs());
    for (size_t i = 0; i < count; ++i)
      if (should_compute_output(i)) result[i] = grads[0];
    if (should_compute_output({{count, count + 1}})) result[count] = grads[0] * 3;
    return result;
  }
  size_t count = 0;
};

Tensor my_sum(const std::vector<Tensor>& list, const Tensor& last) {
  auto node = std::shared_ptr<SumBackward>(new SumBackward(), torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(list, last));
  node->count = list.size();
  Tensor sum;
  {
    torch::NoGradGuard no_grad;
    sum = last * 3;
    for (const Tensor& t : list) sum = sum + t;
  }
  torch::autograd::set_history(sum, node);
  return sum;
}

struct Doubling : torch::autograd::FunctionPreHook {
  variable_list operator()(const variable_list& grads) override { return {grads[0] * 2}; }
};

}  // namespace

PARITY_CASE(custom_node, saved_inputs) {
  const Tensor a = c.leaf({2, 3}), b = c.leaf({2, 3}), constant = c.randn({2, 3});
  c.gradients("both", {a, b}, [&] { return my_mul(a, b); });
  c.gradients("one", {a}, [&] { return my_mul(a, constant); });
  c.gradients("chain", {a, b}, [&] { return my_mul(my_mul(a, b).sin(), a); });
  c.value("constants have no history", my_mul(constant, constant).requires_grad());
  const Tensor y = my_mul(a, b);
  c.text("name", y.grad_fn()->name());
  c.value("leaf", y.is_leaf());
  c.value("outputs", static_cast<int64_t>(y.grad_fn()->num_outputs()));
  c.value("inputs", static_cast<int64_t>(y.grad_fn()->num_inputs()));
  y.sum().backward();
  c.throws("freed", [&] { y.sum().backward(); });
  const Tensor changed = b.detach().clone().requires_grad_(true), z = my_mul(a, changed);
  {
    torch::NoGradGuard no_grad;
    changed.mul_(2);
  }
  c.throws("changed in place", [&] { z.sum().backward(); });
}

PARITY_CASE(custom_node, second_gradients) {
  const Tensor x = c.leaf({3}, torch::kDouble), w = c.leaf({3}, torch::kDouble);
  c.gradcheck([&] { return my_mul(my_exp(x), w); }, {x, w});
  c.gradgradcheck([&] { return my_mul(my_exp(x), w); }, {x, w});
}

PARITY_CASE(custom_node, lists) {
  const Tensor a = c.leaf({2}), b = c.leaf({2}), last = c.leaf({2});
  c.gradients("list", {a, b, last}, [&] { return my_sum({a, b}, last) * 2; });
  c.gradients("last alone", {last}, [&] { return my_sum({a.detach(), b.detach()}, last); });
  c.value("requires", torch::autograd::any_variable_requires_grad({a.detach(), Tensor(), b}));
  {
    torch::NoGradGuard no_grad;
    c.value("edges without gradients", static_cast<int64_t>(torch::autograd::collect_next_edges(a, b).size()));
  }
}

PARITY_CASE(custom_node, hooks) {
  const Tensor x = c.leaf({3});
  const Tensor y = my_exp(x);
  y.grad_fn()->add_pre_hook(std::make_unique<Doubling>());
  variable_list seen;
  y.grad_fn()->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
      [&](const variable_list& outputs, const variable_list& inputs) {
        seen = inputs;
        return variable_list{outputs[0] + 1};
      }));
  y.sum().backward();
  c.out("gradient", x.grad());
  c.out("seen", seen[0]);

  const Tensor weight = c.leaf({2});
  const auto accumulator = torch::autograd::collect_next_edges(weight)[0].function;
  int64_t calls = 0;
  accumulator->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
      [&](const variable_list& outputs, const variable_list&) { return ++calls, outputs; }));
  (weight * 2).sum().backward();
  (weight * weight).sum().backward();
  c.value("calls of an accumulator's hook", calls);
  c.out("sum", weight.grad());
}
