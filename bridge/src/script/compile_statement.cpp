#include <algorithm>

#include <halfbridge/error.h>

#include "script/compiler.h"
#include "script/nodes_statements.h"

namespace hb::bridge::script {

using Kind = Expr::Kind;

Compiler::Compiler(const ScriptFunction& function) : function_(function), unit_(function.unit()) {}

void Compiler::fail(int line, const std::string& message) const {
  throw Error(
      hb::detail::str("[TorchScript] ", function_.label(), ":", line, ", in ", function_.name(), ": ", message));
}

void Compiler::run() {
  const FunctionSyntax& syntax = function_.syntax();
  for (const Parameter& parameter : syntax.parameters) {
    if (!add_place(parameter.name)) fail(syntax.line, "the parameter '" + parameter.name + "' is there twice");
  }
  function_.defaults_.clear();
  function_.inner_.clear();
  for (const Parameter& parameter : syntax.parameters)
    function_.defaults_.push_back(parameter.value ? annotated(syntax.line, parameter.type, *parameter.value) : nullptr);
  latest_use_.clear();  // defaults may be computed again and again
  collect_names(syntax.body);
  function_.body_ = block(syntax.body);
  for (const auto& [place, use] : latest_use_) {
    if (use) use->last_use = true;
  }
  function_.places_ = place_count_;
}

// --- names that are assigned become places

bool Compiler::add_place(const std::string& name) {
  const bool added = places_.emplace(name, place_count_).second;
  if (added) ++place_count_;
  return added;
}

void Compiler::collect_targets(const Expr& target) {
  if (target.kind == Kind::Name) add_place(target.text);
  if (target.kind != Kind::Tuple && target.kind != Kind::List && target.kind != Kind::Starred) return;
  for (const ExprPtr& part : target.parts) collect_targets(*part);
}

void Compiler::collect_names(const Block& statements) {
  for (const Stmt& made : statements) {
    for (const ExprPtr& target : made.targets)
      if (made.kind != Stmt::Kind::Assert && !is_alias(made)) collect_targets(*target);
    collect_names(made.body);
    collect_names(made.otherwise);
  }
}

// _0 = __torch__.torch.nn.functional.relu: a name for a function.
bool Compiler::is_alias(const Stmt& made) {
  if (made.kind != Stmt::Kind::Assign || made.targets.size() != 1 || !made.value) return false;
  if (made.targets[0]->kind != Kind::Name || made.value->kind != Kind::Attribute) return false;
  const std::string path = path_of(*made.value);
  if (path.rfind("__torch__.", 0) != 0) return false;
  return unit_.function(path) || unit_.find_class(path);
}

// --- statements

Actions Compiler::block(const Block& statements) {
  Actions actions;
  for (const Stmt& made : statements) {
    if (ActionPtr action = statement(made)) actions.all.push_back(std::move(action));
  }
  return actions;
}

ActionPtr Compiler::statement(const Stmt& made) {
  using K = Stmt::Kind;
  switch (made.kind) {
    case K::Expression:
      return made.value->kind == Kind::Text ? nullptr : std::make_unique<Evaluate>(made.line, expression(*made.value));
    case K::Assign:
      return assignment(made);
    case K::Augmented:
      return augmented(made);
    case K::If: {
      NodePtr condition = expression(*made.value);
      Actions body = block(made.body);
      return std::make_unique<If>(made.line, std::move(condition), std::move(body), block(made.otherwise));
    }
    case K::While:
    case K::For:
    case K::With:
      return loop(made);
    case K::Return:
      return std::make_unique<Return>(
          made.line, made.value ? annotated(made.line, function_.syntax().result, *made.value) : nullptr);
    case K::Raise:
      return raise(made);
    case K::Assert: {
      NodePtr condition = expression(*made.value);
      return std::make_unique<Assert>(made.line, std::move(condition),
                                      made.targets.empty() ? nullptr : expression(*made.targets[0]));
    }
    case K::Delete:
      return deletion(made);
    case K::Define:
      define(made);
      return nullptr;
    case K::Break:
      return std::make_unique<Jump>(made.line, Flow::Break);
    case K::Continue:
      return std::make_unique<Jump>(made.line, Flow::Continue);
    case K::Pass:
      break;
  }
  return nullptr;
}

ActionPtr Compiler::assignment(const Stmt& made) {
  if (is_alias(made)) {
    aliases_[made.targets[0]->text] = path_of(*made.value);
    return nullptr;
  }
  if (!made.value) return nullptr;  // x : int
  NodePtr value = annotated(made.line, made.type, *made.value);
  std::vector<TargetPtr> targets;
  for (const ExprPtr& each : made.targets) targets.push_back(target(*each));
  return std::make_unique<Assign>(made.line, std::move(targets), std::move(value));
}

ActionPtr Compiler::augmented(const Stmt& made) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"+=", "add"},       {"-=", "sub"},         {"*=", "mul"},        {"/=", "div"},     {"//=", "floordiv"},
      {"%=", "remainder"}, {"**=", "pow"},        {"@=", "matmul"},     {"&=", "__and__"}, {"|=", "__or__"},
      {"^=", "__xor__"},   {"<<=", "__lshift__"}, {">>=", "__rshift__"}};
  std::string name = "aten::";
  for (const auto& [symbol, function] : kNames) {
    if (made.text == symbol) name += function;
  }
  const Expr& to = *made.targets[0];
  if (to.kind == Kind::Subscript) {
    auto at = subscript(to);
    return std::make_unique<Augment>(made.line, std::move(at), expression(*made.value), name);
  }
  if (to.kind != Kind::Name && to.kind != Kind::Attribute)
    fail(made.line, "expected a name on the left of " + made.text);
  NodePtr read = expression(to);
  NodePtr value = expression(*made.value);
  return std::make_unique<Augment>(made.line, std::move(read), target(to), std::move(value), name);
}

ActionPtr Compiler::loop(const Stmt& made) {
  if (made.kind == Stmt::Kind::With) {
    NodePtr context = expression(*made.value);
    TargetPtr as = made.targets.empty() ? nullptr : target(*made.targets[0]);
    return std::make_unique<With>(made.line, std::move(context), std::move(as), block(made.body));
  }
  if (made.kind == Stmt::Kind::For) {
    NodePtr source = expression(*made.value);
    ++loops_;
    TargetPtr to = target(*made.targets[0]);
    Actions body = block(made.body);
    --loops_;
    return std::make_unique<For>(made.line, std::move(to), std::move(source), std::move(body));
  }
  ++loops_;
  NodePtr condition = expression(*made.value);
  Actions body = block(made.body);
  --loops_;
  return std::make_unique<While>(made.line, std::move(condition), std::move(body));
}

// raise ValueError("..."): only the kind and the text count.
ActionPtr Compiler::raise(const Stmt& made) {
  if (!made.value) fail(made.line, "raise expected an exception");
  const Expr& value = *made.value;
  const Expr& kind = value.kind == Kind::Call ? *value.parts[0] : value;
  NodePtr message = value.kind == Kind::Call && value.parts.size() > 1 ? expression(*value.parts[1]) : nullptr;
  return std::make_unique<Raise>(made.line, kind.text, std::move(message));
}

ActionPtr Compiler::deletion(const Stmt& made) {
  const Expr& what = *made.targets[0];
  if (what.kind == Kind::Subscript) return std::make_unique<Delete>(made.line, subscript(what), std::nullopt);
  const auto known = places_.find(what.text);
  if (what.kind != Kind::Name || known == places_.end()) fail(made.line, "del expected a variable or an item");
  return std::make_unique<Delete>(made.line, nullptr, known->second);
}

TargetPtr Compiler::target(const Expr& tree) {
  switch (tree.kind) {
    case Kind::Name:
      return std::make_unique<LocalTarget>(places_.at(tree.text));
    case Kind::Subscript:
      return std::make_unique<SubscriptTarget>(subscript(tree));
    case Kind::Attribute:
      return std::make_unique<AttributeTarget>(
          std::make_unique<Attribute>(tree.line, expression(*tree.parts[0]), tree.text));
    case Kind::Tuple:
    case Kind::List: {
      std::vector<TargetPtr> targets;
      std::optional<size_t> starred;
      for (const ExprPtr& part : tree.parts) {
        const bool star = part->kind == Kind::Starred;
        if (star && starred) fail(tree.line, "expected one starred target");
        if (star) starred = targets.size();
        targets.push_back(target(star ? *part->parts[0] : *part));
      }
      return std::make_unique<TupleTarget>(std::move(targets), starred);
    }
    default:
      fail(tree.line, "cannot assign to this");
  }
}

void Compiler::define(const Stmt& made) {
  const std::string name = made.function->name;
  function_.inner_.push_back(std::make_unique<ScriptFunction>(unit_, "", function_.qualified_name() + "." + name,
                                                              function_.label(), made.function));
  inner_[name] = function_.inner_.back().get();
}

}  // namespace hb::bridge::script
