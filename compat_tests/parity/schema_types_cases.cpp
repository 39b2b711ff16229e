// Schemas made of C++ types, not of a text.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include <sstream>

#include "parity/case.h"

TORCH_LIBRARY(parity_types, m) {
  c10::FunctionSchema schema("twice", "own",
                             {c10::Argument("words", c10::getTypePtr<std::vector<std::string>>()),
                              c10::Argument("any", c10::getTypePtr<c10::IValue>())},
                             {c10::Argument("", c10::getTypePtr<int64_t>())});
  schema.setAliasAnalysis(c10::AliasAnalysisKind::CONSERVATIVE);
  m.def(std::move(schema), [](const std::vector<std::string>& words, const c10::IValue& any) {
    return int64_t(2 * words.size()) + any.toInt();
  });
}

PARITY_CASE(schema_types, operator_of_types) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("parity_types::twice", "own");
  c.text("schema", c10::str(op.schema()));
  c.value("result", op.typed<int64_t(const std::vector<std::string>&, const c10::IValue&)>().call({"a", "b"}, 3));
  c.text("types", c10::str(c10::getTypePtr<torch::Tensor>()->str(), c10::getTypePtr<std::optional<double>>()->str(),
                           c10::getTypePtr<c10::List<bool>>()->str(),
                           c10::getTypePtr<std::tuple<int64_t, std::string>>()->str()));
  std::ostringstream printed;
  printed << *c10::IValue(2.5).type() << " " << *c10::getTypePtr<c10::List<std::optional<bool>>>() << " "
          << *c10::getTypePtr<c10::Dict<std::string, torch::Tensor>>();
  c.text("printed", printed.str());
}

namespace {
struct Kept : torch::CustomClassHolder {};
struct Other : torch::CustomClassHolder {};
}  // namespace
TORCH_LIBRARY(parity_kept, m) {
  m.class_<Kept>("Kept").def(torch::init<>());
  m.class_<Other>("Other").def(torch::init<>());
}
// A class has one type, whose address programs compare.
PARITY_CASE(schema_types, address_of_a_class) {
  const c10::IValue value(c10::make_intrusive<Kept>());
  c.value("same", value.type().get() == torch::getCustomClassType<c10::intrusive_ptr<Kept>>().get());
  c.value("from C++", value.type().get() == c10::getTypePtr<c10::intrusive_ptr<Kept>>().get());
  c.value("other", value.type().get() == torch::getCustomClassType<c10::intrusive_ptr<Other>>().get());
  c.text("name", value.type()->str());
}
