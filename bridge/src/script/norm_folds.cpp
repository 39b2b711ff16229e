#include "script/norm_folds.h"

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "script/builtins.h"

namespace hb::bridge::script {
namespace {

using Kind = Expr::Kind;
using ivalue::ObjectData;

// --- trees

void for_each_statement(const Block& block, const std::function<void(const Stmt&)>& visit) {
  for (const Stmt& made : block) {
    visit(made);
    for_each_statement(made.body, visit);
    for_each_statement(made.otherwise, visit);
    if (made.function) for_each_statement(made.function->body, visit);
  }
}
void for_each_expression(const FunctionSyntax& function, const std::function<void(const Expr&)>& visit) {
  for_each_statement(function.body, [&](const Stmt& made) {
    if (made.value) for_each_part(*made.value, visit);
    for (const ExprPtr& target : made.targets) for_each_part(*target, visit);
  });
}

std::optional<IValue> literal(const Expr& tree) {
  switch (tree.kind) {
    case Kind::None:
      return IValue();
    case Kind::True:
    case Kind::False:
      return IValue(tree.kind == Kind::True);
    case Kind::Text:
      return IValue(tree.text);
    case Kind::Number:
      return number_of(tree.text);
    case Kind::List: {
      std::vector<IValue> items;
      for (const ExprPtr& part : tree.parts) {
        auto item = literal(*part);
        if (!item) return std::nullopt;
        items.push_back(std::move(*item));
      }
      return list_of_items(std::move(items));
    }
    default:
      return std::nullopt;
  }
}

// --- one method

// The variables of a method, and the modules that they and its attributes name.
class Variables {
 public:
  Variables(const ObjectData& self, const FunctionSyntax& method) : self_(self) {
    for (const Parameter& parameter : method.parameters) ++of(parameter.name).set;
    if (!method.parameters.empty()) self_name_ = method.parameters[0].name;
    for_each_statement(method.body, [&](const Stmt& made) {
      if (made.value) count_uses(*made.value);
      for (const ExprPtr& target : made.targets) count_target(made, *target);
    });
  }
  /// What the variable is, if it is set once and not in parts.
  const Expr* value(const std::string& name) const {
    const auto found = all_.find(name);
    return found != all_.end() && found->second.set == 1 ? found->second.value : nullptr;
  }
  int uses(const std::string& name) const {
    const auto found = all_.find(name);
    return found == all_.end() ? 0 : found->second.uses;
  }
  /// The attributes of self that name a module: "a.b" for self.a.b. Nothing for any other expression.
  std::optional<Names> path(const Expr& tree, int depth = 0) const {
    constexpr int kMaxDepth = 32;
    if (depth > kMaxDepth) return std::nullopt;
    if (tree.kind == Kind::Name) {
      const auto found = all_.find(tree.text);
      if (found == all_.end() || found->second.set != 1) return std::nullopt;
      if (tree.text == self_name_) return Names();
      return found->second.value ? path(*found->second.value, depth + 1) : std::nullopt;
    }
    const bool is_getattr = tree.kind == Kind::Call && tree.parts.size() == 3 &&
                            dotted_name(*tree.parts[0]) == "getattr" && tree.parts[2]->kind == Kind::Text;
    if (tree.kind != Kind::Attribute && !is_getattr) return std::nullopt;
    auto names = path(*tree.parts[is_getattr ? 1 : 0], depth + 1);
    if (names) names->push_back(is_getattr ? tree.parts[2]->text : tree.text);
    return names;
  }
  /// Null where the path names none.
  const ObjectData* module(const Names& path) const {
    const ObjectData* object = &self_;
    for (const std::string& name : path) {
      const auto* attribute = object->find(name);
      if (!attribute || !attribute->value.isObject()) return nullptr;
      object = &attribute->value.toObjectRef();
    }
    return object;
  }

 private:
  struct Variable {
    int set = 0, uses = 0;
    const Expr* value = nullptr;
  };
  Variable& of(const std::string& name) { return all_[name]; }

  void count_uses(const Expr& tree) {
    for_each_part(tree, [&](const Expr& part) {
      if (part.kind == Kind::Name) ++of(part.text).uses;
      if (part.kind == Kind::Comprehension || part.kind == Kind::DictComprehension) count_names(*part.parts[1]);
    });
  }
  void count_names(const Expr& target) {
    for_each_part(target, [&](const Expr& part) {
      if (part.kind == Kind::Name) ++of(part.text).set;
    });
  }
  void count_target(const Stmt& made, const Expr& target) {
    if (made.kind == Stmt::Kind::Assign && made.targets.size() == 1 && target.kind == Kind::Name) {
      Variable& variable = of(target.text);
      ++variable.set;
      variable.value = made.value.get();
      return;
    }
    count_names(target);
    count_uses(target);
  }

  const ObjectData& self_;
  std::string self_name_;
  std::unordered_map<std::string, Variable> all_;
};

// module(x), module.forward(x): the module. Null for anything else.
const Expr* called_module(const Expr& tree) {
  if (tree.kind != Kind::Call || tree.parts.size() != 2 || !tree.names.empty()) return nullptr;
  const Expr& callee = *tree.parts[0];
  return callee.kind == Kind::Attribute && callee.text == "forward" ? callee.parts[0].get() : &callee;
}

// --- classes of torch.nn

bool is_class(const ObjectData& object, const std::string& module, const std::string& begin) {
  const std::string& name = object.class_name;
  const size_t dot = name.rfind('.');
  return name.rfind("__torch__.torch.nn.modules." + module + ".", 0) == 0 && dot != std::string::npos &&
         name.compare(dot + 1, begin.size(), begin) == 0 && name.size() == dot + 1 + begin.size() + 2 &&
         name.back() == 'd';  // Conv1d, Conv2d, Conv3d
}

const ScriptClass* class_of(const ObjectData& object) {
  if (!object.declared || !object.declared->code) return nullptr;
  const ClassCode& code = *class_code(*object.declared);
  const ScriptClass* of = code.added.empty() ? code.unit->find_class(code.class_name) : nullptr;
  return of && !of->syntax->has_hooks ? of : nullptr;
}

}  // namespace

std::optional<ConvolutionCode> convolution_code(const ObjectData& object) {
  const ScriptClass* of = is_class(object, "conv", "Conv") ? class_of(object) : nullptr;
  if (!of) return std::nullopt;
  const Expr* call = nullptr;
  bool only = true;
  for (const auto& method : of->syntax->methods) {
    for_each_expression(*method, [&](const Expr& tree) {
      if (tree.kind != Kind::Call || dotted_name(*tree.parts[0]) == "self._conv_forward") return;
      only = only && !call;
      call = &tree;
    });
  }
  if (!call || !only || call->parts.size() < 4 || !call->names.empty()) return std::nullopt;
  const std::string function = dotted_name(*call->parts[0]);
  const bool general = function == "torch._convolution";
  if (!general && function != "torch._convolution_mode" && function.rfind("torch.conv", 0) != 0) return std::nullopt;
  ConvolutionCode code{"aten::" + function.substr(6), {}};
  for (size_t i = 4; i < call->parts.size(); ++i) {
    auto setting = literal(*call->parts[i]);
    if (!setting) return std::nullopt;
    code.settings.push_back(std::move(*setting));
  }
  constexpr size_t kTransposed = 3;  // behind stride, padding and dilation
  const auto transposed = [&] { return code.settings[kTransposed].isBool() && code.settings[kTransposed].toBool(); };
  if (general && (code.settings.size() <= kTransposed || transposed())) return std::nullopt;
  return code;
}

std::optional<double> norm_eps(const ObjectData& object) {
  const ScriptClass* of = is_class(object, "batchnorm", "BatchNorm") ? class_of(object) : nullptr;
  const ScriptFunction* forward = of ? find_method(object, "forward") : nullptr;
  if (!forward) return std::nullopt;
  const Variables variables(object, forward->syntax());
  std::optional<double> found;
  for_each_expression(forward->syntax(), [&](const Expr& tree) {
    if (tree.kind != Kind::Call) return;
    std::string function = dotted_name(*tree.parts[0]);
    const Expr* alias = variables.value(function);
    if (alias) function = dotted_name(*alias);
    // torch.batch_norm(input, weight, bias, mean, variance, training, momentum, eps, cudnn), and the one of
    // torch.nn.functional(input, mean, variance, weight, bias, training, momentum, eps).
    const bool plain = function == "torch.batch_norm" && tree.parts.size() == 10;
    const bool functional = function == "__torch__.torch.nn.functional.batch_norm" && tree.parts.size() == 9;
    if (!plain && !functional) return;
    const auto eps = literal(*tree.parts[8]);
    if (eps && eps->isDouble() && tree.parts[6]->kind != Kind::True) found = eps->toDouble();
  });
  return found;
}

NormFolds find_norm_folds(const ObjectData& object, const FunctionSyntax& method) {
  NormFolds folds;
  const Variables variables(object, method);
  for_each_expression(method, [&](const Expr& tree) {
    const Expr* callee = called_module(tree);
    const auto norm = callee ? variables.path(*callee) : std::nullopt;
    const ObjectData* norm_module = norm ? variables.module(*norm) : nullptr;
    if (!norm_module || !norm_eps(*norm_module)) return;
    // norm(convolution(x)), or y = convolution(x) and norm(y) without another use of y.
    const Expr* call = tree.parts[1].get();
    if (call->kind == Kind::Name) call = variables.uses(call->text) == 1 ? variables.value(call->text) : nullptr;
    callee = call ? called_module(*call) : nullptr;
    const auto convolution = callee ? variables.path(*callee) : std::nullopt;
    const ObjectData* module = convolution ? variables.module(*convolution) : nullptr;
    if (!module || !convolution_code(*module)) return;
    folds.convolutions[call] = {*convolution, *norm, call->parts[1].get()};
    folds.norms[&tree] = tree.parts[1].get();
  });
  return folds;
}

namespace {

// A class with the methods that have folds; the same one where none has any.
std::shared_ptr<const ivalue::ClassData> folded_class(const ObjectData& object) {
  ClassCode* old = class_code(*object.declared);
  std::shared_ptr<ClassCode> code;
  for (const std::string& name : object.declared->methods) {
    const ScriptFunction* method = old->method(name);
    auto folds = method ? find_norm_folds(object, method->syntax()) : NormFolds();
    if (folds.norms.empty()) continue;
    if (!code) code = std::make_shared<ClassCode>(*old);
    code->folded[name] = std::make_shared<ScriptFunction>(*method, std::make_shared<NormFolds>(std::move(folds)));
  }
  if (!code) return object.declared;
  auto declared = std::make_shared<ivalue::ClassData>(*object.declared);
  declared->code = std::move(code);
  return declared;
}

}  // namespace

void fold_batch_norms(const std::shared_ptr<ObjectData>& root) {
  std::unordered_map<std::shared_ptr<const ivalue::ClassData>, std::shared_ptr<const ivalue::ClassData>> made;
  std::unordered_set<const ObjectData*> seen;
  std::vector<std::shared_ptr<ObjectData>> open{root};
  while (!open.empty()) {
    const auto object = std::move(open.back());
    open.pop_back();
    if (!seen.insert(object.get()).second || object->registered_class) continue;
    for (const auto& attribute : object->attributes) {
      if (attribute.value.isObject()) open.push_back(attribute.value.toObject());
    }
    if (!object->declared || !object->declared->code) continue;
    auto& changed = made[object->declared];
    if (!changed) changed = folded_class(*object);
    object->declared = changed;
  }
}

}  // namespace hb::bridge::script
