// Calls and registrations of operators that both libraries refuse.
#include <optional>
#include <utility>

#include "parity/operators.h"

namespace {

using at::Tensor;
using namespace parity;

template <class F>
void in_block(torch::Library::Kind kind, std::optional<c10::DispatchKey> key, F&& body) {
  torch::Library m(kind, "hb_case", key, "file.cpp", 7);
  body(m);
}
Tensor scaled(const Tensor& x, double by) { return x * by; }

}  // namespace

PARITY_CASE(registration_errors, wrong_calls) {
  auto& dispatcher = c10::Dispatcher::singleton();
  auto x = torch::ones({2});
  says(c, "Could not find schema for hb_case::nothere", [&] { find("hb_case::nothere"); });
  says(c, "Could not find schema for hb_case::scale.out", [&] { find("hb_case::scale", "out"); });
  says(c, "Tried to access or call an operator with a wrong signature",
       [&] { find("hb_case::scale").typed<Tensor(Tensor, double)>(); });
  says(c, "Could not run 'hb_case::no_kernel' with arguments from the 'CPU' backend",
       [&] { find("hb_case::no_kernel").typed<Tensor(const Tensor&)>().call(x); });
  says(c, "There were no tensor arguments to this function", [&] {
    torch::jit::Stack stack{c10::IValue(5), c10::IValue(0.5)};
    find("hb_case::cpu_only").callBoxed(&stack);
  });
  says(c, "pop() called on empty stack", [] {
    torch::jit::Stack stack;
    torch::jit::pop(stack);
  });
  c.value("findSchema", dispatcher.findSchema({"hb_case::nothere", ""}).has_value());
  c.value("findOp", dispatcher.findOp({"hb_case::scale", ""}).has_value());
  c.throws("boxed type", [&] {
    torch::jit::Stack stack{c10::IValue(x), c10::IValue("text")};
    find("hb_case::scale").callBoxed(&stack);
  });
}

PARITY_CASE(registration_errors, wrong_registrations) {
  using torch::Library;
  const auto fragment = [](auto body) { in_block(Library::FRAGMENT, std::nullopt, body); };
  const auto cpu = [](auto body) { in_block(Library::IMPL, c10::DispatchKey::CPU, body); };
  says(c, "with the same name and overload name multiple times",
       [&] { fragment([](Library& m) { m.def("scale(Tensor x, float by=2.) -> Tensor"); }); });
  says(c, "reason: The number of arguments is different. 2 vs 1.",
       [&] { fragment([](Library& m) { m.def("bad(Tensor x, int n) -> Tensor", [](Tensor x) { return x; }); }); });
  says(c, "reason: Type mismatch in argument 2: int vs float.", [&] {
    fragment([](Library& m) { m.def("bad(Tensor x, int n) -> Tensor", [](Tensor x, double) { return x; }); });
  });
  says(c, "reason: Type mismatch in return 1: Tensor vs int.", [&] {
    fragment([](Library& m) { m.def("bad(Tensor x, int n) -> Tensor", [](Tensor, int64_t n) { return n; }); });
  });
  says(c, "reason: The number of returns is different. 2 vs 1.",
       [&] { fragment([](Library& m) { m.def("bad(Tensor x) -> (Tensor, Tensor)", [](Tensor x) { return x; }); }); });
  says(c, "Explicitly provided namespace (other) in schema string does not match namespace",
       [&] { fragment([](Library& m) { m.def("other::bad(Tensor x) -> Tensor"); }); });
  says(c, "Explicitly provided namespace (other) in operator name does not match namespace",
       [&] { fragment([](Library& m) { m.impl("other::bad", [](Tensor x) { return x; }); }); });
  says(c, "Did you mean to call this function inside a TORCH_LIBRARY_IMPL block?",
       [&] { fragment([](Library& m) { m.fallback(torch::CppFunction::makeFallthrough()); }); });
  says(c, "Only a single TORCH_LIBRARY can be used to register the namespace hb_case",
       [&] { in_block(Library::DEF, std::nullopt, [](Library&) {}); });
  says(c, "Cannot define an operator inside of a TORCH_LIBRARY_IMPL block",
       [&] { cpu([](Library& m) { m.def("z(Tensor x) -> Tensor"); }); });
  says(c, "is inconsistent with the dispatch key of the enclosing TORCH_LIBRARY_IMPL block (CPU)",
       [&] { cpu([](Library& m) { m.impl("scale", c10::DispatchKey::CUDA, scaled); }); });
  says(c, "Mismatch in kernel C++ signatures",
       [&] { cpu([](Library& m) { m.impl("cpu_only", [](Tensor x) { return x; }); }); });
  says(c, "which apply to only a single namespace (you specified hb_case) are not supported",
       [&] { cpu([](Library& m) { m.fallback(torch::CppFunction::makeFallthrough()); }); });
  c.value("nothing stays", c10::Dispatcher::singleton().findOp({"hb_case::bad", ""}).has_value());
}
