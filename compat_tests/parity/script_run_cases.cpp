// Code of TorchScript that is run: archives that Python's PyTorch wrote, methods and functions of source texts.
#include <torch/script.h>

#include "case.h"

namespace {

torch::jit::Module load(const std::string& name) {
  return torch::jit::load(std::string(HALFBRIDGE_RECORDED_FILES) + "/script_" + name + ".pt");
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
  c.out("frozen", frozen.forward({torch::arange(4.0f).view({2, 2})}).toTensor());
  auto everything = load("everything");
  everything.eval();
  c.out("everything", everything.forward({torch::ones({1, 3})}).toTensor());
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
  for (const auto& item : unit->run_method("tensors", torch::arange(6.0f).view({2, 3})).toListRef())
    c.out("tensor " + std::to_string(i++), item.toTensor());
}
