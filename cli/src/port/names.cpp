#include "names.h"

#include <fnmatch.h>

namespace hb::cli::port {

extern const char kNamesTable[];
extern const char kSubstitutesTable[];
extern const char kLimitsTable[];

namespace {

/// Calls `row` with the cells of each line but the first.
template <typename F>
void for_each_row(std::string_view table, const F& row) {
  bool first = true;
  while (!table.empty()) {
    const size_t end = table.find('\n');
    std::string_view line = table.substr(0, end);
    table.remove_prefix(end == table.npos ? table.size() : end + 1);
    std::vector<std::string_view> cells;
    for (size_t tab; (tab = line.find('\t')) != line.npos; line.remove_prefix(tab + 1))
      cells.push_back(line.substr(0, tab));
    cells.push_back(line);
    if (!first && cells.size() >= 2) row(cells);
    first = false;
  }
}

bool matches(std::string_view pattern, std::string_view name) {
  return fnmatch(std::string(pattern).c_str(), std::string(name).c_str(), 0) == 0;
}

char letter_of(std::string_view root) {
  return root == "torch" ? 't' : root == "at" ? 'a' : root == "c10" ? 'c' : '\0';
}

}  // namespace

const Names& Names::get() {
  static const Names names;
  return names;
}

Names::Names() {
  for_each_row(kNamesTable, [&](const auto& c) {
    if (c.size() == 4) rows_[std::string(c[0]) + " " + std::string(c[1])] = {c[2], c[3]};
  });
  for_each_row(kSubstitutesTable, [&](const auto& c) { substitutes_.emplace_back(c[0], c[1]); });
  for_each_row(kLimitsTable, [&](const auto& c) {
    if (c.size() != 3) return;
    const std::string_view text = c[2] == "as above" ? limits_.back().text : c[2];
    limits_.push_back({c[0], c[1] == "compiles", c[1] == "supported", text});
  });
}

const Names::Row* Names::find(std::string_view kind, std::string_view name) const {
  const auto it = rows_.find(std::string(kind) + " " + std::string(name));
  return it == rows_.end() ? nullptr : &it->second;
}

Support Names::of(std::string_view kind, std::string_view name) const {
  const Row* row = find(kind, name);
  if (!row) return Support::unknown;
  return row->halfbridge != "-" ? Support::supported : Support::missing;
}

Support Names::header(std::string_view path) const {
  // Headers that are written when the project is configured: those of <torch/...> by their longer path, and one for
  // each function.
  constexpr std::string_view kLonger = "torch/csrc/api/include/", kOps = "ATen/ops/", kEnd = ".h";
  if (path.substr(0, kLonger.size()) == kLonger) return header(path.substr(kLonger.size()));
  if (path.substr(0, kOps.size()) == kOps && path.size() > kOps.size() + kEnd.size()) {
    const std::string_view name = path.substr(kOps.size(), path.size() - kOps.size() - kEnd.size());
    const Row* function = find("name", name);
    const bool has =
        (function && function->libtorch.find('a') != std::string_view::npos && function->halfbridge != "-") ||
        of("tensor", name) == Support::supported;
    return has ? Support::supported : Support::missing;
  }
  const Row* row = find("header", path);
  return row && row->halfbridge == "yes" ? Support::supported : Support::missing;
}

Support Names::symbol(std::string_view name, std::string* table_name) const {
  const size_t colon = name.find("::");
  const std::string_view root = name.substr(0, colon);
  const char letter = letter_of(root);
  if (!letter && !is_root(root)) return Support::unknown;
  if (colon == name.npos) return Support::supported;
  const std::string_view rest = name.substr(colon + 2);
  if (!letter) {
    if (table_name) *table_name = rest;
    const Limit* found = limit(name);
    return found && found->supported ? Support::supported : Support::missing;
  }
  for (size_t end = rest.size(); end != rest.npos && end > 0; end = rest.rfind("::", end - 1)) {
    const std::string_view part = rest.substr(0, end);
    const Row* row = find("name", part);
    const Row* space = find("namespace", part);
    if (!row && !space) continue;
    if (table_name) *table_name = part;
    const auto has = [&](std::string_view letters) { return letters.find(letter) != letters.npos; };
    if (row && (has(row->halfbridge) || has(row->libtorch)))
      return has(row->halfbridge) ? Support::supported : Support::missing;
    if (space && !has(space->halfbridge)) return Support::missing;  // and so all that is in it
    if (space && end == rest.size()) return Support::supported;
    if (table_name) *table_name = rest;
    return Support::unknown;
  }
  if (table_name) *table_name = rest;
  return Support::unknown;
}

bool Names::is_root(std::string_view name) const {
  if (letter_of(name)) return true;
  for (const Limit& limit : limits_)
    if (const size_t colon = limit.pattern.find("::");
        colon != limit.pattern.npos && limit.pattern.substr(0, colon) == name)
      return true;
  return false;
}

bool Names::lists(std::string_view name) const {
  if (letter_of(name.substr(0, name.find("::")))) return symbol(name) != Support::unknown;
  const Limit* found = limit(name);
  return found && found->pattern.substr(found->pattern.rfind("::")) != "::*";  // which says nothing of single names
}

const Limit* Names::limit(std::string_view name) const {
  for (; !name.empty(); name = name.substr(0, std::min(name.rfind("::"), name.size()))) {
    for (const Limit& limit : limits_)
      if (matches(limit.pattern, name)) return &limit;
    if (name.rfind("::") == name.npos) break;
  }
  return nullptr;
}

bool Names::opens(std::string_view space) const {
  const std::string front = std::string(space) + "::";
  for (const Limit& limit : limits_)
    if (limit.compiles && limit.pattern.substr(0, front.size()) == front) return true;
  return false;
}

bool Names::is_inner(std::string_view rest) {
  for (size_t colon; (colon = rest.find("::")) != rest.npos; rest.remove_prefix(colon + 2))
    for (std::string_view space : {"detail", "impl", "internal", "native", "meta", "guts", "headeronly", "aten", "attr",
                                   "prim", "onnx", "infer_schema", "vec", "ivalue"})
      if (rest.substr(0, colon) == space) return true;
  return false;
}

bool Names::is_namespace(std::string_view name) const {
  const size_t colon = name.find("::");
  if (!letter_of(name.substr(0, colon))) return colon == name.npos && is_root(name);
  return colon == name.npos || find("namespace", name.substr(colon + 2));
}

std::string_view Names::instead(std::string_view name) const {
  while (!name.empty()) {
    for (const auto& [pattern, instead] : substitutes_)
      if (matches(pattern, name)) return instead;
    const size_t colon = name.rfind("::");
    name = colon == name.npos ? std::string_view() : name.substr(0, colon);
  }
  return {};
}

}  // namespace hb::cli::port
