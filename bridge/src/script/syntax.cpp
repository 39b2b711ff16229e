#include "script/syntax.h"

namespace hb::bridge::script {

void for_each_part(const Expr& tree, const std::function<void(const Expr&)>& visit) {
  visit(tree);
  for (const ExprPtr& part : tree.parts) {
    if (part) for_each_part(*part, visit);
  }
}

std::string dotted_name(const Expr& tree) {
  if (tree.kind == Expr::Kind::Name) return tree.text;
  if (tree.kind != Expr::Kind::Attribute) return "";
  const std::string base = dotted_name(*tree.parts[0]);
  return base.empty() ? "" : base + "." + tree.text;
}

}  // namespace hb::bridge::script
