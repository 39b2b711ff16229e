#include <limits>

#include <halfbridge/error.h>

#include "io/torch_types.h"
#include "script/compiler.h"

namespace hb::bridge::script {

using Kind = Expr::Kind;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// torch.float32, math.pi, CONSTANTS.c0.
NodePtr Compiler::constant_of(const std::string& path, int line) const {
  const auto is = [&](const char* text) { return path == text; };
  const auto make = [&](IValue value) { return std::make_unique<Constant>(line, std::move(value)); };
  if (path.rfind("CONSTANTS.", 0) == 0) {
    const IValue* value = unit_.constant(path.substr(10));
    if (!value) fail(line, "the archive has no constant '" + path + "'");
    return make(*value);
  }
  if (is("math.pi")) return make(3.14159265358979323846);
  if (is("math.e")) return make(2.71828182845904523536);
  if (is("math.tau")) return make(6.28318530717958647693);
  if (is("math.inf") || is("torch.inf")) return make(kInfinity);
  if (is("math.nan") || is("torch.nan")) return make(kNan);
  if (is("torch.pi")) return make(3.14159265358979323846);
  if (is("torch.strided")) return make(Layout::Strided);
  if (is("torch.contiguous_format")) return make(MemoryFormat::Contiguous);
  if (is("torch.preserve_format")) return make(MemoryFormat::Preserve);
  if (is("torch.channels_last")) return make(MemoryFormat::ChannelsLast);
  if (is("torch.channels_last_3d")) return make(MemoryFormat::ChannelsLast3d);
  if (is("torch.cfloat")) return make(kComplexFloat);
  if (is("torch.cdouble")) return make(kComplexDouble);
  if (path.rfind("torch.", 0) != 0) return nullptr;
  const auto dtype = io::dtype_of_name(path.substr(6));
  return dtype ? make(*dtype) : nullptr;
}

NodePtr Compiler::number(const Expr& tree) const {
  auto value = number_of(tree.text);
  if (!value) fail(tree.line, "expected a number that 64 bits hold, got " + tree.text);
  return std::make_unique<Constant>(tree.line, std::move(*value));
}

NodePtr Compiler::name(const Expr& tree) {
  const auto place = places_.find(tree.text);
  if (place != places_.end()) {
    auto local = std::make_unique<Local>(tree.line, place->second, tree.text);
    latest_use_[place->second] = loops_ == 0 ? local.get() : nullptr;
    return local;
  }
  if (tree.text == "inf") return std::make_unique<Constant>(tree.line, IValue(kInfinity));
  if (tree.text == "nan") return std::make_unique<Constant>(tree.line, IValue(kNan));
  fail(tree.line, "undefined value " + tree.text);
}

NodePtr Compiler::attribute(const Expr& tree) {
  const std::string path = path_of(tree);
  if (path.empty()) return std::make_unique<Attribute>(tree.line, expression(*tree.parts[0]), tree.text);
  if (NodePtr constant = constant_of(path, tree.line)) return constant;
  const std::string owner = path_of(*tree.parts[0]);
  const ScriptClass* enumeration = owner.empty() ? nullptr : unit_.find_class(owner);
  if (enumeration && enumeration->syntax->kind == ClassSyntax::Kind::Enum)
    fail(tree.line, "enums are not supported: " + path);
  fail(tree.line, "undefined value " + path);
}

NodePtr Compiler::unary(const Expr& tree) {
  Nodes operand;
  operand.push_back(expression(*tree.parts[0]));
  if (tree.text == "+") return std::move(operand[0]);
  const auto* constant = dynamic_cast<const Constant*>(operand[0].get());
  if (constant && tree.text == "-" && is_real(constant->value)) {
    Values values{constant->value};
    IValue negative;
    find_builtins("aten::neg")->run(values, negative);
    return std::make_unique<Constant>(tree.line, std::move(negative));
  }
  const char* name = tree.text == "-" ? "aten::neg" : tree.text == "~" ? "aten::bitwise_not" : "aten::__not__";
  return std::make_unique<Call>(tree.line, name, Names(), std::move(operand));
}

NodePtr Compiler::binary(const Expr& tree) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"+", "add"},       {"-", "sub"},         {"*", "mul"},        {"/", "div"},     {"//", "floordiv"},
      {"%", "remainder"}, {"**", "pow"},        {"@", "matmul"},     {"&", "__and__"}, {"|", "__or__"},
      {"^", "__xor__"},   {"<<", "__lshift__"}, {">>", "__rshift__"}};
  std::string name = "aten::";
  for (const auto& [symbol, function] : kNames) {
    if (tree.text == symbol) name += function;
  }
  if (tree.text == "%" && tree.parts[0]->kind == Kind::Text) name = "aten::percentFormat";
  return std::make_unique<Call>(tree.line, name, Names(), expressions(tree));
}

Nodes Compiler::expressions(const Expr& tree, size_t from) {
  Nodes nodes;
  for (size_t i = from; i < tree.parts.size(); ++i) nodes.push_back(expression(*tree.parts[i]));
  return nodes;
}

// The type counts for lists and dicts that are made here.
NodePtr Compiler::annotated(int line, const std::string& type, const Expr& tree) {
  NodePtr value = expression(tree);
  const bool fresh = tree.kind == Kind::List || tree.kind == Kind::Dict || tree.kind == Kind::Comprehension ||
                     tree.kind == Kind::DictComprehension || tree.kind == Kind::Call;
  const bool typed = type.find("List[") != std::string::npos || type.find("Dict[") != std::string::npos;
  if (!fresh || !typed || type.rfind("Tuple[", 0) == 0) return value;
  return std::make_unique<Annotated>(line, type, std::move(value));
}

std::unique_ptr<Subscript> Compiler::subscript(const Expr& tree) {
  NodePtr value = expression(*tree.parts[0]);
  const Expr& inside = *tree.parts[1];
  std::vector<IndexItem> items;
  const auto add = [&](const Expr& item) {
    IndexItem made;
    if (item.kind == Kind::Ellipsis) {
      made.kind = IndexItem::Kind::Ellipsis;
    } else if (item.kind == Kind::Slice) {
      made.kind = IndexItem::Kind::Slice;
      if (item.parts[0]) made.value = expression(*item.parts[0]);
      if (item.parts[1]) made.stop = expression(*item.parts[1]);
      if (item.parts[2]) made.step = expression(*item.parts[2]);
    } else {
      made.value = expression(item);
    }
    items.push_back(std::move(made));
  };
  const bool tuple = inside.kind == Kind::Tuple;
  if (tuple) {
    for (const ExprPtr& part : inside.parts) add(*part);
  } else {
    add(inside);
  }
  return std::make_unique<Subscript>(tree.line, std::move(value), std::move(items), tuple);
}

// The loop's parts are computed many times: none of its reads is a last one. Its variables are its own.
NodePtr Compiler::comprehension(const Expr& tree) {
  NodePtr source = expression(*tree.parts[2]);
  const auto outer = places_;
  for_each_part(*tree.parts[1], [&](const Expr& part) {
    if (part.kind == Kind::Name) places_.erase(part.text);
  });
  collect_targets(*tree.parts[1]);
  ++loops_;
  TargetPtr to = target(*tree.parts[1]);
  NodePtr condition = tree.parts[3] ? expression(*tree.parts[3]) : nullptr;
  const bool dict = tree.kind == Kind::DictComprehension;
  NodePtr key = dict ? expression(*tree.parts[0]) : nullptr;
  NodePtr item = expression(dict ? *tree.parts[4] : *tree.parts[0]);
  --loops_;
  places_ = outer;
  return std::make_unique<Comprehension>(tree.line, std::move(key), std::move(item), std::move(to), std::move(source),
                                         std::move(condition));
}

NodePtr Compiler::expression(const Expr& tree) {
  switch (tree.kind) {
    case Kind::Name:
      return name(tree);
    case Kind::Number:
      return number(tree);
    case Kind::Text:
      return std::make_unique<Constant>(tree.line, IValue(tree.text));
    case Kind::None:
      return std::make_unique<Constant>(tree.line, IValue());
    case Kind::True:
      return std::make_unique<Constant>(tree.line, IValue(true));
    case Kind::False:
      return std::make_unique<Constant>(tree.line, IValue(false));
    case Kind::Attribute:
      return attribute(tree);
    case Kind::Call:
      return call(tree);
    case Kind::Subscript:
      return subscript(tree);
    case Kind::Unary:
      return unary(tree);
    case Kind::Binary:
      return binary(tree);
    case Kind::Compare:
      return std::make_unique<Comparisons>(tree.line, expressions(tree), tree.names);
    case Kind::And:
      return std::make_unique<Junction>(tree.line, true, expressions(tree));
    case Kind::Or:
      return std::make_unique<Junction>(tree.line, false, expressions(tree));
    case Kind::Ternary: {
      NodePtr condition = expression(*tree.parts[0]);
      NodePtr yes = expression(*tree.parts[1]);
      return std::make_unique<Choice>(tree.line, std::move(condition), std::move(yes), expression(*tree.parts[2]));
    }
    case Kind::List:
      return std::make_unique<ListOf>(tree.line, expressions(tree));
    case Kind::Tuple:
      return std::make_unique<TupleOf>(tree.line, expressions(tree));
    case Kind::Dict:
      return std::make_unique<DictOf>(tree.line, expressions(tree));
    case Kind::Comprehension:
    case Kind::DictComprehension:
      return comprehension(tree);
    case Kind::Ellipsis:
    case Kind::Slice:
    case Kind::Starred:
      break;
  }
  fail(tree.line, "expected a value");
}

}  // namespace hb::bridge::script
