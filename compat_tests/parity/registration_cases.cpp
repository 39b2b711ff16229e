// Operators that a program registers, looked up and called.
#include <ATen/autocast_mode.h>
#include <torch/library.h>

#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "parity/operators.h"

namespace {

using at::Tensor;
using namespace parity;

std::vector<std::string> ran;  // the functions that a call reached

Tensor scale_cpu(const Tensor& x, double by) {
  ran.push_back("CPU");
  return x.detach() * by;
}
// An operator with a gradient of the program's own, as extensions write it.
struct Scale : torch::autograd::Function<Scale> {
  static Tensor forward(torch::autograd::AutogradContext* ctx, Tensor x, double by) {
    ctx->saved_data["by"] = by;
    at::AutoDispatchBelowADInplaceOrView below;
    static auto op =
        c10::Dispatcher::singleton().findSchemaOrThrow("hb_case::scale", "").typed<Tensor(const Tensor&, double)>();
    return op.call(x, by);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    return {grads[0] * ctx->saved_data["by"].toDouble(), Tensor()};
  }
};
Tensor scale_autograd(const Tensor& x, double by) {
  ran.push_back("Autograd");
  return Scale::apply(x, by);
}
Tensor scale_autocast(const Tensor& x, double by) {
  ran.push_back("Autocast");
  c10::impl::ExcludeDispatchKeyGuard off(c10::DispatchKey::AutocastCPU);
  static auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("hb_case::scale", "").typed<Tensor(const Tensor&, double)>();
  return op.call(x.to(torch::kFloat), by);
}
std::tuple<Tensor, int64_t> both(Tensor x, int64_t n) { return {x + n, n * 2}; }
Tensor& add_out(const Tensor& a, const Tensor& b, Tensor& out) { return out.copy_(a + b); }
Tensor sizes(const Tensor& x, at::IntArrayRef shape, std::optional<at::ScalarType> dtype) {
  return torch::ones(shape, x.options().dtype(dtype.value_or(x.scalar_type())));
}
Tensor gather_all(at::TensorList xs, const c10::List<std::optional<Tensor>>& maybe) {
  Tensor sum = torch::zeros({2});
  for (const Tensor& x : xs) sum = sum + x;
  for (const std::optional<Tensor>& x : maybe) sum = x.has_value() ? sum + *x : sum;
  return sum;
}
void by_stack(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  ran.push_back("boxed " + op.operator_name().name);
  const int64_t n = torch::jit::pop(*stack).toInt();
  const Tensor x = torch::jit::pop(*stack).toTensor();
  torch::jit::push(*stack, x * n);
}

TORCH_LIBRARY(hb_case, m) {
  m.def("scale(Tensor x, float by=2.) -> Tensor");
  m.def("both", &both);
  m.def("add.out(Tensor a, Tensor b, *, Tensor(a!) out) -> Tensor(a!)", &add_out);
  m.def("sizes(Tensor x, SymInt[2] shape=1, *, ScalarType? dtype=None) -> Tensor");
  m.def("gather_all(Tensor[] xs, Tensor?[] maybe) -> Tensor", &gather_all);
  m.def("by_stack(Tensor x, int n) -> Tensor");
  m.def("composite(Tensor x) -> Tensor", [](const Tensor& x) {
    ran.push_back("composite");
    return x * x;
  });
  m.def("explicit_(Tensor x) -> Tensor");
  m.def("cpu_only(Tensor x) -> Tensor");
  m.def("no_kernel(Tensor x) -> Tensor");
  m.def("count(int n) -> int", [](int64_t n) { return n + 1; });
  m.def("inferred", [](const Tensor& a, std::optional<Tensor> b, std::vector<int64_t> c, at::IntArrayRef d, double e,
                       std::string f, const at::Scalar& g, at::ScalarType h, c10::List<std::optional<Tensor>> i,
                       c10::Dict<std::string, Tensor> j, at::TensorList k, c10::SymInt l, c10::Device n,
                       std::optional<at::Generator> o, std::array<bool, 3> p) { return std::make_tuple(a, c, e); });
}
TORCH_LIBRARY_IMPL(hb_case, CPU, m) {
  m.impl("scale", TORCH_FN(scale_cpu));
  m.impl("sizes", sizes);
  m.impl("cpu_only", [](const Tensor& x) { return x * 3; });
}
TORCH_LIBRARY_IMPL(hb_case, Autograd, m) { m.impl("scale", scale_autograd); }
TORCH_LIBRARY_IMPL(hb_case, AutocastCPU, m) { m.impl("scale", scale_autocast); }
TORCH_LIBRARY_IMPL(hb_case, CompositeExplicitAutograd, m) {
  m.impl("explicit_", [](const Tensor& x) {
    ran.push_back("explicit");
    return x.detach() + 1;
  });
}
TORCH_LIBRARY_FRAGMENT(hb_case, m) {
  m.impl("by_stack", torch::dispatch(c10::DispatchKey::CPU, torch::CppFunction::makeFromBoxedFunction<&by_stack>()));
  m.impl("by_stack", torch::dispatch(c10::DispatchKey::Autograd, torch::CppFunction::makeFallthrough()));
}

std::string path() {
  std::string joined;
  for (const auto& each : ran) joined += each + " ";
  ran.clear();
  return joined;
}

}  // namespace

PARITY_CASE(registration, calls) {
  auto x = c.randn({2, 3});
  auto scale = find("hb_case::scale").typed<Tensor(const Tensor&, double)>();
  c.out("scale", scale.call(x, 3.0));
  torch::jit::Stack stack;
  torch::jit::push(stack, x, 0.5);
  scale.callBoxed(&stack);
  c.value("left", static_cast<int64_t>(stack.size()));
  c.out("boxed", torch::jit::pop(stack).toTensor());

  auto [sum, twice] = find("hb_case::both").typed<std::tuple<Tensor, int64_t>(Tensor, int64_t)>().call(x, 4);
  c.out("both", sum);
  c.value("twice", twice);
  torch::jit::push(stack, x, 5);
  find("hb_case::both").callBoxed(stack);
  c.value("two", static_cast<int64_t>(stack.size()));
  c.value("second", torch::jit::pop(stack).toInt());
  c.out("first", torch::jit::pop(stack).toTensor());

  auto out = torch::empty({2, 3});
  auto& same = find("hb_case::add", "out").typed<Tensor&(const Tensor&, const Tensor&, Tensor&)>().call(x, x, out);
  c.check(&same == &out, "the result is the argument");
  c.out("add_out", out);
  auto wide = find("hb_case::sizes").typed<Tensor(const Tensor&, c10::SymIntArrayRef, std::optional<at::ScalarType>)>();
  std::vector<c10::SymInt> shape{2, 2};
  c.out("symbolic", wide.call(x, shape, torch::kLong));
  auto y = c.randn({2});
  auto gather = find("hb_case::gather_all").typed<Tensor(at::TensorList, const c10::List<std::optional<Tensor>>&)>();
  std::vector<Tensor> list{y, y};
  c10::List<std::optional<Tensor>> maybe;
  maybe.push_back(y);
  maybe.push_back(std::nullopt);
  c.out("gather", gather.call(list, maybe));
  stack = {c10::IValue(list), c10::IValue(maybe)};
  gather.callBoxed(&stack);
  c.out("gather_boxed", stack.at(0).toTensor());
  c.value("count", find("hb_case::count").typed<int64_t(int64_t)>().call(41));
  c.out("by_stack", find("hb_case::by_stack").typed<Tensor(const Tensor&, int64_t)>().call(x, 3));
  ran.clear();
}

PARITY_CASE(registration, keys_decide) {
  auto x = c.randn({3}), needs = c.leaf({3});
  auto scale = find("hb_case::scale").typed<Tensor(const Tensor&, double)>();
  ran.clear();
  scale.call(x, 2);
  c.text("plain", path());
  auto y = scale.call(needs, 2);
  c.text("gradient", path());
  c.backward("gradient", y, {needs});
  {
    torch::NoGradGuard no_grad;
    scale.call(needs, 2);
    c.text("no_grad", path());
  }
  {
    at::AutoDispatchBelowADInplaceOrView below;
    c.value("below", scale.call(needs, 2).requires_grad() || (needs * 2).requires_grad());
    c.text("below", path());
  }
  {
    c10::InferenceMode inference;
    scale.call(torch::ones({2}), 2);
    c.text("inference", path());
  }
  at::autocast::set_autocast_enabled(at::kCPU, true);
  c.out("autocast", scale.call(x.to(torch::kBFloat16), 2));
  c.value("still on", at::autocast::is_autocast_enabled(at::kCPU));
  at::autocast::set_autocast_enabled(at::kCPU, false);
  c.text("autocast", path());
  c.out("redispatched", scale.redispatch(c10::DispatchKeySet(c10::DispatchKey::CPU), needs, 4));
  c.text("redispatched", path());

  auto composite = find("hb_case::composite").typed<Tensor(const Tensor&)>();
  auto z = composite.call(needs);
  c.backward("composite", z, {needs});
  c.out("explicit", find("hb_case::explicit_").typed<Tensor(const Tensor&)>().call(needs));
  c.text("composites", path());
  auto op = find("hb_case::scale");
  for (auto key :
       {c10::DispatchKey::CPU, c10::DispatchKey::CUDA, c10::DispatchKey::Autograd, c10::DispatchKey::AutogradCPU})
    c.value(toString(key), op.hasKernelForDispatchKey(key));
  c.value("computed", op.hasComputedKernelForDispatchKey(c10::DispatchKey::AutogradCPU));
}

PARITY_CASE(registration, without_autograd_function) {
  auto x = c.leaf({2});
  auto y = find("hb_case::cpu_only").typed<Tensor(const Tensor&)>().call(x);
  c.backward("recorded inside", y, {x});
  auto detached = find("hb_case::explicit_").typed<Tensor(const Tensor&)>().call(x);
  c.value("requires_grad", detached.requires_grad());
  ran.clear();
}

PARITY_CASE(registration, key_sets) {
  auto x = torch::ones({2});
  const auto show = [&](const char* name, c10::DispatchKeySet keys) { c.text(name, printed(keys)); };
  show("cpu", x.key_set());
  show("undefined", Tensor().key_set());
  show("sparse", x.to_sparse().key_set());
  show("removed", x.key_set().remove(c10::DispatchKey::AutogradCPU));
  show("added", c10::DispatchKeySet(c10::DispatchKey::CPU).add(c10::DispatchKey::AutogradCUDA));
  show("without", x.key_set() - c10::autograd_dispatch_keyset);
  show("local", c10::impl::tls_local_dispatch_key_set().included_);
  show("excluded", c10::impl::tls_local_dispatch_key_set().excluded_);
  show("alias", c10::getRuntimeDispatchKeySet(c10::DispatchKey::Autograd) & c10::after_autograd_keyset);
  c.text("highest", toString((x.key_set() - c10::autocast_dispatch_keyset).highestPriorityTypeId()));
  c.value("has", x.key_set().has(c10::DispatchKey::CPU) && !x.key_set().has(c10::DispatchKey::CUDA));
  c.value("bits", static_cast<int64_t>(x.key_set().raw_repr() >> 1));
  c.text("parsed", toString(c10::parseDispatchKey("SparseCsrCPU")));
  says(c, "could not parse dispatch key: nope", [] { c10::parseDispatchKey("nope"); });
  {
    c10::InferenceMode inference;
    show("inference", torch::ones({1}).key_set());
    show("inference local", c10::impl::tls_local_dispatch_key_set().excluded_);
  }
  {
    c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::AutogradCPU);
    c.value("excluded now", c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutogradCPU));
    auto leaf = c.leaf({1});
    c.value("not recorded", (leaf * 2).requires_grad());
  }
  c.value("excluded after", c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutogradCPU));
}

PARITY_CASE(registration, ends_with_its_library) {
  auto& dispatcher = c10::Dispatcher::singleton();
  {
    torch::Library m(torch::Library::FRAGMENT, "hb_case", std::nullopt, "file.cpp", 7);
    m.def("brief(Tensor x) -> Tensor", [](Tensor x) { return x + 1; });
    c.out("brief", find("hb_case::brief").typed<Tensor(Tensor)>().call(torch::ones({1})));
    torch::Library other(torch::Library::IMPL, "hb_case", c10::DispatchKey::CPU, "file.cpp", 8);
    other.impl("brief", [](Tensor x) { return x + 2; });
    c.out("replaced", find("hb_case::brief").typed<Tensor(Tensor)>().call(torch::ones({1})));
    c.value("there", dispatcher.findSchema({"hb_case::brief", ""}).has_value());
  }
  c.value("gone", dispatcher.findSchema({"hb_case::brief", ""}).has_value());
}

struct Doubler : c10::OperatorKernel {
  explicit Doubler(int64_t by) : by(by) {}
  Tensor operator()(const Tensor& x) { return x * by; }
  int64_t by;
};

PARITY_CASE(registration, register_operators) {
  auto x = c.randn({2});
  auto registrations = torch::RegisterOperators()
                           .op("hb_old::plus(Tensor a, int b) -> Tensor", [](Tensor a, int64_t b) { return a + b; })
                           .op("hb_old::plain", &both)
                           .op("hb_old::cpu", torch::RegisterOperators::options().kernel(
                                                  c10::DispatchKey::CPU, [](Tensor a, int64_t b) { return a - b; }))
                           .op("hb_old::made(Tensor x) -> Tensor",
                               torch::RegisterOperators::options().kernel<Doubler>(c10::DispatchKey::CPU, 7))
                           .op(torch::RegisterOperators::options()
                                   .schema("hb_old::fixed(Tensor x, float by) -> Tensor")
                                   .catchAllKernel<decltype(scale_cpu), &scale_cpu>());
  c.out("plus", find("hb_old::plus").typed<Tensor(Tensor, int64_t)>().call(x, 2));
  c.text("plain", printed(find("hb_old::plain").schema()));
  c.out("cpu", find("hb_old::cpu").typed<Tensor(Tensor, int64_t)>().call(x, 2));
  c.out("made", find("hb_old::made").typed<Tensor(const Tensor&)>().call(x));
  c.out("fixed", find("hb_old::fixed").typed<Tensor(const Tensor&, double)>().call(x, 1.5));
  says(c, "doesn't match the expected function schema", [] {
    torch::RegisterOperators().op("hb_old::h(Tensor a) -> Tensor", [](Tensor a, int64_t b) { return a + b; });
  });
  ran.clear();
}

void wrapper(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  ran.push_back("fallback " + op.operator_name().name);
  op.redispatchBoxed(keys.remove(c10::DispatchKey::TESTING_ONLY_GenericWrapper), stack);
}

PARITY_CASE(registration, fallback_of_all) {
  torch::Library m(torch::Library::IMPL, "_", c10::DispatchKey::TESTING_ONLY_GenericWrapper, "file.cpp", 9);
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&wrapper>());
  auto op = find("hb_case::cpu_only").typed<Tensor(const Tensor&)>();
  auto x = c.randn({2});
  ran.clear();
  const Tensor through = [&] {
    c10::impl::IncludeDispatchKeyGuard guard(c10::DispatchKey::TESTING_ONLY_GenericWrapper);
    return op.call(x);
  }();
  c.out("through", through);
  c.check(!ran.empty() && ran[0] == "fallback hb_case::cpu_only", "the fallback ran first");
  ran.clear();
}
