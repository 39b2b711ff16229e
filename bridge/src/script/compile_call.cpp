#include <algorithm>

#include <halfbridge/error.h>

#include "io/torch_types.h"
#include "script/compiler.h"
#include "script/norm_folds.h"

namespace hb::bridge::script {

using Kind = Expr::Kind;

namespace {

// Python's functions and what they are here.
constexpr std::pair<const char*, const char*> kWords[] = {
    {"len", "aten::len"},       {"int", "aten::Int"},           {"float", "aten::Float"}, {"bool", "aten::Bool"},
    {"str", "aten::str"},       {"complex", "aten::Complex"},   {"print", "prim::Print"}, {"abs", "aten::abs"},
    {"min", "prim::min"},       {"max", "prim::max"},           {"sum", "aten::sum"},     {"round", "aten::round"},
    {"sorted", "aten::sorted"}, {"reversed", "prim::reversed"}, {"list", "aten::list"},   {"dict", "aten::dict"},
    {"tuple", "prim::tuple"},   {"any", "aten::any"},           {"all", "aten::all"},     {"divmod", "aten::divmod"},
    {"pow", "aten::pow"},       {"ord", "aten::ord"},           {"chr", "aten::chr"},     {"wait", "aten::wait"},
    {"hex", "aten::hex"},       {"oct", "aten::oct"},           {"bin", "aten::bin"}};

// What torch.jit and code of archives name without being functions.
bool is_cast(const std::string& word) {
  return word == "annotate" || word == "unchecked_cast" || word == "torch.jit.annotate" || word == "typing.cast";
}

}  // namespace

std::string Compiler::path_of(const Expr& tree) const {
  std::string path = dotted_name(tree);
  return places_.count(path.substr(0, path.find('.'))) ? "" : path;
}

const ScriptFunction* Compiler::function_named(const std::string& path) const {
  if (const auto inner = inner_.find(path); inner != inner_.end()) return inner->second;
  return unit_.function(path);
}

void Compiler::check_no_names(const Expr& tree, const char* what) const {
  if (!tree.names.empty()) fail(tree.line, std::string(what) + " takes no arguments by name");
}

NodePtr Compiler::operator_call(const Expr& tree, const std::string& name, size_t from) {
  Nodes arguments;
  const bool keeps = keeps_arguments(name);
  for (size_t i = from; i < tree.parts.size(); ++i) {
    if (tree.parts[i]->kind == Kind::Starred) fail(tree.line, "*arguments are not supported");
    NodePtr node = expression(*tree.parts[i]);
    // [1, 1] in a call of an operator, which does not keep it, is one list for all calls.
    const auto* list = keeps ? nullptr : dynamic_cast<const ListOf*>(node.get());
    const auto constant = [](const NodePtr& item) { return dynamic_cast<const Constant*>(item.get()) != nullptr; };
    if (list && std::all_of(list->items.begin(), list->items.end(), constant)) {
      Frame none(0);
      node = std::make_unique<Constant>(tree.line, list->eval(none));
    }
    arguments.push_back(std::move(node));
  }
  return std::make_unique<Call>(tree.line, name, tree.names, std::move(arguments));
}

NodePtr Compiler::function_call(const Expr& tree, const ScriptFunction& function, size_t from) {
  return std::make_unique<FunctionCall>(tree.line, function, tree.names, expressions(tree, from));
}

NodePtr Compiler::class_call(const Expr& tree, ScriptClass& of, bool initialise, size_t from) {
  if (of.syntax->kind == ClassSyntax::Kind::Enum || of.syntax->kind == ClassSyntax::Kind::Interface)
    fail(tree.line, "objects of " + of.name + " cannot be made: enums and interfaces have none here");
  const bool tuple = of.syntax->kind == ClassSyntax::Kind::NamedTuple;
  Nodes arguments = initialise || tuple ? expressions(tree, from) : Nodes();
  return std::make_unique<NewObject>(tree.line, unit_, of, initialise, tree.names, std::move(arguments));
}

// isinstance(x, T), isinstance(x, (A, B))
NodePtr Compiler::is_instance(const Expr& tree) {
  if (tree.parts.size() != 3) fail(tree.line, "isinstance() takes a value and a type");
  std::vector<std::string> types;
  const Expr& wanted = *tree.parts[2];
  const bool several = wanted.kind == Kind::Tuple || wanted.kind == Kind::List;
  for (size_t i = 0; i < (several ? wanted.parts.size() : 1); ++i) {
    types.push_back(type_text(several ? *wanted.parts[i] : wanted));
    if (types.back().empty()) fail(tree.line, "isinstance() expected a type");
  }
  return std::make_unique<IsInstance>(tree.line, expression(*tree.parts[1]), types);
}

// getattr(x, "0"), getattr(x, "0", missing), hasattr(x, "0")
NodePtr Compiler::named_attribute(const Expr& tree) {
  const bool asks = tree.parts[0]->text == "hasattr";
  if (tree.parts.size() < 3 || tree.parts[2]->kind != Kind::Text) fail(tree.line, "expected a name in quotes");
  const std::string& wanted = tree.parts[2]->text;
  if (asks || tree.parts.size() == 4) {
    auto there = std::make_unique<HasAttribute>(tree.line, expression(*tree.parts[1]), wanted);
    if (asks) return there;
    auto value = std::make_unique<Attribute>(tree.line, expression(*tree.parts[1]), wanted);
    return std::make_unique<Choice>(tree.line, std::move(there), std::move(value), expression(*tree.parts[3]));
  }
  return std::make_unique<Attribute>(tree.line, expression(*tree.parts[1]), wanted);
}

NodePtr Compiler::special(const Expr& tree, const std::string& word) {
  if (is_cast(word)) {
    if (tree.parts.size() != 3) fail(tree.line, word + "() takes a type and a value");
    const std::string type = type_text(*tree.parts[1]);
    if (type.empty()) fail(tree.line, word + "() expected a type");
    NodePtr value = annotated(tree.line, type, *tree.parts[2]);
    // A tensor of one number where a number is wanted.
    const char* number = type == "int"     ? "aten::Int"
                         : type == "float" ? "aten::Float"
                         : type == "bool"  ? "aten::Bool"
                                           : "";
    if (word != "annotate" || *number == '\0') return value;
    Nodes one;
    one.push_back(std::move(value));
    return std::make_unique<Call>(tree.line, number, Names(), std::move(one));
  }
  if (word == "uninitialized") return std::make_unique<Constant>(tree.line, IValue());
  if (word == "isinstance") return is_instance(tree);
  if (word == "getattr" || word == "hasattr") return named_attribute(tree);
  const auto kind = word == "range"       ? std::optional(Sequence::Kind::Range)
                    : word == "enumerate" ? std::optional(Sequence::Kind::Enumerate)
                    : word == "zip"       ? std::optional(Sequence::Kind::Zip)
                                          : std::nullopt;
  if (kind) {
    check_no_names(tree, word.c_str());
    if (tree.parts.size() < 2 || (kind != Sequence::Kind::Zip && tree.parts.size() > (word == "range" ? 4u : 3u)))
      fail(tree.line, word + "() got a wrong number of arguments");
    return std::make_unique<Sequence>(tree.line, *kind, expressions(tree, 1));
  }
  // A task runs here and now.
  if (word == "fork" || word == "torch.jit._fork" || word == "torch.jit.fork") {
    if (tree.parts.size() < 2) fail(tree.line, "fork() expected a function");
    const std::string path = path_of(*tree.parts[1]);
    const auto alias = aliases_.find(path);
    const ScriptFunction* function = function_named(alias == aliases_.end() ? path : alias->second);
    if (function) return function_call(tree, *function, 2);
    fail(tree.line, "fork() expected a function of the source");
  }
  return nullptr;
}

NodePtr Compiler::call_of_word(const Expr& tree, const std::string& word) {
  if (const auto alias = aliases_.find(word); alias != aliases_.end()) return call_of_path(tree, alias->second);
  if (const ScriptFunction* function = function_named(word)) return function_call(tree, *function);
  if (NodePtr node = special(tree, word)) return node;
  for (const auto& [known, name] : kWords) {
    if (word == known) return operator_call(tree, name);
  }
  fail(tree.line, "undefined function " + word);
}

NodePtr Compiler::call_of_path(const Expr& tree, const std::string& path) {
  const auto rest = [&](const char* prefix) -> std::string {
    const size_t size = std::string_view(prefix).size();
    return path.compare(0, size, prefix) == 0 ? path.substr(size) : "";
  };
  if (path.find('.') == std::string::npos) return call_of_word(tree, path);
  if (NodePtr node = special(tree, path)) return node;
  if (path == "torch.jit._wait" || path == "torch.jit.wait") return operator_call(tree, "aten::wait");
  for (const char* prefix : {"torch.ops.", "ops."}) {
    const std::string name = rest(prefix);
    const size_t dot = name.find('.');
    if (dot != std::string::npos) return operator_call(tree, name.substr(0, dot) + "::" + name.substr(dot + 1));
  }
  if (const std::string name = rest("math."); !name.empty())
    return operator_call(tree, name == "remainder" ? "aten::mathremainder" : "aten::" + name);
  if (const std::string name = rest("torch."); !name.empty() && name.find('.') == std::string::npos)
    return operator_call(tree, "aten::" + name);
  if (const ScriptFunction* function = function_named(path)) return function_call(tree, *function);
  if (ScriptClass* of = unit_.find_class(path)) return class_call(tree, *of, true);
  const std::string kNew = ".__new__";
  if (path.size() > kNew.size() && path.compare(path.size() - kNew.size(), kNew.size(), kNew) == 0) {
    const std::string name = path.substr(0, path.size() - kNew.size());
    if (ScriptClass* of = unit_.find_class(name)) return class_call(tree, *of, false);
    fail(tree.line, "the archive has no class " + name);
  }
  fail(tree.line, "undefined function " + path);
}

NodePtr Compiler::module_of(const Names& path, int line) {
  Expr self;
  self.kind = Kind::Name;
  self.line = line;
  self.text = function_.syntax().parameters[0].name;
  NodePtr node = name(self);
  for (const std::string& part : path) node = std::make_unique<Attribute>(line, std::move(node), part);
  return node;
}

NodePtr Compiler::folded(const Expr& tree) {
  const NormFolds& folds = *function_.folds();
  if (const auto found = folds.norms.find(&tree); found != folds.norms.end()) return expression(*found->second);
  const auto found = folds.convolutions.find(&tree);
  if (found == folds.convolutions.end()) return nullptr;
  const NormFold& fold = found->second;
  NodePtr convolution = module_of(fold.convolution, tree.line), norm = module_of(fold.norm, tree.line);
  return std::make_unique<FoldedNorm>(tree.line, std::move(convolution), std::move(norm), expression(*fold.input));
}

namespace {
bool is_dtype(const Expr& tree) {
  const std::string path = dotted_name(tree);
  return path.rfind("torch.", 0) == 0 && io::dtype_of_name(path.substr(6));
}
}  // namespace

NodePtr Compiler::call(const Expr& tree) {
  if (function_.folds()) {
    if (NodePtr node = folded(tree)) return node;
  }
  const Expr& callee = *tree.parts[0];
  for (size_t i = 1; i < tree.parts.size(); ++i) {
    if (tree.parts[i]->kind == Kind::Starred) fail(tree.line, "*arguments are not supported");
  }
  if (callee.kind == Kind::Name && aliases_.count(callee.text)) return call_of_word(tree, callee.text);
  const std::string path = path_of(callee);
  if (!path.empty()) return call_of_path(tree, path);
  if (callee.kind == Kind::Attribute) {
    NodePtr value = expression(*callee.parts[0]);
    Nodes arguments = expressions(tree, 1);
    Names names = tree.names;
    // A dtype is a number, which x.view(torch.int32) would take for a size.
    if (callee.text == "view" && names.empty() && tree.parts.size() == 2 && is_dtype(*tree.parts[1]))
      names.emplace_back("dtype");
    return std::make_unique<MethodCall>(tree.line, std::move(value), callee.text, names, std::move(arguments));
  }
  // module(x) is module.forward(x).
  NodePtr value = expression(callee);
  return std::make_unique<MethodCall>(tree.line, std::move(value), "forward", tree.names, expressions(tree, 1));
}

}  // namespace hb::bridge::script
