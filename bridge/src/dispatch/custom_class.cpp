#include <halfbridge/bridge/dispatch/custom_class.h>

#include <cctype>

namespace hb {
namespace {

template <class List>
bridge::jit::Function* found(const List& list, const std::string& name) {
  for (const auto& method : list) {
    if (method->name() == name) return method.get();
  }
  return nullptr;
}

}  // namespace

std::vector<ClassType::Function*> ClassType::methods() const {
  std::vector<Function*> all;
  for (const auto& method : methods_) all.push_back(method.get());
  return all;
}
ClassType::Function* ClassType::findMethod(const std::string& name) const { return found(methods_, name); }
ClassType::Function* ClassType::findStaticMethod(const std::string& name) const { return found(static_methods_, name); }
ClassType::Function& ClassType::getMethod(const std::string& name) const {
  Function* method = findMethod(name);
  HB_CHECK(method, "Couldn't find method: '", name, "' on class: '", repr_str(), "'");
  return *method;
}
std::optional<ClassType::Property> ClassType::getProperty(const std::string& name) const {
  for (const Property& property : properties_) {
    if (property.name == name) return property;
  }
  return std::nullopt;
}

ClassType::Function* ClassType::addMethod(std::unique_ptr<Function> method) {
  HB_CHECK(!findMethod(method->name()), "Can't redefine method: ", method->name(), " on class: ", repr_str());
  return methods_.emplace_back(std::move(method)).get();
}
ClassType::Function* ClassType::addStaticMethod(std::unique_ptr<Function> method) {
  HB_CHECK(!findStaticMethod(method->name()), "Can't redefine method: ", method->name(), " on class: ", repr_str());
  return static_methods_.emplace_back(std::move(method)).get();
}
void ClassType::addProperty(const std::string& name, Function* getter, Function* setter) {
  HB_CHECK(!getProperty(name), "Property named ", name, " already exists!");
  properties_.push_back({name, getter, setter});
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

std::string QualifiedName::prefix() const {
  const size_t dot = name_.rfind('.');
  return dot == std::string::npos ? "" : name_.substr(0, dot);
}
std::string QualifiedName::name() const { return name_.substr(name_.rfind('.') + 1); }

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
  registered_->type = std::make_shared<ClassType>(registered_->name);
  registered_->plain_type = registered_->type;
  ivalue::register_custom_class(type, registered_);
}

jit::Function* ClassBase::define(const std::string& name, FunctionSchema schema, std::function<void(jit::Stack&)> run,
                                 std::string doc, std::initializer_list<DefaultArgument> defaults, bool is_static) {
  schema = schema.cloneWithName(name, "");
  if (defaults.size() > 0) schema = with_defaults(schema, defaults);
  auto method = std::make_unique<jit::Function>(registered_->name + "." + name, std::move(schema), std::move(run),
                                                std::move(doc));
  return is_static ? registered_->type->addStaticMethod(std::move(method))
                   : registered_->type->addMethod(std::move(method));
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
