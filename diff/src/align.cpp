#include "align.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace hb::layer_diff {
namespace {

using Place = std::tuple<std::string, std::string, int>;  // root, path, occurrence

std::map<Place, size_t> places_of(const std::vector<const Call*>& calls) {
  std::map<std::pair<std::string, std::string>, int> seen;
  std::map<Place, size_t> places;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i]->has_path) places[{calls[i]->root, calls[i]->path, seen[{calls[i]->root, calls[i]->path}]++}] = i;
  }
  return places;
}

}  // namespace

std::vector<Aligned> align(const std::vector<const Call*>& ref, const std::vector<const Call*>& test,
                           const Naming& naming, int64_t& hidden) {
  hidden = 0;
  const std::map<Place, size_t> places = places_of(test);
  std::vector<Aligned> rows;
  std::vector<bool> used(test.size(), false);
  std::map<std::pair<std::string, std::string>, int> seen;
  for (const Call* call : ref) {
    Aligned row{Match::only_ref, call, nullptr};
    if (call->has_path) {
      const auto [root, path] = naming.in_test(call->root, call->path);
      const auto found = places.find({root, path, seen[{root, path}]++});
      if (found != places.end()) {
        used[found->second] = true;
        row.match = path == call->path ? Match::path : Match::map;
        row.test = test[found->second];
      }
    }
    rows.push_back(std::move(row));
  }
  for (size_t i = 0; i < test.size(); ++i) {
    if (!used[i]) rows.push_back({Match::only_test, nullptr, test[i]});
  }
  return rows;
}

}  // namespace hb::layer_diff
