// The library's own functions as operators that programs look up by name.
#include "parity/bad.h"

#include <torch/library.h>

using torch::Tensor;

namespace {
c10::OperatorHandle found(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}
}  // namespace

PARITY_CASE(aten_operators, typed) {
  const Tensor x = c.randn({2, 3}), y = c.randn({2, 3});
  const auto add = found("aten::add", "Tensor").typed<Tensor(const Tensor&, const Tensor&, const c10::Scalar&)>();
  c.out("add", add.call(x, y, 2));
  const auto relu = found("aten::relu").typed<Tensor(const Tensor&)>();
  c.out("relu", relu.call(x));
  const auto sum = found("aten::sum", "dim_IntList")
                       .typed<Tensor(const Tensor&, at::OptionalIntArrayRef, bool, std::optional<c10::ScalarType>)>();
  c.out("sum", sum.call(x, at::IntArrayRef{1}, true, torch::kDouble));
  const auto view = found("aten::view").typed<Tensor(const Tensor&, c10::SymIntArrayRef)>();
  c.out("view", view.call(x, std::vector<c10::SymInt>{3, 2}));
  Tensor z = x.clone();
  const auto mul = found("aten::mul_", "Scalar").typed<Tensor&(Tensor&, const c10::Scalar&)>();
  c.check(mul.call(z, 3).is_same(z), "in place");
  c.out("mul_", z);
  const auto topk =
      found("aten::topk").typed<std::tuple<Tensor, Tensor>(const Tensor&, c10::SymInt, int64_t, bool, bool)>();
  const auto [values, indices] = topk.call(x, 2, 1, true, true);
  c.out("values", values);
  c.out("indices", indices);
}

PARITY_CASE(aten_operators, special) {
  const Tensor x = c.rand({5}, torch::kFloat, -1, 1);
  for (const char* name : {"airy_ai", "bessel_j0", "modified_bessel_k1", "spherical_bessel_j0", "entr", "i0e"}) {
    const std::string full = std::string("aten::special_") + name;
    c.out(name, found(full.c_str()).typed<Tensor(const Tensor&)>().call(x.abs()));
  }
  for (const char* name : {"chebyshev_polynomial_t", "hermite_polynomial_he", "legendre_polynomial_p"}) {
    const std::string full = std::string("aten::special_") + name;
    c.out(name, found(full.c_str(), "n_scalar").typed<Tensor(const Tensor&, const c10::Scalar&)>().call(x, 3));
  }
}

PARITY_CASE(aten_operators, factories) {
  const auto made = [](const char* name, torch::jit::Stack stack) {
    for (int i = 0; i < 4; ++i) stack.emplace_back(i == 0 ? c10::IValue(torch::kDouble) : c10::IValue());
    found(name).callBoxed(&stack);
    return stack[0].toTensor();
  };
  c.out("zeros", made("aten::zeros", {std::vector<int64_t>{2, 3}}));
  c.out("full", made("aten::full", {std::vector<int64_t>{2}, 1.5}));
  c.out("arange", made("aten::arange", {4}));
  c.out("linspace", made("aten::linspace", {0, 1, 5}));
}

PARITY_CASE(aten_operators, of_every_family) {
  const auto called = [](const char* name, const char* overload, torch::jit::Stack stack) {
    found(name, overload).callBoxed(&stack);
    return stack[0].toTensor();
  };
  const Tensor x = c.randn({2, 3, 8, 8});
  const std::vector<int64_t> two{2, 2}, none, one{1, 1}, zero{0, 0};
  c.out("cat", called("aten::cat", "", {std::vector<Tensor>{x, x}, 1}));
  c.out("pool", called("aten::max_pool2d_with_indices", "", {x, two, two, zero, one, false}));
  c.out("adaptive", called("aten::adaptive_avg_pool2d", "", {x, two}));
  c.out("erf", called("aten::special_erf", "", {x}));
  c.out("fft", torch::view_as_real(called("aten::fft_fft", "", {x, c10::IValue(), -1, c10::IValue()})));
  c.out("new_full",
        called("aten::new_full", "", {x, two, 1.5, torch::kDouble, c10::IValue(), c10::IValue(), c10::IValue()}));
  c.out("window", called("aten::hann_window", "", {8, torch::kDouble, c10::IValue(), c10::IValue(), c10::IValue()}));
  c.out("softmax", called("aten::_softmax", "", {x, 1, false}));
  c.out("elu", called("aten::elu_backward", "", {x, 1., 1, 1, false, x}));
}

PARITY_CASE(aten_operators, gradients) {
  const auto x = c.leaf({2, 3});
  const auto mm = found("aten::mm").typed<Tensor(const Tensor&, const Tensor&)>();
  c.gradients("mm", {x}, [&] { return mm.call(x, torch::ones({3, 2})); });
}

PARITY_CASE(aten_operators, boxed) {
  torch::jit::Stack stack{c.randn({4, 3}), c.randn({2, 3}), c.randn({2})};
  found("aten::linear").callBoxed(&stack);
  c.value("results", static_cast<int64_t>(stack.size()));
  c.out("linear", stack[0].toTensor());
  torch::jit::Stack many{c.randn({2, 3}), int64_t{1}, false};
  found("aten::max", "dim").callBoxed(&many);
  c.out("max", many[0].toTensor());
  c.out("places", many[1].toTensor());
}

PARITY_CASE(aten_operators, schemas) {
  for (const char* name : {"aten::add.Tensor", "aten::relu", "aten::relu_", "aten::conv2d", "aten::softmax.int",
                           "aten::batch_norm", "aten::index_select", "aten::mse_loss"}) {
    const auto parsed = torch::jit::parseName(name);
    const auto handle = found(parsed.name.c_str(), parsed.overload_name.c_str());
    std::string arguments;
    for (const c10::Argument& a : handle.schema().arguments())
      arguments += a.name() + (a.kwarg_only() ? "!" : "") + (a.default_value() ? "=" : "") + " ";
    c.text(name, arguments);
    c.value(std::string(name) + ".returns", static_cast<int64_t>(handle.schema().returns().size()));
    c.value(std::string(name) + ".mutable", handle.schema().is_mutable());
  }
}

PARITY_CASE(aten_operators, missing) {
  SAYS("Could not find schema for aten::no_such_function", found("aten::no_such_function"));
  SAYS("Could not find schema for aten::add.NoSuchOverload", found("aten::add", "NoSuchOverload"));
  c.check(!c10::Dispatcher::singleton().findSchema({"aten::no_such_function", ""}), "findSchema gives nothing");
  SAYS("wrong signature", found("aten::relu").typed<Tensor(const Tensor&, int64_t)>());
}
