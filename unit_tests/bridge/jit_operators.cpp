// The operators that programs find by <torch/csrc/jit/runtime/operator.h>.
#include <gtest/gtest.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <set>

namespace {

torch::Tensor thrice(const torch::Tensor& x) { return x * 3; }

TEST(JitOperators, AllHaveNamesAndSchemas) {
  std::set<std::string> names;
  for (const auto& op : torch::jit::getAllOperators()) names.insert(op->schema().name());
  for (const char* name : {"aten::add", "aten::conv2d", "aten::size", "aten::tensor", "aten::sum"})
    EXPECT_EQ(names.count(name), 1u) << name;
  EXPECT_GT(names.size(), 800u);
}

TEST(JitOperators, OverloadsOfAName) {
  std::set<std::string> overloads;
  const auto& found = torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString("aten::sum"));
  for (const auto& op : found) overloads.insert(op->schema().overload_name());
  EXPECT_TRUE(overloads.count("") && overloads.count("dim_IntList"));
  EXPECT_EQ(&found, &torch::jit::getAllOperatorsFor(c10::Symbol::aten("sum")));
  EXPECT_TRUE(torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString("aten::no_such_thing")).empty());
}

TEST(JitOperators, CalledOnAStack) {
  const auto add = torch::jit::findOperatorFor(c10::OperatorName("aten::add", "Tensor"));
  ASSERT_TRUE(add && add->isC10Op());
  EXPECT_EQ(add->schema().arguments().at(1).name(), "other");
  torch::jit::Stack stack{torch::ones({2}), torch::ones({2}), 4};
  add->getOperation()(stack);
  EXPECT_TRUE(stack.at(0).toTensor().equal(torch::full({2}, 5.0f)));
  const auto size = torch::jit::findOperatorFor(c10::OperatorName("aten::dim", ""));
  ASSERT_TRUE(size && !size->isC10Op());
  stack = {torch::ones({2, 3})};
  size->getOperation()(stack);
  EXPECT_EQ(stack.at(0).toInt(), 2);
  EXPECT_EQ(torch::jit::findOperatorFor(c10::OperatorName("aten::add", "no_such")), nullptr);
  EXPECT_EQ(torch::jit::getOperatorForLiteral("aten::relu(Tensor self) -> Tensor")->schema().name(), "aten::relu");
  EXPECT_THROW(torch::jit::getOperatorForLiteral("aten::relu(Tensor self, int n) -> Tensor"), c10::Error);
}

TEST(JitOperators, RegisteredLater) {
  const auto name = c10::Symbol::fromQualString("jit_operators_test::thrice");
  EXPECT_TRUE(torch::jit::getAllOperatorsFor(name).empty());
  const auto registered = torch::RegisterOperators("jit_operators_test::thrice(Tensor x) -> Tensor", &thrice);
  ASSERT_EQ(torch::jit::getAllOperatorsFor(name).size(), 1u);
  torch::jit::Stack stack{torch::ones({1})};
  torch::jit::getAllOperatorsFor(name)[0]->getOperation()(stack);
  EXPECT_EQ(stack.at(0).toTensor().item<float>(), 3);
}

}  // namespace
