#include "script/syntax.h"

namespace hb::bridge::script {

int next_line(const FileSyntax& file, int line, bool methods) {
  int next = 0;
  const auto begins = [&](int at) {
    if (at > line && (next == 0 || at < next)) next = at;
  };
  for (const auto& function : file.functions) begins(function->line);
  for (const auto& made : file.classes) {
    begins(made->line);
    for (const auto& method : made->methods)
      if (methods) begins(method->line);
  }
  return next;
}

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
