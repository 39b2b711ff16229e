// Utilities of c10 that programs include by their headers.
#include <ATen/core/Dimname.h>
#include <ATen/core/symbol.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Flags.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>
#include <c10/util/Registry.h>
#include <c10/util/TypeCast.h>
#include <c10/util/env.h>
#include <c10/util/safe_numerics.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "parity/bad.h"
#include "parity/case.h"

C10_DEFINE_int(utility_number, 3, "a number");
C10_DEFINE_int64(utility_wide, 4, "a wide one");
C10_DEFINE_double(utility_real, 1.5, "a real one");
C10_DEFINE_bool(utility_switch, false, "a switch");
C10_DEFINE_string(utility_text, "abc", "a text");

namespace {

struct Shape {
  explicit Shape(int side) : side(side) {}
  virtual ~Shape() = default;
  virtual int area() const = 0;
  int side;
};
struct Square : Shape {
  using Shape::Shape;
  int area() const override { return side * side; }
};
struct Line : Shape {
  using Shape::Shape;
  int area() const override { return 0; }
};
C10_DECLARE_REGISTRY(Shapes, Shape, int);
C10_DEFINE_REGISTRY(Shapes, Shape, int);
C10_REGISTER_CLASS(Shapes, Square, Square);
C10_REGISTER_CREATOR(Shapes, Thin, [](int side) { return std::unique_ptr<Shape>(new Line(side)); });
C10_DECLARE_TYPED_REGISTRY(Numbered, int, Shape, std::shared_ptr, int);
C10_DEFINE_TYPED_REGISTRY_WITHOUT_WARNING(Numbered, int, Shape, std::shared_ptr, int);
C10_REGISTER_TYPED_CLASS(Numbered, 7, Square);

TORCH_LIBRARY(parity_undiff, m) {
  m.def("twice(Tensor x) -> Tensor");
  m.def("double_(Tensor(a!) x) -> Tensor(a!)");
  m.def("plain(Tensor x) -> Tensor");  // nothing for autograd
}
TORCH_LIBRARY_IMPL(parity_undiff, CompositeExplicitAutograd, m) {
  m.impl("twice", [](const at::Tensor& x) { return x * 2; });
  m.impl("double_", [](at::Tensor& x) -> at::Tensor& { return x.mul_(2); });
  m.impl("plain", [](const at::Tensor& x) { return x * 3; });
}
TORCH_LIBRARY_IMPL(parity_undiff, Autograd, m) {
  m.impl("twice", torch::autograd::autogradNotImplementedFallback());
  m.impl("double_", torch::autograd::autogradNotImplementedFallback());
}

// What is left of the arguments.
std::string parsed(std::vector<std::string> arguments, bool* good) {
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(&argument[0]);
  int count = static_cast<int>(pointers.size());
  char** all = pointers.data();
  *good = c10::ParseCommandLineFlags(&count, &all);
  std::string left;
  for (int i = 0; i < count; ++i) left += all[i] + std::string(";");
  return left;
}

template <class T>
torch::Tensor values_of_all_codes() {
  std::vector<float> values;
  for (int code = 0; code < 256; ++code)
    values.push_back(static_cast<float>(T(static_cast<uint8_t>(code), T::from_bits())));
  return torch::tensor(values);
}

// Between, at and beyond all numbers of the formats.
std::vector<float> sweep() {
  std::vector<float> values = {0.f,
                               -0.f,
                               448.f,
                               464.f,
                               464.1f,
                               480.f,
                               240.f,
                               247.9f,
                               248.f,
                               57344.f,
                               61439.f,
                               61440.f,
                               65536.f,
                               1e30f,
                               1e-30f,
                               std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN(),
                               std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::max()};
  for (float v = 1e-7f; v < 1e6f; v *= 1.0173f) values.push_back(v);
  for (int i = 1; i < 64; ++i) values.push_back(std::ldexp(static_cast<float>(i), -20));  // ties of small numbers
  for (int i = 1; i < 256; ++i) values.push_back(static_cast<float>(i) / 16);
  const size_t n = values.size();
  for (size_t i = 0; i < n; ++i) values.push_back(-values[i]);
  return values;
}
template <class T>
void float8(parity::Case& c, const std::string& name) {
  c.out(name + " values", values_of_all_codes<T>());
  std::vector<int64_t> codes;
  for (float value : sweep()) codes.push_back(std::isnan(value) ? T(value).isnan() : T(value).x);
  c.out(name + " codes", torch::tensor(codes));
  using Limits = std::numeric_limits<T>;
  c.out(name + " limits", torch::tensor({float(Limits::lowest()), float(Limits::max()), float(Limits::min()),
                                         float(Limits::denorm_min()), float(Limits::quiet_NaN())}));
  c.value(name + " sum", static_cast<double>(static_cast<float>(T(1.25f) + T(3.f))));
  c.value(name + " product", static_cast<double>(static_cast<float>(T(1.25f) * T(3.f))));
}

}  // namespace

PARITY_CASE(utility_headers, flags) {
  bool good = false;
  c.text("usage", c10::UsageMessage());
  c.text(
      "left",
      parsed({"program", "--utility_number=5", "rest", "--utility_switch", "true", "-x", "--utility_text=a=b"}, &good));
  c.value("good", good), c.value("parsed", c10::CommandLineFlagsHasBeenParsed());
  c.value("number", static_cast<int64_t>(FLAGS_utility_number)), c.value("switch", FLAGS_utility_switch);
  c.text("text", FLAGS_utility_text);
  parsed({"program", "--utility_wide=99999999999", "--utility_real=2e3"}, &good);
  c.value("wide", FLAGS_utility_wide), c.value("real", FLAGS_utility_real);
  for (const char* wrong : {"--utility_switch=maybe", "--not_there=1", "--utility_number"}) {
    c.text(std::string("left of ") + wrong, parsed({"program", "first", wrong, "--utility_number=8"}, &good));
    c.value(std::string("good ") + wrong, good);
  }
  c.value("unchanged", static_cast<int64_t>(FLAGS_utility_number));
  c.text("help", c10::C10FlagsRegistry()->HelpMessage("utility_number"));
}

PARITY_CASE(utility_headers, registries) {
  c.value("square", static_cast<int64_t>(Shapes()->Create("Square", 4)->area()));
  c.value("thin", static_cast<int64_t>(Shapes()->Create("Thin", 4)->area()));
  c.value("none", Shapes()->Create("Round", 4) == nullptr), c.value("has", Shapes()->Has("Thin"));
  auto keys = Shapes()->Keys();
  std::sort(keys.begin(), keys.end());
  c.text("keys", keys.at(0) + keys.at(1));
  c.value("help", Shapes()->HelpMessage("Square") != nullptr),
      c.value("no help", Shapes()->HelpMessage("Round") == nullptr);
  c.value("numbered", static_cast<int64_t>(Numbered()->Create(7, 3)->area()));
  const auto line = [](int side) { return std::unique_ptr<Shape>(new Line(side)); };
  Shapes()->SetTerminate(false);
  c.throws("twice", [&] { Shapes()->Register("Square", line); });
  Shapes()->Register("Square", line, c10::REGISTRY_FALLBACK);
  c.value("of lower priority", static_cast<int64_t>(Shapes()->Create("Square", 4)->area()));
  Shapes()->Register("Square", line, c10::REGISTRY_PREFERRED);
  c.value("of higher priority", static_cast<int64_t>(Shapes()->Create("Square", 4)->area()));
}

PARITY_CASE(utility_headers, symbols) {
  using c10::Symbol;
  for (const std::string name : {"aten::add", "my::thing", "a::b::c", "::b", "b::", "attr::x"}) {
    const Symbol s = Symbol::fromQualString(name);
    c.text(name, std::string(s.toQualString()) + " " + s.toUnqualString() + " " + s.toDisplayString() + " " +
                     s.ns().toQualString() + " " + s.ns().ns().toQualString() + " " + s.domainString());
    c.value(name + " same", s == Symbol::fromQualString(name));
    c.value(name + " aten", s.is_aten()), c.value(name + " attr", s.is_attr()), c.value(name + " prim", s.is_prim());
  }
  c.text("none", Symbol().toQualString());
  c.text("made", std::string(Symbol::user("u").toQualString()) + Symbol::caffe2("u").toQualString() +
                     Symbol::scope("u").toQualString() + Symbol::onnx("u").toQualString());
  c.text("domain", Symbol::fromDomainAndUnqualString("org.pytorch.attr", "x").toQualString());
  SAYS("all symbols must have a namespace, <namespace>::<string>, but found: nocolons",
       Symbol::fromQualString("nocolons"));
  SAYS("domain string is expected to be prefixed with", Symbol::fromDomainAndUnqualString("foo.attr", "x"));
}

PARITY_CASE(utility_headers, names_of_dimensions) {
  using at::Dimname;
  const auto batch = Dimname::fromSymbol(c10::Symbol::dimname("N")), any = Dimname::wildcard();
  const auto channels = Dimname::fromSymbol(c10::Symbol::dimname("C"));
  std::ostringstream out;
  out << batch << any << batch.symbol().toQualString() << any.symbol().toQualString();
  c.text("printed", out.str());
  c.value("matches", batch.matches(any)), c.value("other", batch.matches(channels)), c.value("any", any.matches(batch));
  c.value("unified", *any.unify(batch) == batch), c.value("not", batch.unify(channels).has_value());
  c.value("wildcard", any.isWildcard()), c.value("basic", batch.isBasic());
  for (const char* name : {"a1", "1a", "", "*", "_x", "a b"}) c.value(name, Dimname::isValidName(name));
  SAYS("Invalid name: a valid identifier contains only digits", Dimname::fromSymbol(c10::Symbol::dimname("1N")));
  c.throws("another namespace", [] { Dimname::fromSymbol(c10::Symbol::attr("N")); });
}

PARITY_CASE(utility_headers, environment) {
  c10::utils::set_env("PARITY_UTILITY", "1");
  c.value("true", c10::utils::check_env("PARITY_UTILITY").value());
  c10::utils::set_env("PARITY_UTILITY", "0", false);
  c.text("kept", c10::utils::get_env("PARITY_UTILITY").value());
  c10::utils::set_env("PARITY_UTILITY", "0");
  c.value("false", c10::utils::check_env("PARITY_UTILITY").value());
  c10::utils::set_env("PARITY_UTILITY", "maybe");
  c.value("neither", c10::utils::check_env("PARITY_UTILITY").has_value());
  c.value("has", c10::utils::has_env("PARITY_UTILITY")), c.value("not", c10::utils::has_env("PARITY_UTILITY_NOT"));
  c.value("none", c10::utils::get_env("PARITY_UTILITY_NOT").has_value());
}

PARITY_CASE(utility_headers, overflows) {
  int64_t sum = 0;
  uint64_t product = 0;
  c.value("add", c10::add_overflows(INT64_MAX, int64_t{1}, &sum)), c.value("sum", sum);
  c.value("fits", c10::add_overflows(int64_t{3}, int64_t{4}, &sum)), c.value("7", sum);
  c.value("mul", c10::mul_overflows(uint64_t{1} << 63, uint64_t{2}, &product));
  const std::vector<int64_t> sizes{3, 4, 5}, huge{int64_t{1} << 40, int64_t{1} << 40};
  c.value("sizes", c10::safe_multiplies_u64(sizes, &product)), c.value("60", static_cast<int64_t>(product));
  c.value("huge", c10::safe_multiplies_u64(huge.begin(), huge.end(), &product));
  c.throws("int8", [] { c10::checked_convert<int8_t, int>(300, "int8_t"); });
  c.throws("float", [] { c10::checked_convert<float, double>(1e300, "float"); });
  c.throws("uint8", [] { c10::checked_convert<uint8_t, int>(-300, "uint8_t"); });
  c.throws("complex", [] { c10::checked_convert<double>(c10::complex<double>(1, 2), "double"); });
  c.value("negative", static_cast<int64_t>(c10::checked_convert<uint8_t, int>(-3, "uint8_t")));
  c.value("infinite", static_cast<double>(c10::checked_convert<float, double>(INFINITY, "float")));
  c.value("half", static_cast<double>(c10::convert<float>(c10::convert<c10::Half>(0.1))));
  c.value("bool", c10::convert<bool>(0.5));
  c.value("of int64", c10::overflows<int32_t, int64_t>(int64_t{1} << 31));
  c.value("of int32", c10::overflows<int64_t, int32_t>(-1));
  c.value("of uint64", c10::overflows<int64_t, uint64_t>(UINT64_MAX));
  c.value("strict", c10::overflows<uint8_t, int>(-3, true));
  c.value("to half", c10::overflows<c10::Half, float>(70000.f));
}

PARITY_CASE(utility_headers, numbers_of_8_bits) {
  float8<c10::Float8_e4m3fn>(c, "e4m3fn");
  float8<c10::Float8_e5m2>(c, "e5m2");
  float8<c10::Float8_e4m3fnuz>(c, "e4m3fnuz");
  float8<c10::Float8_e5m2fnuz>(c, "e5m2fnuz");
}

PARITY_CASE(utility_headers, operators_without_a_derivative) {
  const auto find = [](const char* name) { return c10::Dispatcher::singleton().findSchemaOrThrow(name, ""); };
  auto twice = find("parity_undiff::twice").typed<at::Tensor(const at::Tensor&)>();
  auto twice_in_place = find("parity_undiff::double_").typed<at::Tensor&(at::Tensor&)>();
  auto x = torch::ones({2}).requires_grad_();
  const auto y = twice.call(x);
  c.out("result", y), c.value("requires grad", y.requires_grad()), c.text("node", y.grad_fn()->name());
  SAYS("derivative for parity_undiff::twice is not implemented", y.sum().backward());
  c.value("of none", twice.call(torch::ones({2})).requires_grad());
  {
    const torch::NoGradGuard no_grad;
    c.value("without grad", twice.call(x).requires_grad());
  }
  SAYS("a leaf Variable that requires grad is being used in an in-place operation.", twice_in_place.call(x));
  auto changed = x * 1;
  twice_in_place.call(changed);
  c.out("changed", changed);
  SAYS("derivative for parity_undiff::double_ is not implemented", changed.sum().backward());
}

PARITY_CASE(utility_headers, operators_without_a_function_for_autograd) {
  using torch::autograd::AutogradFallbackMode;
  auto plain =
      c10::Dispatcher::singleton().findSchemaOrThrow("parity_undiff::plain", "").typed<at::Tensor(const at::Tensor&)>();
  auto x = torch::ones({2}).requires_grad_();
  c.value("mode", torch::autograd::getAutogradFallbackMode() == AutogradFallbackMode::Warn);
  SAYS("NYI: mode='error'", torch::autograd::setAutogradFallbackMode(AutogradFallbackMode::Error));
  torch::autograd::setAutogradFallbackMode(AutogradFallbackMode::Nothing);
  plain.call(x).sum().backward();
  c.out("gradient", x.grad());
  torch::autograd::setAutogradFallbackMode(AutogradFallbackMode::Warn);
}

PARITY_CASE(utility_headers, sets_of_keys) {
  const c10::DispatchKeySet two({c10::DispatchKey::AutogradCPU, c10::DispatchKey::ADInplaceOrView});
  c.value("before", c10::impl::tls_is_dispatch_keyset_excluded(two));
  const c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKeySet(c10::DispatchKey::AutogradCPU));
  c.value("one", c10::impl::tls_is_dispatch_keyset_excluded(two));
  const c10::impl::ExcludeDispatchKeyGuard both(two);
  c.value("both", c10::impl::tls_is_dispatch_keyset_excluded(two));
  c.value("included", c10::impl::tls_is_dispatch_keyset_included(two));
}
