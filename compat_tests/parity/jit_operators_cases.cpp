// Operators that programs look up by name, and their schemas.
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/script.h>

#include <set>

#include "case.h"

PARITY_CASE(jit_operators, found) {
  std::set<std::string> names;
  for (const auto& op : torch::jit::getAllOperators()) names.insert(op->schema().name());
  for (const char* name : {"aten::add", "aten::conv2d", "aten::size", "aten::tensor", "aten::softmax", "aten::relu_"})
    c.check(names.count(name) == 1, name);
  for (const char* name : {"aten::sum", "aten::mean", "aten::matmul", "aten::max_pool2d"}) {
    for (const auto& op : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name))) {
      const std::string& overload = op->schema().overload_name();
      if (overload.empty() || overload == "dim_IntList" || overload == "dim")
        c.text(std::string(name) + "." + overload, toString(op->schema()));
    }
  }
  c.check(torch::jit::findOperatorFor(c10::OperatorName("aten::add", "nothing")) == nullptr, "no such overload");
}

PARITY_CASE(jit_operators, run) {
  auto operation = torch::jit::findOperatorFor(c10::OperatorName("aten::add", "Tensor"))->getOperation();
  torch::jit::Stack stack{c.randn({2, 3}), c.randn({2, 3}), 2};
  operation(stack);
  c.out("add", stack.at(0).toTensor());
}
