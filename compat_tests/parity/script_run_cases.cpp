// Code of TorchScript that is run: archives that Python's PyTorch wrote, methods and functions of source texts.
#include <torch/csrc/jit/runtime/jit_exception.h>
#include <torch/script.h>

#include "case.h"
#include "error_of.h"
#include "recorded_file.h"

namespace {

torch::jit::Module load(const std::string& name) {
  return torch::jit::load(parity::recorded_file("script_" + name + ".pt"));
}

}  // namespace

PARITY_CASE(script_run, archives) {
  auto net = load("net");
  for (const bool training : {false, true}) {
    net.train(training);
    const auto y = net.forward({net.attr("example").toTensor()}).toTensor();
    c.out(training ? "training" : "evaluating", y);
    y.pow(2).sum().backward();
    for (const auto& item : net.named_parameters())
      c.out((training ? "training." : "evaluating.") + item.name, item.value.grad());
  }
  for (const auto& item : net.named_buffers()) c.out(item.name, item.value);
  auto frozen = load("frozen");
  c.out("frozen", frozen.forward({torch::arange(4.0f).view({2, 2}).cpu()}).toTensor());
  auto everything = load("everything");
  everything.eval();
  c.out("everything", everything.forward({torch::ones({1, 3}).cpu()}).toTensor());
  c.text("method", everything.run_method("describe").toTupleRef().elements()[0].toStringRef());
}

PARITY_CASE(script_run, methods) {
  torch::jit::Module module("net");
  module.register_parameter("w", torch::arange(6.0f).view({2, 3}).requires_grad_(), false);
  module.define(R"(
    def scaled(self, x, by: float = 2.0):
        return torch.matmul(self.w, x) * by

    def forward(self, x, steps: int):
        y = self.scaled(x)
        for i in range(steps):
            if i % 2 == 0:
                y = torch.relu(y) + self.scaled(x, by=0.5)
            else:
                y = y - y.mean()
        return y, y.size(0)
  )");
  const auto result = module.forward({torch::ones({3}), 3}).toTuple();
  c.out("y", result->elements()[0].toTensor());
  c.value("size", result->elements()[1].toInt());
  result->elements()[0].toTensor().sum().backward();
  c.out("grad", module.attr("w").toTensor().grad());
  c.out("by name", module.get_method("scaled")({torch::ones({3})}, {{"by", 0.25}}).toTensor());
  c.throws("too few", [&] { module.forward({}); });
  c.throws("wrong type", [&] { module.forward({torch::ones({3}), "a"}); });
}

PARITY_CASE(script_run, functions) {
  const auto unit = torch::jit::compile(R"(
def numbers(n: int):
    s = 0
    for i in range(n):
        if i == 3:
            continue
        s += i // 2
    return s, n / 2, -7 % 3

def texts(a: str):
    return "{} of {}".format(a.upper(), len(a))

def tensors(x):
    y = x[0, 1:] * 2 + x[..., -1].sum()
    z = x.clone()
    z[z > 2] = 0.
    z[:, 0] += 1
    return [y, z, x.max(dim=1)[1], x.t().reshape(2, -1)]
  )");
  const auto numbers = unit->run_method("numbers", 8).toTuple();
  c.value("sum", numbers->elements()[0].toInt());
  c.value("half", numbers->elements()[1].toDouble());
  c.value("remainder", numbers->elements()[2].toInt());
  c.text("text", unit->get_function("texts")({"abc"}).toStringRef());
  int i = 0;
  const auto tensors = unit->run_method("tensors", torch::arange(6.0f).view({2, 3}));
  for (const auto& item : tensors.toListRef()) c.out("tensor " + std::to_string(i++), item.toTensor());
}

// What a program catches.
PARITY_CASE(script_run, errors) {
  const auto kind = [](const auto& run) -> std::string {
    try {
      run();
    } catch (const torch::jit::JITException& raised) {
      return "JITException " + raised.getPythonClassName().value_or("-") + ", " + raised.getOriginalMsg().value_or("-");
    } catch (...) {
      return parity::kind_of([] { throw; });
    }
    return "none";
  };
  const auto unit = torch::jit::compile(R"(
def product(x):
    return torch.matmul(x, x)
def item(x):
    return x.item()
def place(x):
    return x[7]
def above(x: int):
    assert x > 1, "small"
    return x
  )");
  const auto of = [&](const char* name, const c10::IValue& x) { return kind([&] { unit->get_function(name)({x}); }); };
  c.text("shapes", of("product", torch::ones({2, 3})));
  c.text("item", of("item", torch::ones({2, 3})));
  c.text("index", of("place", torch::ones({2})));
  c.text("assert", of("above", 0));
  c.text("argument", of("above", torch::ones({2})));
  auto net = load("net");
  net.eval();
  c.text("channels", kind([&] { net.forward({torch::ones({1, 5, 6, 6}).cpu()}); }));
  c.text("too few", kind([&] { net.forward({}); }));
  c.text("a number", kind([&] { net.forward({2}); }));
  auto norm = load("norms").attr("first_norm").toModule();
  norm.eval();
  c.text("raised", kind([&] { norm.forward({torch::ones({1, 4, 3}).cpu()}); }));
}

PARITY_CASE(script_run, frozen) {
  torch::NoGradGuard no_grad;
  c.tolerance(torch::kFloat, 1e-4, 1e-5);  // six layers, of which some amplify
  for (const char* name : {"norms", "norms_traced"}) {
    auto module = load(name);
    module.eval();
    const auto x = c.randn({2, 2, 8, 8}).cpu();
    c.out(std::string(name) + " frozen", torch::jit::freeze(module).forward({x}).toTensor());
    // LibTorch's fails for padding="same" of scripted modules.
    if (name == std::string("norms_traced"))
      c.out("optimized", torch::jit::optimize_for_inference(module).forward({x}).toTensor());
    c.out(std::string(name) + " as it was", module.forward({x}).toTensor());
  }
}

// What scripted encoders call where no gradients are needed.
PARITY_CASE(script_run, attention) {
  torch::NoGradGuard no_grad;
  const auto unit = torch::jit::compile(R"(
def attention(x, y, w, b, v, c, mask: Optional[Tensor], weights: bool, average: bool, mask_type: Optional[int]):
    return torch._native_multi_head_attention(x, y, y, 8, 2, w, b, v, c, mask, weights, average, mask_type)

def layer(x, w, b, v, c, n, m, f, g, h, i, gelu: bool, first: bool, mask: Optional[Tensor], mask_type: Optional[int]):
    return torch._transformer_encoder_layer_fwd(x, 8, 2, w, b, v, c, gelu, first, 1e-5, n, m, m, n, f, g, h, i, mask, mask_type)
  )");
  const auto x = c.randn({2, 5, 8}), w = c.randn({24, 8}), b = c.randn({24}), v = c.randn({8, 8}), bias = c.randn({8}),
             n = c.randn({8}), f = c.randn({16, 8}), g = c.randn({16}), h = c.randn({8, 16});
  const auto later = torch::ones({5, 5}, torch::kBool).triu(1);
  const auto padding = torch::tensor({0, 0, 0, 0, 1, 0, 0, 0, 1, 1}).view({2, 5}).to(torch::kBool);
  const std::vector<std::pair<c10::IValue, c10::IValue>> masks = {{{}, {}}, {later, 0}, {padding, 1}};
  int at = 0;
  for (const auto& [mask, type] : masks) {
    const auto label = std::to_string(at++);
    for (const bool average : {false, true}) {
      const auto both = unit->run_method("attention", x, x, w, b, v, bias, mask, true, average, type).toTuple();
      const auto whole = label + (average ? " average" : " of heads");
      c.out("mixed " + whole, both->elements()[0].toTensor());
      c.out("weights " + whole, both->elements()[1].toTensor());
    }
    for (const bool flag : {false, true})
      c.out("layer " + label + (flag ? " gelu, norm first" : " relu, norm last"),
            unit->run_method("layer", x, w, b, v, bias, n, bias, f, g, h, bias, flag, flag, mask, type).toTensor());
  }
}
