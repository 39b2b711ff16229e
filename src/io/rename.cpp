#include <regex>
#include <unordered_map>

#include <halfbridge/io/keys.h>

#include "io/io_error.h"

namespace hb::io {
namespace {

constexpr size_t kMaxNameForRegex = 4096;  // std::regex recurses once per character

[[noreturn]] void fail_rule(const std::string& text, const std::string& why) {
  io_fail("rename", "expected a rule old=new, prefix*=new* or /regex/=new, got '", text, "': ", why);
}

bool ends_with_star(const std::string& text) { return !text.empty() && text.back() == '*'; }

}  // namespace

struct RenameRules::Rule {
  enum class Kind { Path, Prefix, Regex };
  std::string text;
  Kind kind = Kind::Path;
  std::string from, to;
  std::regex pattern;

  std::string apply(const std::string& name) const {
    switch (kind) {
      case Kind::Path:
        if (name == from) return to;
        if (name.size() > from.size() && name[from.size()] == '.' && name.compare(0, from.size(), from) == 0) {
          return to.empty() ? name.substr(from.size() + 1) : to + name.substr(from.size());
        }
        return name;
      case Kind::Prefix:
        return name.compare(0, from.size(), from) == 0 ? to + name.substr(from.size()) : name;
      case Kind::Regex:
        if (name.size() > kMaxNameForRegex) {
          io_fail("rename", "expected names of at most ", kMaxNameForRegex, " bytes, got ", name.size());
        }
        return std::regex_replace(name, pattern, to);
    }
    return name;
  }

  // /regex/=new; the slash that ends the expression is the first that no backslash precedes.
  void parse_regex() {
    size_t end = 1;
    while (end < text.size() && text[end] != '/') end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size() || end + 1 >= text.size() || text[end + 1] != '=') fail_rule(text, "expected /regex/=new");
    kind = Kind::Regex;
    to = text.substr(end + 2);
    try {
      pattern = std::regex(text.substr(1, end - 1), std::regex::ECMAScript | std::regex::optimize);
    } catch (const std::regex_error& error) {
      fail_rule(text, error.what());
    }
  }

  void parse() {
    if (!text.empty() && text[0] == '/') return parse_regex();
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) fail_rule(text, "expected a name before '='");
    from = text.substr(0, equals);
    to = text.substr(equals + 1);
    if (ends_with_star(from) != ends_with_star(to)) fail_rule(text, "expected a star at the end of both sides or none");
    if (ends_with_star(from)) {
      kind = Kind::Prefix;
      from.pop_back();
      to.pop_back();
    }
    if (from.find('*') != std::string::npos || to.find('*') != std::string::npos) {
      fail_rule(text, "a star stands at the end alone");
    }
  }
};

RenameRules::RenameRules() = default;

RenameRules::RenameRules(const std::vector<std::string>& rules) {
  for (const std::string& rule : rules) add(rule);
}

void RenameRules::add(const std::string& text) {
  auto rule = std::make_shared<Rule>();
  rule->text = text;
  rule->parse();
  rules_.push_back(std::move(rule));
}

void RenameRules::add_prefix(const std::string& from, const std::string& to) {
  auto rule = std::make_shared<Rule>();
  rule->text = from + "*=" + to + "*";
  rule->kind = Rule::Kind::Prefix;
  rule->from = from;
  rule->to = to;
  rules_.push_back(std::move(rule));
}

bool RenameRules::empty() const { return rules_.empty(); }

std::string RenameRules::apply(const std::string& name) const {
  std::string result = name;
  for (const auto& rule : rules_) result = rule->apply(result);
  return result;
}

NamedTensors RenameRules::apply(const NamedTensors& tensors) const {
  NamedTensors renamed;
  std::unordered_map<std::string, std::string> origin;
  for (const auto& [name, tensor] : tensors) {
    std::string fresh = apply(name);
    const auto [known, added] = origin.emplace(fresh, name);
    if (!added) io_fail("rename", "'", known->second, "' and '", name, "' would both become '", fresh, "'");
    renamed.emplace_back(std::move(fresh), tensor);
  }
  return renamed;
}

std::vector<std::string> RenameRules::unused(const NamedTensors& tensors) const {
  std::vector<bool> used(rules_.size(), false);
  for (const auto& item : tensors) {
    std::string name = item.first;
    for (size_t i = 0; i < rules_.size(); ++i) {
      const std::string next = rules_[i]->apply(name);
      if (next != name) used[i] = true;
      name = next;
    }
  }
  std::vector<std::string> result;
  for (size_t i = 0; i < rules_.size(); ++i)
    if (!used[i]) result.push_back(rules_[i]->text);
  return result;
}

}  // namespace hb::io
