// Types of values, schemas and classes, as programs look into them.
#include <ATen/core/class_type.h>
#include <ATen/core/jit_type.h>
#include <torch/script.h>

#include <sstream>
#include <string>
#include <vector>

#include "parity/case.h"
#include "parity/error_of.h"

namespace {

using namespace c10;
using parity::error_of;

std::string all_of(const TypePtr& type) {
  std::ostringstream out;
  out << typeKindToString(type->kind()) << " " << type->str() << " " << type->annotation_str() << " "
      << type->repr_str() << " " << *type << " " << type->containedTypes().size() << type->hasFreeVariables()
      << type->is_module() << type->requires_grad() << type->isUnionType();
  return out.str();
}

TupleTypePtr point() {
  return TupleType::createNamed(QualifiedName("__torch__.Point"), std::vector<std::string>{"x", "y"},
                                {IntType::get(), FloatType::get()});
}

}  // namespace

PARITY_CASE(type_tree, simple) {
  const std::vector<TypePtr> types{
      AnyType::get(),          TensorType::get(),  IntType::get(),        FloatType::get(),    BoolType::get(),
      ComplexType::get(),      StringType::get(),  NumberType::get(),     NoneType::get(),     DeviceObjType::get(),
      GeneratorType::get(),    StorageType::get(), StreamObjType::get(),  CapsuleType::get(),  QuantizerType::get(),
      QSchemeType::get(),      LayoutType::get(),  ScalarTypeType::get(), SymIntType::get(),   SymFloatType::get(),
      MemoryFormatType::get(), SymBoolType::get(), AnyListType::get(),    AnyTupleType::get(), AnyClassType::get(),
      AnyEnumType::get(),      PyObjectType::get()};
  for (size_t i = 0; i < types.size(); ++i) c.text(std::to_string(i), all_of(types[i]));
  const TypePtr a = IntType::get(), b = IntType::get();
  c.check(a == b && std::hash<TypePtr>()(a) == std::hash<TypePtr>()(b), "one object of each");
  c.check(a->cast<ListType>() == nullptr && a->castRaw<IntType>() == a.get(), "casts");
}

PARITY_CASE(type_tree, made_of_others) {
  const TypePtr number = IntType::get(), text = StringType::get(), none = NoneType::get();
  const std::vector<TypePtr> types{ListType::create(number),
                                   ListType::ofTensors(),
                                   ListType::ofOptionalTensors(),
                                   ListType::ofNumbers(),
                                   ListType::ofSymInts(),
                                   ListType::ofStrings(),
                                   DictType::create(text, TensorType::get()),
                                   OptionalType::create(number),
                                   OptionalType::create(OptionalType::create(number)),
                                   OptionalType::ofTensor(),
                                   TupleType::create({number, FloatType::get()}),
                                   TupleType::create({}),
                                   point(),
                                   UnionType::create({text, number}),
                                   UnionType::create({number, none}),
                                   UnionType::create({number, text, none}),
                                   UnionType::create({number, FloatType::get(), ComplexType::get()}),
                                   UnionType::create({number, FloatType::get(), ComplexType::get(), none}),
                                   UnionType::create({ListType::ofInts(), OptionalType::create(text)}),
                                   OptionalType::create(UnionType::create({number, text})),
                                   FutureType::create(number),
                                   RRefType::create(number),
                                   AwaitType::create(number),
                                   ListType::create(VarType::create("t")),
                                   InterfaceType::create(QualifiedName("__torch__.Face"))};
  for (size_t i = 0; i < types.size(); ++i) c.text(std::to_string(i), all_of(types[i]));
  c.text("key", error_of([] { DictType::create(ListType::ofInts(), IntType::get()); }));
  const TupleTypePtr named = point();
  c.text("names", std::string(named->names()->at(1)) + named->name()->name() + named->name()->prefix());
  c.text("with", ListType::ofInts()->withContained({FloatType::get()})->str());
  c.text("printer", ListType::ofInts()->annotation_str([](const Type& type) -> std::optional<std::string> {
    return type.kind() == TypeKind::IntType ? std::optional<std::string>("X") : std::nullopt;
  }));
}

// Each pair: equal, and either fits the other.
PARITY_CASE(type_tree, order) {
  const TypePtr number = NumberType::get();
  const std::vector<TypePtr> types{number,
                                   IntType::get(),
                                   FloatType::get(),
                                   BoolType::get(),
                                   NoneType::get(),
                                   AnyType::get(),
                                   OptionalType::create(IntType::get()),
                                   OptionalType::create(number),
                                   UnionType::create({IntType::get(), StringType::get()}),
                                   UnionType::create({IntType::get(), FloatType::get(), ComplexType::get()}),
                                   UnionType::create({NoneType::get(), IntType::get()}),
                                   ListType::ofInts(),
                                   ListType::create(number),
                                   AnyListType::get(),
                                   TupleType::create({IntType::get(), FloatType::get()}),
                                   TupleType::create({number, FloatType::get()}),
                                   AnyTupleType::get(),
                                   point(),
                                   DictType::create(StringType::get(), IntType::get()),
                                   DictType::create(StringType::get(), AnyType::get()),
                                   FutureType::create(IntType::get()),
                                   FutureType::create(number),
                                   TensorType::get(),
                                   TensorType::create(torch::ones({2, 3}, torch::kCPU)),
                                   OptionalType::ofTensor()};
  for (size_t i = 0; i < types.size(); ++i) {
    std::string row;
    for (const TypePtr& other : types)
      row += std::to_string(int{*types[i] == *other} + 2 * int{types[i]->isSubtypeOf(*other)});
    c.text(types[i]->str() + std::to_string(i), row);
  }
}

PARITY_CASE(type_tree, unify) {
  const TypePtr number = IntType::get(), none = NoneType::get();
  const auto unified = [&](const char* name, const TypePtr& a, const TypePtr& b, bool to_union = false) {
    const auto made = unifyTypes(a, b, to_union);
    c.text(name, made ? (*made)->repr_str() : "-");
  };
  unified("two", number, FloatType::get());
  unified("same", number, number);
  unified("none", number, none);
  unified("tensors", TensorType::get(), TensorType::create(torch::ones({2})));
  unified("lists", ListType::ofInts(), ListType::ofFloats());
  unified("tuples", TupleType::create({number, none}), TupleType::create({none, number}));
  unified("union", number, StringType::get(), true);
  unified("optional", number, OptionalType::create(number));
  unified("number", number, NumberType::get());
  unified("futures", FutureType::create(number), FutureType::create(none));
  std::ostringstream why;
  c.check(!unifyTypeList({number, StringType::get()}, why), "no common type");
  c.text("why", why.str());
  for (const TypePtr& type :
       {TypePtr(number), TypePtr(AnyType::get()), TypePtr(OptionalType::create(number)), TypePtr(NumberType::get())})
    c.value("inferred " + type->str(), elementTypeCanBeInferredFromMembers(type));
  c.value("any", containsAnyType(ListType::create(AnyType::get())));
  c.check(tryScalarTypeFromJitType(*number) == torch::kLong && !tryScalarTypeFromJitType(*none), "dtype");
  c.text("no dtype", error_of([] { scalarTypeFromJitType(*StringType::get()); }));
  TypeEnv known;
  c.check(matchTypeVariables(ListType::create(VarType::create("t")), ListType::ofInts(), known).success(), "matches");
  c.text("variable", tryEvalTypeVariables(OptionalType::create(VarType::create("t")), known)->str());
  c.text("differs", matchTypeVariables(VarType::create("t"), FloatType::get(), known).reason());
}

PARITY_CASE(type_tree, of_tensors) {
  const auto type = TensorType::create(torch::ones({2, 3}, torch::kCPU));
  const auto show = [&](const char* name, const Type& shown) {
    std::ostringstream out;
    out << shown << " " << shown.repr_str();
    c.text(name, out.str());
  };
  show("all", *type);
  show("gradients", *TensorType::create(torch::ones({2}, torch::kCPU).requires_grad_()));
  show("dimensions", *type->dimensionedOnly());
  show("dim", *type->withDim(4));
  show("contiguous", *TensorType::createContiguous(torch::kFloat, torch::kCPU, {2, 2}));
  show("merged", *type->merge(*TensorType::create(torch::ones({2, 4}, torch::kCPU))));
  show("inferred", *TensorType::getInferred());
  show("in a tuple", *TupleType::create({IntType::get(), type}));
  show("named", *point());
  c.check(type->scalarType() == torch::kFloat && type->device()->is_cpu() && *type->dim() == 2, "what it knows");
  c.check((*type->sizes().concrete_sizes())[1] == 3 && *type->strides()[0] == 3 && *type->numel() == 6, "sizes");
  c.check(type->isComplete() && !TensorType::get()->isComplete() && type->matchTensor(torch::ones({2, 3}, torch::kCPU)),
          "complete");
}

PARITY_CASE(type_tree, of_classes) {
  auto unit = std::make_shared<torch::jit::CompilationUnit>();
  const auto type = ClassType::create(QualifiedName("__torch__.K"), unit, true);
  type->addAttribute("w", TensorType::get(), true);
  type->addAttribute("b", TensorType::get(), false, true);
  type->addAttribute("n", IntType::get());
  c.check(type->numAttributes() == 3 && type->getAttributeSlot("b") == 1 && !type->hasAttribute("q"), "attributes");
  c.text("attribute", type->getAttribute("n")->str() + type->getAttributeName(0));
  c.check(type->is_parameter(0) && type->is_buffer(1) && !type->findAttribute("q"), "roles");
  c.check(type->addConstant("c", IValue(4)) == 0 && type->getConstant("c").toInt() == 4, "constants");
  c.text("no parameter", error_of([&] { type->addAttribute("z", IntType::get(), true); }));
  c.text("other type", error_of([&] { type->addOrCheckAttribute("n", FloatType::get()); }));
  c.check(type->addOrCheckAttribute("n", IntType::get()) == 2, "the same attribute");
  c.check(type->isSubtypeOf(*AnyClassType::get()) && type->is_module(), "a class");
}

PARITY_CASE(type_tree, of_modules) {
  torch::jit::Module module("Net"), sub("Sub");
  module.register_parameter("w", torch::ones({2}), false);
  module.register_buffer("b", torch::ones({2}));
  module.register_attribute("n", IntType::get(), IValue(4));
  module.register_module("sub", sub);
  module.define(
      "def forward(self, x: Tensor) -> Tensor:\n  return x + self.w\n"
      "def other(self, x: int, y: List[int]) -> Tuple[int, int]:\n  return (x, y[0])\n");
  const auto type = module.type();
  for (size_t i = 0; i < type->numAttributes(); ++i) {
    c.text(type->getAttributeName(i), type->getAttribute(i)->str());
    c.value(type->getAttributeName(i) + " role", type->is_parameter(i) + 2 * type->is_buffer(i));
  }
  c.value("methods", static_cast<int64_t>(type->methods().size()));
  for (const char* name : {"forward", "other"}) c.text(name, c10::str(type->getMethod(name).getSchema()));
  c.text("method", type->getMethod("other").qualname().qualifiedName());
  c.check(type->hasMethod("other") && !type->findMethod("zz"), "finds methods");
  c.check(module.type() == module._ivalue()->type(), "one type");
  c.check(type->getAttribute("sub")->expect<ClassType>()->is_module(), "a submodule's type");
  c.check(IValue(module._ivalue()).type()->is_module(), "a module's type");
  c.text("name", type->str() + " " + type->name()->name());
  c.text("function", c10::str(module.get_method("forward").function().getSchema()));
}

PARITY_CASE(type_tree, of_schemas) {
  const auto schema = torch::jit::parseSchema(
      "ns::name(Tensor(a!)[] x, int[2]? y=None, *, ScalarType? dt=None, SymInt[] s, Dict(str, Tensor) d, (int, Tensor) "
      "t, Scalar? c, Layout l, Device? dv, t[] v, Union(int, str) u) -> (Tensor(a!), Future(int) f)");
  c.text("schema", c10::str(schema));
  for (const auto& argument : schema.arguments()) {
    c.text(argument.name(), argument.type()->str() + " " + argument.real_type()->str() + " " +
                                typeKindToString(argument.type()->kind()) + " " +
                                typeKindToString(argument.real_type()->kind()));
  }
  c.text("element", schema.arguments()[0].type()->expect<ListType>()->getElementType()->str());
  c.text("of C++", getTypePtr<std::vector<int64_t>>()->str() + getTypePtr<Dict<std::string, torch::Tensor>>()->str() +
                       getTypePtr<std::unordered_map<std::string, double>>()->str() +
                       getTypePtr<std::tuple<int64_t, std::optional<double>>>()->str() +
                       getTypePtr<std::array<bool, 3>>()->str() + getTypePtr<at::ScalarType>()->str() +
                       getTypePtr<SymInt>()->str() + getTypePtr<at::Generator>()->str() + getTypePtr<void>()->str() +
                       getTypePtr<OptionalIntArrayRef>()->str() + getFakeTypePtr<at::ScalarType>()->str());
}
