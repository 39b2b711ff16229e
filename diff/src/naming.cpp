// Roots and paths of one side in the words of the other.
#include <algorithm>
#include <set>

#include <halfbridge/error.h>

#include "align.h"

namespace hb::layer_diff {
namespace {

using Paths = std::map<std::string, std::set<std::string>>;

struct Roots {
  std::vector<std::string> order;  // of appearance
  Paths paths;
};

Roots roots_of(const Trace& trace) {
  Roots roots;
  for (const Record& record : trace.records()) {
    if (!record.has_path) continue;
    auto [place, is_new] = roots.paths.emplace(record.root, std::set<std::string>());
    if (is_new) roots.order.push_back(record.root);
    place->second.insert(record.path);
  }
  return roots;
}

// Share of paths that two roots have in common.
double likeness(const std::set<std::string>& a, const std::set<std::string>& b) {
  const auto shared = std::count_if(a.begin(), a.end(), [&](const std::string& path) { return b.count(path) > 0; });
  return static_cast<double>(shared) / static_cast<double>(a.size() + b.size() - static_cast<size_t>(shared));
}

std::string replace_prefix(const PathMap& map, const std::string& path, bool& applies) {
  const bool whole = path == map.ref;
  const bool below = map.ref.empty() ? !path.empty() : path.rfind(map.ref + '.', 0) == 0;
  applies = whole || below;
  if (!applies) return path;
  const std::string rest = whole ? "" : map.ref.empty() ? path : path.substr(map.ref.size() + 1);
  if (map.test.empty() || rest.empty()) return map.test + rest;
  return map.test + '.' + rest;
}

}  // namespace

PathMap parse_path_map(const std::string& text) {
  PathMap map;
  if (text.size() > 1 && text[0] == '/') {
    const size_t end = text.rfind("/=");
    if (end == std::string::npos || end == 0)
      throw ValueError("[map] expected /REGEX/=REPLACEMENT, got '" + text + "'");
    map = {text.substr(1, end - 1), text.substr(end + 2), true};
    try {
      const std::regex check(map.ref);
    } catch (const std::regex_error& error) {
      throw ValueError("[map] '" + map.ref + "' is no regular expression: " + error.what());
    }
    return map;
  }
  const size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw ValueError("[map] expected REF=TEST or /REGEX/=REPLACEMENT, got '" + text + "'");
  return {text.substr(0, equals), text.substr(equals + 1), false};
}

// Roots of one name belong together; of the others the two that share most paths, first; then those that come first.
Naming::Naming(const Trace& ref, const Trace& test, const std::vector<PathMap>& maps) {
  for (const PathMap& map : maps) rules_.push_back({map, map.regex ? std::regex(map.ref) : std::regex()});
  Roots r = roots_of(ref), t = roots_of(test);
  const auto pair = [&](const std::string& a, const std::string& b) {
    roots_[a] = b;
    r.order.erase(std::find(r.order.begin(), r.order.end(), a));
    t.order.erase(std::find(t.order.begin(), t.order.end(), b));
  };
  for (const std::string& root : std::vector<std::string>(r.order)) {
    if (t.paths.count(root)) pair(root, root);
  }
  constexpr size_t kMaxPairs = 1024;
  while (!r.order.empty() && !t.order.empty()) {
    std::pair<std::string, std::string> best(r.order[0], t.order[0]);
    if (r.order.size() * t.order.size() > kMaxPairs) {
      pair(best.first, best.second);
      continue;
    }
    for (const std::string& a : r.order) {
      for (const std::string& b : t.order) {
        const double now = likeness(r.paths[best.first], t.paths[best.second]);
        if (likeness(r.paths[a], t.paths[b]) > now) best = {a, b};
      }
    }
    pair(best.first, best.second);
  }
}

std::pair<std::string, std::string> Naming::in_test(const std::string& root, const std::string& path) const {
  const auto found = roots_.find(root);
  const std::string& test_root = found == roots_.end() ? root : found->second;
  for (const auto& [map, pattern] : rules_) {
    if (map.regex) {
      if (std::regex_match(path, pattern)) return {test_root, std::regex_replace(path, pattern, map.test)};
      continue;
    }
    bool applies = false;
    std::string renamed = replace_prefix(map, path, applies);
    if (applies) return {test_root, std::move(renamed)};
  }
  return {test_root, path};
}

}  // namespace hb::layer_diff
