#include <halfbridge/bridge/dispatch/custom_class.h>

#include <cctype>

#include <halfbridge/class_type.h>

namespace hb {

FunctionTypePtr FunctionType::create(bridge::jit::Function* function) {
  FunctionTypePtr type(new FunctionType(Kind, function->qualname()));
  type->function_ = function;
  return type;
}

}  // namespace hb

namespace hb::bridge {

namespace jit {

Function::Function(QualifiedName qualified_name, FunctionSchema schema, std::function<void(Stack&)> run,
                   std::string doc)
    : qualified_name_(std::move(qualified_name)),
      schema_(std::move(schema)),
      run_(std::move(run)),
      doc_(std::move(doc)) {}

IValue Function::operator()(Stack stack, const std::unordered_map<std::string, IValue>& by_name) const {
  size_t used = 0;
  while (stack.size() < schema_.arguments().size()) {
    const auto given = by_name.find(schema_.arguments()[stack.size()].name());
    if (given != by_name.end()) {
      ++used;
      stack.push_back(given->second);
    } else if (const auto& value = schema_.arguments()[stack.size()].default_value()) {
      stack.push_back(*value);
    } else {
      break;
    }
  }
  HB_CHECK(used == by_name.size(), name(),
           "() got an argument by a name that is unknown or given twice. Declaration: ", schema_);
  schema_.checkAndNormalizeInputs(stack);
  run_(stack);
  return pop(stack);
}

}  // namespace jit

inline namespace api {

ClassTypePtr getCustomClass(const std::string& name) {
  const auto found = ivalue::find_custom_class(name);
  return found ? found->type : nullptr;
}
std::unordered_set<std::string> getAllCustomClassesNames() {
  const auto names = ivalue::custom_class_names();
  return {names.begin(), names.end()};
}

}  // namespace api

namespace detail {
namespace {

void check_identifier(const std::string& name, const char* what) {
  HB_CHECK(!name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])), what,
           " must be a valid Python/C++ identifier, got '", name, "'");
  for (unsigned char c : name) {
    HB_CHECK(std::isalnum(c) || c == '_', what, " must be a valid Python/C++ identifier. Character '",
             static_cast<char>(c), "' is illegal in '", name, "'");
  }
}

FunctionSchema with_defaults(const FunctionSchema& schema, std::initializer_list<DefaultArgument> defaults) {
  const auto& arguments = schema.arguments();
  HB_CHECK(defaults.size() == arguments.size() - 1, "Default values must be specified for none or all arguments");
  std::vector<Argument> changed{arguments[0]};
  for (const DefaultArgument& given : defaults) {
    const Argument& old = arguments[changed.size()];
    changed.emplace_back(given.name_, old.real_type(), old.N(), given.value_);
  }
  return schema.cloneWithArguments(std::move(changed));
}

}  // namespace

ClassBase::ClassBase(const std::string& ns, const std::string& name, const std::type_info& type)
    : registered_(std::make_shared<ivalue::CustomClass>()) {
  check_identifier(ns, "Namespace name");
  check_identifier(name, "Class name");
  registered_->name = "__torch__.torch.classes." + ns + "." + name;
  registered_->type = ClassType::create(registered_->name);
  ivalue::register_custom_class(type, registered_);
}

jit::Function* ClassBase::define(const std::string& name, FunctionSchema schema, std::function<void(jit::Stack&)> run,
                                 std::string doc, std::initializer_list<DefaultArgument> defaults, bool is_static) {
  schema = schema.cloneWithName(name, "");
  if (defaults.size() > 0) schema = with_defaults(schema, defaults);
  auto method = std::make_shared<jit::Function>(registered_->name + "." + name, std::move(schema), std::move(run),
                                                std::move(doc));
  return is_static ? registered_->type->addStaticMethod(name, std::move(method))
                   : registered_->type->addMethod(name, std::move(method));
}

void ClassBase::add_property(const std::string& name, jit::Function* getter, jit::Function* setter) {
  registered_->type->addProperty(name, getter, setter);
}

void ClassBase::check_pickle() const {
  const FunctionSchema& get = registered_->type->getMethod("__getstate__").getSchema();
  const FunctionSchema& set = registered_->type->getMethod("__setstate__").getSchema();
  HB_CHECK(get.arguments().size() == 1, "__getstate__ should take exactly one argument: self. Got: ", get);
  HB_CHECK(set.arguments().size() == 2, "__setstate__ should take exactly one argument: the state. Got: ", set);
  const TypePtr made = get.returns().at(0).type(), taken = set.arguments().at(1).type();
  HB_CHECK(*made == *taken, "__getstate__'s return type should be a subtype of input argument of __setstate__. Got ",
           made->repr_str(), " but expected ", taken->repr_str());
}

}  // namespace detail
}  // namespace hb::bridge
