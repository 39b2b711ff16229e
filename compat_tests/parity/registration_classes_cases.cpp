// Classes that a program registers.
#include <torch/custom_class.h>

#include <string>
#include <tuple>
#include <vector>

#include "parity/operators.h"

namespace {

using at::Tensor;
using namespace parity;

struct Counter : torch::CustomClassHolder {
  int64_t total;
  std::vector<std::string> names;
  Counter(int64_t start, std::vector<std::string> names) : total(start), names(std::move(names)) {}
  int64_t add(int64_t by) { return total += by; }
  void clear() { total = 0; }
  int64_t value() const { return total; }
  std::tuple<int64_t, std::string> pair() const { return {total, names.empty() ? "" : names[0]}; }
  c10::intrusive_ptr<Counter> clone() const { return c10::make_intrusive<Counter>(total, names); }
};

TORCH_LIBRARY(hb_classes, m) {
  m.class_<Counter>("Counter")
      .def(torch::init<int64_t, std::vector<std::string>>())
      .def("add", &Counter::add, "", {torch::arg("by") = 1})
      .def("clear", &Counter::clear)
      .def("value", &Counter::value)
      .def("pair", &Counter::pair)
      .def("clone", &Counter::clone)
      .def("scaled", [](const c10::intrusive_ptr<Counter>& self, const Tensor& x) { return x * self->total; })
      .def_readwrite("total", &Counter::total)
      .def_static("zero", [] { return c10::make_intrusive<Counter>(0, std::vector<std::string>{}); })
      .def_pickle([](const c10::intrusive_ptr<Counter>& self) { return std::make_tuple(self->total, self->names); },
                  [](std::tuple<int64_t, std::vector<std::string>> state) {
                    return c10::make_intrusive<Counter>(std::get<0>(state), std::get<1>(state));
                  });
  m.def("count_of(__torch__.torch.classes.hb_classes.Counter c, Tensor x) -> Tensor",
        [](const c10::intrusive_ptr<Counter>& counter, Tensor x) { return x + counter->total; });
}

}  // namespace

PARITY_CASE(registration_classes, classes) {
  const char* name = "__torch__.torch.classes.hb_classes.Counter";
  auto counter = c10::make_intrusive<Counter>(5, std::vector<std::string>{"first"});
  c10::IValue value(counter);
  c.value("custom", value.isCustomClass() && value.isObject() && !c10::IValue(5).isCustomClass());
  c.check(value.toCustomClass<Counter>().get() == counter.get(), "the same object");
  auto type = torch::getCustomClass(name);
  c.check(type != nullptr && torch::getCustomClass("__torch__.torch.classes.hb_classes.None") == nullptr, "the class");
  auto object = value.toObject();
  c.value("add", (object->type()->getMethod("add"))({value, 3}).toInt());
  c.value("default", (*object->type()->findMethod("add"))({value}).toInt());
  c.value("shared", counter->total);
  c.value("void", object->type()->getMethod("clear")({value}).isNone());
  counter->total = 4;
  auto pair = object->type()->getMethod("pair")({value}).toTuple();
  c.value("tuple", pair->elements()[0].toInt());
  c.text("tuple", pair->elements()[1].toStringRef());
  auto clone = object->type()->getMethod("clone")({value}).toCustomClass<Counter>();
  c.value("clone", clone->total + (clone.get() != counter.get() ? 100 : 0));
  c.out("lambda", object->type()->getMethod("scaled")({value, torch::ones({2})}).toTensor());
  c.text("schema", printed(type->getMethod("add").getSchema()));
  c.text("qualname", type->getMethod("add").qualname().qualifiedName());
  c.value("static", type->findStaticMethod("zero") != nullptr);
  const auto property = type->getProperty("total");
  c.value("property", (*property->getter)({value}).toInt());
  (*property->setter)({value, 9});
  c.value("set", counter->total);
  c.out("operator", find("hb_classes::count_of")
                        .typed<Tensor(const c10::intrusive_ptr<Counter>&, Tensor)>()
                        .call(counter, torch::ones({2})));
  torch::jit::Stack stack{value, torch::ones({1})};
  find("hb_classes::count_of").callBoxed(&stack);
  c.out("boxed", stack.at(0).toTensor());

  c.throws("no such method", [&] { type->getMethod("nothing"); });
  c.throws("no such class", [&] { c10::IValue(7).toCustomClass<Counter>(); });
  c.throws("argument", [&] { type->getMethod("add")({value, "text"}); });
  c.throws("twice", [] { torch::class_<Counter>("hb_classes", "Counter"); });
}
