// Which operators of the namespace aten compute on the CPU and on a CUDA device, for each dtype: a line
// "name <tab> dtype <tab> yes, or what the device said" for every pair that the CPU computes.
//
// Arguments are found by trying: for each operator the first of some shapes and numbers that the CPU takes.
#include <torch/torch.h>

#include <torch/library.h>

#include <setjmp.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using c10::IValue;
using torch::Tensor;
using Stack = std::vector<IValue>;
using Shape = std::vector<int64_t>;

const std::vector<std::pair<torch::Dtype, const char*>> kDtypes{
    {torch::kFloat, "float32"},
    {torch::kDouble, "float64"},
    {torch::kHalf, "float16"},
    {torch::kBFloat16, "bfloat16"},
    {torch::kByte, "uint8"},
    {torch::kChar, "int8"},
    {torch::kShort, "int16"},
    {torch::kInt, "int32"},
    {torch::kLong, "int64"},
    {torch::kBool, "bool"},
    {torch::kComplexFloat, "complex64"},
    {torch::kComplexDouble, "complex128"},
};

/// One way to fill an operator's arguments.
struct Guess {
  Shape shape, second;        // of the first tensor, and of the others
  std::vector<int64_t> list;  // of numbers
  int64_t number;
  std::string second_kind;  // of tensors after the first: like (it), long, bool
};

std::vector<Guess> guesses() {
  std::vector<Guess> all;
  const std::vector<std::pair<Shape, Shape>> shapes{{{2, 3}, {2, 3}},
                                                    {{3, 3}, {3, 3}},
                                                    {{4}, {4}},
                                                    {{4}, {}},
                                                    {{2, 3}, {3}},
                                                    {{2, 3, 4}, {2, 4, 3}},
                                                    {{2, 3, 4}, {4}},
                                                    {{2, 3}, {2}},
                                                    {{1, 2, 6, 6}, {4, 2, 3, 3}},
                                                    {{1, 2, 6, 6}, {2}},
                                                    {{1, 2, 6}, {4, 2, 3}},
                                                    {{1, 2, 4, 4, 4}, {2, 2, 3, 3, 3}},
                                                    {{1, 2, 4, 4, 4}, {2}},
                                                    {{1, 4, 2, 2}, {4, 4, 2, 2}},
                                                    {{1, 4, 4}, {4, 4, 4}},
                                                    {{}, {}},
                                                    {{2, 4, 6, 8}, {2, 4, 6, 8}},
                                                    {{1, 2, 6, 6}, {1, 4, 4, 2}},
                                                    {{3, 4}, {4, 3}},
                                                    {{2, 3}, {2, 2}}};
  for (const auto& [first, second] : shapes)
    for (const char* kind : {"like", "long", "bool"})
      for (const std::vector<int64_t>& list : std::vector<std::vector<int64_t>>{{0}, {1}, {2, 2}, {3, 3}, {1, 1, 1}})
        for (const int64_t number : {int64_t{1}, int64_t{0}, int64_t{2}})
          all.push_back({first, second, list, number, kind});
  return all;
}

/// Positive numbers up to 1, so that roots, logarithms and probabilities are defined; integers 0 and 1.
Tensor filled(const Shape& shape, torch::Dtype dtype, int64_t phase) {
  int64_t n = 1;
  for (const int64_t s : shape) n *= s;
  const Tensor count = torch::arange(n, torch::kDouble) + static_cast<double>(phase);
  if (c10::isIntegralType(dtype, true)) return count.remainder(2).reshape(shape).to(dtype);
  return (count.mul(0.37).sin().abs() * 0.8 + 0.1).reshape(shape).to(dtype);
}

/// The value of an argument, or nothing where no rule fits.
std::optional<IValue> value_of(const c10::Argument& a, const Guess& g, torch::Dtype dtype, int& tensors) {
  const std::string type = a.real_type()->str();
  const auto tensor = [&] {
    const bool first = tensors == 0;
    const torch::Dtype t = first || g.second_kind == "like" ? dtype
                           : g.second_kind == "long"        ? torch::kLong
                                                            : torch::kBool;
    return filled(first ? g.shape : g.second, t, tensors++);
  };
  if (type == "Tensor") return IValue(tensor());
  if (a.default_value()) return *a.default_value();
  if (type == "Tensor[]") return IValue(std::vector<Tensor>{tensor(), filled(g.shape, dtype, 2)});
  if (type == "Tensor?[]") return std::nullopt;
  if (type.back() == '?') return IValue();
  if (type == "int" || type == "SymInt") return IValue(g.number);
  if (type == "float") return IValue(0.5);
  if (type == "bool") return IValue(false);
  if (type == "Scalar" || type == "number") return IValue(g.number);
  if (type == "int[]" || type == "SymInt[]") {
    const auto wanted = a.N() ? static_cast<size_t>(*a.N()) : g.list.size();
    return IValue(std::vector<int64_t>(wanted, g.list[0]));
  }
  if (type == "ScalarType") return IValue(static_cast<int64_t>(dtype));
  return std::nullopt;
}

std::optional<Stack> arguments(const c10::FunctionSchema& schema, const Guess& guess, torch::Dtype dtype) {
  Stack stack;
  int tensors = 0;
  for (const auto& a : schema.arguments()) {
    const auto value = value_of(a, guess, dtype, tensors);
    if (!value) return std::nullopt;
    stack.push_back(*value);
  }
  if (tensors == 0) return std::nullopt;
  return stack;
}

IValue copied(const IValue& v, const torch::Device& device) {
  if (v.isTensor()) return IValue(v.toTensor().to(device, v.toTensor().scalar_type(), false, true));
  if (v.isTensorList()) {
    std::vector<Tensor> list;
    for (const Tensor& t : v.toTensorVector()) list.push_back(t.to(device));
    return IValue(list);
  }
  return v;
}

/// Where to go on after the host touched the device's memory.
sigjmp_buf after_fault;
void on_fault(int, siginfo_t*, void*) { siglongjmp(after_fault, 1); }

/// What the operator throws with copies of the arguments on a device; empty if nothing.
std::string call(const c10::OperatorHandle& op, const Stack& arguments, const torch::Device& device) {
  if (sigsetjmp(after_fault, 1) != 0) return "the host touched the device's memory";
  try {
    Stack stack;
    for (const IValue& v : arguments) stack.push_back(copied(v, device));
    torch::manual_seed(1);
    op.callBoxed(stack);
    if (device.is_cuda()) torch::cuda::synchronize();
    return {};
  } catch (const std::exception& e) {
    const std::string text = e.what();
    return text.empty() ? "?" : text.substr(0, text.find('\n'));
  }
}

/// Operators that do not compute with elements, or are not to be called.
bool left_out(const c10::FunctionSchema& schema) {
  static const std::set<std::string> names{"aten::to", "aten::cpu", "aten::cuda", "aten::pin_memory",
                                           "aten::is_pinned"};
  const auto is_out = [](const c10::Argument& a) { return a.is_out(); };
  return names.count(schema.name()) > 0 || std::any_of(schema.arguments().begin(), schema.arguments().end(), is_out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: operator_table FILE\n";
    return 2;
  }
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);  // before the device's own, which passes on what it does not know
  const std::string only = std::getenv("OPERATOR") ? std::getenv("OPERATOR") : "";
  torch::NoGradGuard no_grad;
  std::ofstream out(argv[1]);
  const auto all = guesses();
  std::map<std::pair<std::string, std::string>, std::string> rows;
  std::set<std::string> known, called;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0 || (!only.empty() && name.name != only)) continue;
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name.name.c_str(), name.overload_name.c_str());
    if (left_out(op.schema())) continue;
    const std::string function = name.name.substr(6);
    known.insert(function);
    size_t last = 0;  // the guess that fitted the dtype before
    for (const auto& [dtype, dtype_name] : kDtypes) {
      for (size_t k = 0; k < all.size(); ++k) {
        const size_t which = k == 0 ? last : k - 1 < last ? k - 1 : k;
        if (k > 0 && called.count(function + "." + name.overload_name)) break;
        const auto given = arguments(op.schema(), all[which], dtype);
        if (!given) break;
        if (!call(op, *given, torch::kCPU).empty()) continue;
        last = which;
        called.insert(function + "." + name.overload_name);
        called.insert(function);
        const std::string said = call(op, *given, torch::kCUDA);
        std::string& row = rows[{function, dtype_name}];
        if (row.empty() || !said.empty()) row = said.empty() ? "yes" : said;
        break;
      }
    }
  }
  for (const auto& [key, said] : rows) out << key.first << '\t' << key.second << '\t' << said << '\n';
  for (const std::string& function : known)
    if (!called.count(function)) out << function << "\t-\tnot called\n";
  return out.flush() ? 0 : 1;
}
