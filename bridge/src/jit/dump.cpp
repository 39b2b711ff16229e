// Modules as texts.
#include <iostream>
#include <sstream>

#include <halfbridge/bridge/jit.h>
#include <halfbridge/class_type.h>

#include "io/io_error.h"
#include "script/class_texts.h"
#include "script/unit.h"

namespace hb::bridge::jit {
namespace {

constexpr int kMaxDepth = 200;

// Each line, the last one whole.
std::string indented(const std::string& text, const std::string& by) {
  std::istringstream in(text);
  std::string result;
  for (std::string line; std::getline(in, line);) result += by + line + "\n";
  return result;
}

std::string without_end(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string body_of(const ivalue::ObjectData& object, const std::string& name) {
  const script::ScriptFunction* method = script::find_method(object, name);
  return method ? without_end(method->source()) + "\n" : "";
}

class Dump {
 public:
  Dump(bool bodies, bool attributes, bool parameters)
      : bodies_(bodies), attributes_(attributes), parameters_(parameters) {}

  std::string text(const Module& module, int depth = 0) const {
    if (depth > kMaxDepth) io::io_fail("jit.Module.dump", "expected at most ", kMaxDepth, " levels, got more");
    std::ostringstream parameters, attributes, methods;
    for (const auto& parameter : module.named_parameters(false)) {
      parameters << parameter.name << " = ";
      value(parameters, IValue(parameter.value), parameters_);
    }
    for (const auto& attribute : module.named_attributes(false)) {
      attributes << attribute.name << " = ";
      value(attributes, attribute.value, attributes_ || !attribute.value.isTensor());
    }
    for (const Method& method : module.get_methods()) {
      methods << "method " << method.name() << " {\n";
      if (bodies_) methods << indented(body_of(*module._ivalue(), method.name()), "  ");
      methods << "}\n";
    }
    std::string children;
    for (const auto& child : module.named_children()) children += text(child.value, depth + 1);
    return "module " + module._ivalue()->class_name + " {\n" + part("parameters", parameters.str()) +
           part("attributes", attributes.str()) + part("methods", methods.str()) + part("submodules", children) + "}\n";
  }

 private:
  static std::string part(const std::string& name, const std::string& content) {
    return "  " + name + " {\n" + indented(content, "    ") + "  }\n";
  }
  static void value(std::ostringstream& out, const IValue& value, bool in_full) {
    if (in_full) {
      out << value << "\n";
    } else {
      out << "...\n";
    }
  }
  bool bodies_, attributes_, parameters_;
};

}  // namespace

std::string Module::dump_to_str(bool print_method_bodies, bool print_attr_values, bool print_param_values) const {
  return Dump(print_method_bodies, print_attr_values, print_param_values).text(*this);
}
void Module::dump(bool print_method_bodies, bool print_attr_values, bool print_param_values) const {
  std::cout << dump_to_str(print_method_bodies, print_attr_values, print_param_values) << std::endl;
}

}  // namespace hb::bridge::jit
