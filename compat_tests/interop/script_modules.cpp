// Archives of TorchScript whose modules a program built: registered tensors and values, children, methods of define(),
// and what was added to a module that was loaded.
#include <torch/script.h>

#include "interop/check.h"
#include "interop/exchange.h"

namespace interop {
namespace {

torch::jit::Module child(double value, const std::string& source) {
  torch::jit::Module made("Child");
  made.register_buffer("b", torch::full({2}, value));
  made.define(source);
  return made;
}

torch::jit::Module sample() {
  torch::jit::Module made("Sample");
  made.register_parameter("w", torch::tensor({1.0f, 2.0f}), false);
  made.register_buffer("e", torch::arange(3));
  made.register_attribute("count", c10::IntType::get(), 3);
  made.register_attribute("title", c10::StringType::get(), "two\nlines");
  made.register_attribute("none", c10::OptionalType::create(c10::TensorType::get()), torch::IValue());
  made.register_attribute("list", c10::ListType::create(c10::FloatType::get()), c10::List<double>({0.5, 1.5}));
  made.register_module("first", child(1, "def forward(self, x):\n    return x + self.b\n"));
  made.register_module("second",
                       child(2, "def forward(self, x, by: float = 2.0) -> Tensor:\n    return x / self.b * by\n"));
  made.define(R"(
    def scaled(self, x, k: int = 3):
        '''A text
of two lines.'''
        return self.w * x * k
    def forward(self, x):
        # calls of children
        y = self.first.forward(x)

        return self.second.forward(y, by=0.5) + self.scaled(x)
  )");
  return made;
}

void check_sample(const torch::jit::Module& got) {
  check(got.named_parameters().size() == 1 && got.named_buffers().size() == 3, "script: roles");
  check_bits(got.attr("w").toTensor(), torch::tensor({1.0f, 2.0f}), "script: w");
  check(got.attr("count").toInt() == 3 && got.attr("title").toStringRef() == "two\nlines", "script: values");
  check(got.attr("none").isNone() && got.attr("list").toDoubleVector().at(1) == 1.5, "script: values");
  check(got.named_children().size() == 2, "script: children");
  const auto x = torch::tensor({3.0f, 5.0f});
  auto module = got;
  check_bits(module.forward({x}).toTensor(), torch::tensor({10.0f, 31.5f}), "script: forward");
  check_bits(module.get_method("scaled")({x, 2}).toTensor(), torch::tensor({6.0f, 20.0f}), "script: scaled");
}

}  // namespace

void write_script_modules(const std::string& folder) {
  auto module = sample();
  module.save(folder + "script_module.pt");
  auto again = torch::jit::load(folder + "script_module.pt");
  again.register_buffer("more", torch::ones({2}));
  again.define("def added(self, x):\n    return self.forward(x) + self.more\n");
  again.save(folder + "script_extended.pt");
}

void read_script_modules(const std::string& folder) {
  check_sample(torch::jit::load(folder + "script_module.pt"));
  const auto extended = torch::jit::load(folder + "script_extended.pt");
  const auto x = torch::tensor({3.0f, 5.0f});
  check(extended.named_buffers().size() == 4, "script: an added buffer");
  check_bits(extended.get_method("added")({x}).toTensor(), torch::tensor({11.0f, 32.5f}), "script: added");
}

}  // namespace interop
