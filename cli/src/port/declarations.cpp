#include "declarations.h"

#include <algorithm>

#include "brackets.h"
#include "names.h"

namespace hb::cli::port {

namespace {

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

// Namespaces of Halfbridge's that `using namespace torch` shows and LibTorch does not have.
const std::set<std::string_view> kSeenSpaces = {
    "amp", "autodiff", "bridge", "capture", "distributed", "loss_reduction", "ops", "special_functions", "subscripts"};

bool has_libtorch_root(std::string_view name) { return Names::get().is_root(name.substr(0, name.find("::"))); }

/// Whether what follows the parameters that end before `at` makes a function of them: a body or a qualifier.
bool is_function_end(const std::vector<Token>& tokens, size_t at) {
  return is(tokens, at, "{") || is(tokens, at, "const") || is(tokens, at, "override") || is(tokens, at, "noexcept") ||
         is(tokens, at, "->") || is(tokens, at, "final") || (is(tokens, at, ":") && is_name(tokens, at + 1));
}

}  // namespace

Declarations::Declarations(const Tree& tree) : tree_(tree), files_(tree.sources.size()) {
  for (size_t i = 0; i < tree.sources.size(); ++i)
    by_file_name_[std::string(file_name(tree.sources[i].path))].push_back(i);
  for (size_t i = 0; i < tree.sources.size(); ++i) {
    const std::vector<Token>& tokens = tree.sources[i].tokens;
    collect_names(tokens);
    collect_spaces(tokens);
    collect_aliases(files_[i], tokens);
    for (const Token& token : tokens)
      if (token.kind == Token::include)
        for (size_t header : header_of(token.text)) files_[i].includes.push_back(header);
  }
  for (size_t i = 0; i < files_.size(); ++i) {
    std::set<size_t> seen;
    share(i, i, seen);
  }
}

std::vector<size_t> Declarations::header_of(std::string_view path) const {
  while (path.substr(0, 3) == "../") path.remove_prefix(3);
  while (path.substr(0, 2) == "./") path.remove_prefix(2);
  std::vector<size_t> found;
  const auto it = by_file_name_.find(file_name(path));
  if (it == by_file_name_.end()) return found;
  for (size_t i : it->second) {
    const std::string_view have = tree_.sources[i].path;
    const bool ends = have.size() >= path.size() && have.substr(have.size() - path.size()) == path;
    if (ends && (have.size() == path.size() || have[have.size() - path.size() - 1] == '/')) found.push_back(i);
  }
  return found;
}

void Declarations::collect_names(const std::vector<Token>& tokens) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (tokens[i].kind == Token::define) collect_macro(tokens, i);
    if (tokens[i].kind != Token::identifier) continue;
    if (text == "class" || text == "struct" || text == "enum" || text == "union") {
      size_t at = i + 1;
      while (is(tokens, at, "class") || is(tokens, at, "struct") ||
             (is_name(tokens, at) && is_name(tokens, at + 1) && !is(tokens, at + 1, "final")))
        ++at;  // enum class, TORCH_API
      const bool defined = is(tokens, at + 1, "{") || is(tokens, at + 1, ":") || is(tokens, at + 1, "final");
      if (is_name(tokens, at) && defined) {
        own_.emplace(tokens[at].text);
        own_classes_.emplace(tokens[at].text);
      }
    } else if (text == "using" && is_name(tokens, i + 1) && is(tokens, i + 2, "=")) {
      own_.emplace(tokens[i + 1].text);
    } else if (text == "TORCH_MODULE" && is(tokens, i + 1, "(") && is_name(tokens, i + 2)) {
      own_.emplace(tokens[i + 2].text);
      own_classes_.emplace(tokens[i + 2].text);
    } else if (is(tokens, i + 1, "(") && i > 0) {
      collect_function(tokens, i);
    }
  }
}

/// A macro and its parameters, which may stand behind torch:: in what it is for.
void Declarations::collect_macro(const std::vector<Token>& tokens, size_t name) {
  own_.emplace(tokens[name].text);
  const bool has_parameters =
      is(tokens, name + 1, "(") && tokens[name + 1].text.data() == tokens[name].text.data() + tokens[name].text.size();
  for (size_t i = name + 2; has_parameters && i < tokens.size() && !is(tokens, i, ")"); ++i)
    if (is_name(tokens, i)) own_.emplace(tokens[i].text);
}

void Declarations::collect_function(const std::vector<Token>& tokens, size_t name) {
  const Token& before = tokens[name - 1];
  size_t end = name + 1;
  for (int depth = 0; end < tokens.size() && end < name + 400; ++end) {
    depth += is(tokens, end, "(") - is(tokens, end, ")");
    if (depth == 0) break;
  }
  const bool after_type = before.kind == Token::identifier && !is_statement_word(before.text);
  const bool after_reference = before.text == "*" || before.text == "&" || before.text == ">";
  // A qualified name is a function of the program's if a body follows: Net::forward(…) {
  const bool member = before.text == "::" && name > 1 && own_classes_.count(tokens[name - 2].text);
  if (after_type || ((after_reference || member) && is_function_end(tokens, end + 1))) own_.emplace(tokens[name].text);
}

void Declarations::collect_spaces(const std::vector<Token>& tokens) {
  size_t depth = 0, roots = 0;  // braces that are open; how many of the outer ones open torch, at or c10
  std::string root;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (is(tokens, i, "namespace") && roots == depth) {
      size_t at = i + 1;
      std::string name = qualified_name(tokens, at);
      if (name.empty() || !is(tokens, at, "{")) continue;
      if (roots == 0) root.clear();
      if (has_libtorch_root(name)) {
        root = name.substr(0, name.find("::"));
        name.erase(0, root.size() + 2);
        if (name.empty()) ++roots;
      }
      if (!name.empty())
        own_spaces_.emplace(name.substr(0, name.find("::")), root + "::" + name.substr(0, name.find("::")));
    }
    if (is(tokens, i, "{")) ++depth;
    if (is(tokens, i, "}") && depth > 0) roots = std::min(roots, --depth);
  }
}

std::string Declarations::unambiguous(size_t source, std::string_view space) const {
  const auto own = own_spaces_.find(space);
  const bool ambiguous = files_[source].sees_all && kSeenSpaces.count(space) && own != own_spaces_.end();
  return ambiguous ? own->second : std::string();
}

void Declarations::collect_aliases(File& file, const std::vector<Token>& tokens) {
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens[i].kind != Token::identifier) continue;
    if (tokens[i].text == "using") collect_using(file, tokens, i + 1);
    if (tokens[i].text == "namespace" && !(i > 0 && is(tokens, i - 1, "using"))) collect_namespace(file, tokens, i + 1);
    if (tokens[i].text == "typedef" && is_name(tokens, i + 1)) {
      size_t at = i + 1;
      const std::string name = qualified_name(tokens, at);
      if (is_name(tokens, at) && is(tokens, at + 1, ";")) file.aliases.emplace(tokens[at].text, name);
    }
  }
}

void Declarations::collect_using(File& file, const std::vector<Token>& tokens, size_t at) {
  if (is(tokens, at, "namespace")) {
    const std::string name = qualified_name(tokens, ++at);
    if (!name.empty() && name != "std") file.directives.insert(name);
    file.sees_all |= name == "torch" || name == "at" || name == "c10";
  } else if (is_name(tokens, at) && is(tokens, at + 1, "=")) {
    const std::string alias(tokens[at].text);
    const std::string name = qualified_name(tokens, at += 2);
    if (is(tokens, at, ";") && name != alias) file.aliases.emplace(alias, name);
  } else {
    const std::string name = qualified_name(tokens, at);
    const size_t colon = name.rfind("::");
    if (colon != name.npos && is(tokens, at, ";") && name.rfind("std::", 0) != 0)
      file.aliases.emplace(name.substr(colon + 2), name);
  }
}

void Declarations::collect_namespace(File& file, const std::vector<Token>& tokens, size_t at) {
  const std::string name = qualified_name(tokens, at);
  if (name.empty()) return;
  if (is(tokens, at, "=")) {
    file.aliases.emplace(name, qualified_name(tokens, ++at));
  } else if (is(tokens, at, "{")) {
    if (has_libtorch_root(name)) file.directives.insert(name);
    const std::vector<std::string> outer(file.directives.begin(), file.directives.end());
    for (const std::string& o : outer)  // namespace torch { namespace nn {
      if (Names::get().is_namespace(o + "::" + name)) file.directives.insert(o + "::" + name);
  }
}

/// Gives a file what the headers it includes declare.
void Declarations::share(size_t from, size_t to, std::set<size_t>& seen) {
  if (!seen.insert(from).second) return;
  if (from != to) {
    files_[to].aliases.insert(files_[from].aliases.begin(), files_[from].aliases.end());
    files_[to].directives.insert(files_[from].directives.begin(), files_[from].directives.end());
    files_[to].sees_all |= files_[from].sees_all;
  }
  for (size_t header : files_[from].includes)
    if (seen.size() < 2000) share(header, to, seen);
}

/// Replaces aliases at the front of a name.
std::string Declarations::expand(const File& file, std::string name) const {
  for (int step = 0; step < 8; ++step) {  // aliases may go round in a circle
    const size_t colon = name.find("::");
    const auto it = file.aliases.find(name.substr(0, colon));
    if (it == file.aliases.end() || it->second == name || has_libtorch_root(name)) break;
    name = it->second + (colon == name.npos ? "" : name.substr(colon));
  }
  return name;
}

std::string Declarations::resolve(size_t source, std::string name) const {
  const File& file = files_[source];
  name = expand(file, std::move(name));
  if (has_libtorch_root(name)) return name;
  const std::string first = name.substr(0, name.find("::"));
  if (own(first) || first == "std" || first == "hb") return {};
  for (const std::string& directive : file.directives) {
    const std::string space = expand(file, directive);
    if (!has_libtorch_root(space)) continue;
    const std::string full = space + "::" + name;
    if (Names::get().is_namespace(space + "::" + first) || Names::get().lists(full)) return full;
  }
  return {};
}

}  // namespace hb::cli::port
