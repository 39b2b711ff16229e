// Types as texts.
#include "script/parser.h"

namespace hb::bridge::script {

using Kind = Expr::Kind;

std::string ExpressionParser::type() {
  const Level level(*this);
  const ExprPtr tree = binary(1);
  std::string text = type_text(*tree);
  if (text.empty()) lexer_.fail_expected("a type");
  return text;
}

namespace {

std::string attribute_type(const Expr& tree) {
  const std::string base = type_text(*tree.parts[0]);
  if (base.empty() || base == "typing") return base.empty() ? "" : tree.text;
  if (base == "torch" && (tree.text == "Tensor" || tree.text == "Generator")) return tree.text;
  if (base == "torch" && tree.text == "device") return "Device";
  if (base == "torch" && tree.text == "dtype") return "int";
  return base + "." + tree.text;
}

std::string subscript_type(const Expr& tree) {
  std::string base = type_text(*tree.parts[0]);
  const std::string inside = type_text(*tree.parts[1]);
  const bool empty = tree.parts[1]->kind == Kind::Tuple && tree.parts[1]->parts.empty();
  if (base.empty() || (inside.empty() && !empty)) return "";
  if (base == "list" || base == "dict" || base == "tuple") base[0] = static_cast<char>(base[0] - 'a' + 'A');
  return base + "[" + inside + "]";
}

std::string either_type(const Expr& tree) {
  const std::string left = type_text(*tree.parts[0]), right = type_text(*tree.parts[1]);
  if (left.empty() || right.empty()) return "";
  if (right == "NoneType") return "Optional[" + left + "]";
  if (left == "NoneType") return "Optional[" + right + "]";
  return "Union[" + left + ", " + right + "]";
}

}  // namespace

std::string type_text(const Expr& tree) {
  switch (tree.kind) {
    case Kind::Name:
      return tree.text == "number" ? "Scalar" : tree.text;
    case Kind::Text:
      return tree.text;
    case Kind::None:
      return "NoneType";
    case Kind::Ellipsis:
      return "...";
    case Kind::Attribute:
      return attribute_type(tree);
    case Kind::Binary:
      return tree.text == "|" ? either_type(tree) : "";
    case Kind::Subscript:
      return subscript_type(tree);
    case Kind::Tuple:
    case Kind::List: {
      std::string text;
      for (const ExprPtr& part : tree.parts) {
        const std::string item = type_text(*part);
        if (item.empty()) return "";
        text += (text.empty() ? "" : ", ") + item;
      }
      return text;
    }
    default:
      return "";
  }
}

}  // namespace hb::bridge::script
