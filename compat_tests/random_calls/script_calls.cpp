// TorchScript: functions of random statements, and modules whose methods they are.
#include <ATen/core/ivalue.h>
#include <torch/jit.h>
#include <torch/script.h>

#include <sstream>

#include "calls.h"
#include "script_source.h"

using random_calls::Inputs;
using random_calls::Tensors;
using torch::Tensor;

namespace {

/// The numbers of a result, and the characters of what else it has.
void show(const c10::IValue& value, Tensors& shown) {
  if (value.isTensor()) {
    shown.push_back(value.toTensor());
  } else if (value.isTuple()) {
    for (const auto& element : value.toTupleRef().elements()) show(element, shown);
  } else if (value.isDouble()) {
    shown.push_back(torch::tensor(value.toDouble(), torch::kDouble));
  } else {
    std::ostringstream out;
    out << value;
    shown.push_back(random_calls::characters(out.str()));
  }
}

/// In one line.
void note_source(Inputs& in, std::string source) {
  for (char& c : source)
    if (c == '\n') c = '|';
  in.note(source);
}

Tensors script(Inputs& in) {
  in.dtype = torch::kFloat;
  const std::string source = random_calls::script_source(in, false);
  note_source(in, source);
  const Tensor t = in.tensor({2, 2}).detach().clone();
  const auto unit = torch::jit::compile(source);
  Tensors shown;
  show(unit->run_method("f", in.between(-2, 4), 0.5 * in.between(-3, 3), t), shown);
  return shown;
}

torch::jit::Module passed_on(const torch::jit::Module& module) {
  std::stringstream bytes;
  module.save(bytes);
  return torch::jit::load(bytes);
}

/// What a module is known to have.
std::string known_of(const torch::jit::Module& module) {
  std::ostringstream text;
  for (const auto& item : module.named_parameters()) text << item.name << item.value.sizes() << item.value.dtype();
  for (const auto& item : module.named_buffers()) text << item.name << item.value.sizes() << item.value.dtype();
  for (const auto& item : module.named_attributes(false))
    text << item.name << (item.value.isTensor() ? "t" : "") << ' ';
  for (const auto& item : module.named_children()) text << item.name << item.value.is_training();
  for (const auto& method : module.get_methods()) text << method.name() << method.num_inputs();
  text << module.is_training() << module.hasattr("n") << module.hasattr("none") << module.find_method("g").has_value();
  return text.str();
}

/// A module with attributes, a child and a method.
torch::jit::Module script_module_of(Inputs& in, const std::string& source) {
  torch::jit::Module child("Child"), module("Whole");
  child.register_buffer("w", in.tensor({2, 2}).detach().contiguous());
  child.define("def forward(self, x):\n    return x * self.w\n");
  module.register_parameter("w", in.tensor({2, 2}).detach().contiguous(), false);
  module.register_attribute("n", c10::IntType::get(), in.between(-2, 5));
  module.register_attribute("scale", c10::FloatType::get(), 0.25 * static_cast<double>(in.between(-2, 5)));
  module.register_attribute("words", c10::StringType::get(), "a b");
  module.register_module("child", child);
  module.define(source);
  return module;
}

void change(Inputs& in, torch::jit::Module& module) {
  switch (in.between(0, 5)) {
    case 0:
      module = passed_on(module);
      break;
    case 1:
      module = module.deepcopy();
      break;
    case 2:
      module.setattr("n", in.between(0, 3));
      break;
    case 3:
      module.eval();
      break;
    case 4:
      module.to(torch::kDouble);
      break;
    default:
      module.attr("child").toModule().setattr("w", torch::ones({2, 2}));
      break;
  }
}

/// It may be saved, copied or changed before it runs.
Tensors script_module(Inputs& in) {
  in.dtype = torch::kFloat;
  const std::string source = random_calls::script_source(in, true);
  note_source(in, source);
  torch::jit::Module module = script_module_of(in, source);
  for (int64_t n = in.between(0, 2); n > 0; --n) change(in, module);
  Tensors shown{random_calls::characters(known_of(module))};
  const Tensor t = in.tensor({2, 2}).detach().clone();
  show(module.run_method("f", in.between(-2, 4), 0.5 * in.between(-3, 3), t), shown);
  show(module.attr("n"), shown);
  return shown;
}

}  // namespace

DRAWN(script(in))
DRAWN(script_module(in))
