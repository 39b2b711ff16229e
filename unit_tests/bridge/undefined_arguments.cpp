// What the operators of the dispatcher's table say of undefined tensors.
#include <gtest/gtest.h>
#include <torch/library.h>
#include <torch/torch.h>

#include <set>

namespace {

constexpr const char* kUndefinedDtype = "UNKNOWN_SCALAR";
// It asks for the dtype alone.
const std::set<std::string> kSayTheDtype = {"aten::type_as"};

c10::IValue value_for(const c10::Argument& a) {
  const std::string type = a.type()->str();
  if (type == "Tensor") return torch::rand({4, 4});
  if (type == "Tensor[]") return std::vector<torch::Tensor>{torch::rand({4, 4}), torch::rand({4, 4})};
  if (a.default_value()) return *a.default_value();
  if (type == "int" || type == "SymInt") return int64_t{1};
  if (type == "float") return 1.0;
  if (type == "bool") return false;
  if (type == "Scalar" || type == "number") return at::Scalar(1.0);
  if (type == "int[]" || type == "SymInt[]") return std::vector<int64_t>{1, 1};
  if (type == "float[]") return std::vector<double>{1, 1};
  if (type == "str") return std::string("mean");
  return {};
}

bool is_tensor(const c10::Argument& a) { return a.type()->str() == "Tensor"; }

// What the operator says when the tensors for which `missing(i)` holds are undefined; empty where it says nothing.
template <class Missing>
std::string complaint(const c10::OperatorHandle& op, const Missing& missing) {
  const auto& arguments = op.schema().arguments();
  std::vector<c10::IValue> stack;
  for (size_t i = 0; i < arguments.size(); ++i)
    stack.push_back(is_tensor(arguments[i]) && missing(i) ? c10::IValue(torch::Tensor()) : value_for(arguments[i]));
  try {
    op.callBoxed(&stack);
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(UndefinedArguments, AreWhatOperatorsComplainOf) {
  auto& dispatcher = c10::Dispatcher::singleton();
  size_t tried = 0, told = 0;
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findSchema(name);
    if (!op || name.name.rfind("aten::", 0) != 0) continue;
    const auto& arguments = op->schema().arguments();
    const auto check = [&](const std::string& which, const std::string& said) {
      ++tried;
      told += said.find("Expected a proper Tensor but got None (or an undefined Tensor in C++)") != said.npos;
      if (kSayTheDtype.count(name.name) == 0) {
        EXPECT_EQ(said.find(kUndefinedDtype), said.npos)
            << name.name << "." << name.overload_name << " " << which << ": " << said;
      }
    };
    for (size_t hole = 0; hole < arguments.size(); ++hole)
      if (is_tensor(arguments[hole]))
        check(arguments[hole].name(), complaint(*op, [&](size_t i) { return i == hole; }));
    check("all", complaint(*op, [](size_t) { return true; }));
  }
  EXPECT_GT(tried, 2000U);
  EXPECT_GT(told, tried * 8 / 10);
}

TEST(UndefinedArguments, AreNamed) {
  const torch::Tensor x = torch::rand({2}), none;
  const auto says = [](const auto& call) {
    try {
      call();
    } catch (const c10::Error& error) {
      return std::string(error.what_without_backtrace());
    }
    return std::string();
  };
  const std::string phrase = "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument ";
  EXPECT_EQ(says([&] { torch::mm(x, none); }), "[mm] " + phrase + "#1 'mat2'");
  EXPECT_EQ(says([&] { torch::celu(none); }), "[celu] " + phrase + "#0 'self'");
  EXPECT_EQ(says([&] { none.reshape({2}); }), "[reshape] " + phrase + "#0 'self'");
}

TEST(UndefinedArguments, MayStandForWhatAFunctionCanDoWithout) {
  const auto x = torch::rand({2, 3}), w = torch::rand({4, 3});
  EXPECT_TRUE(torch::equal(torch::linear(x, w, torch::Tensor()), torch::linear(x, w)));
  EXPECT_TRUE(torch::equal(torch::layer_norm(x, {3}, torch::Tensor(), torch::Tensor()), torch::layer_norm(x, {3})));
}

}  // namespace
