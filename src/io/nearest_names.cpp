// Edit distance of dotted names. Networks repeat few parts in many names, so parts are compared once.
#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>

#include <halfbridge/io/keys.h>

namespace hb::io {
namespace {

constexpr size_t kMaxParts = 64;
constexpr size_t kMaxPartBytes = 64;      // of a longer part the beginning is compared
constexpr size_t kMaxPairs = 20'000'000;  // of names; a second or two
constexpr size_t kMaxKnownParts = 4096;   // whose distances are kept
constexpr float kOtherShape = 2;          // as far as two parts more
constexpr float kTooFar = 0.75F;          // of the parts may differ

float part_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kMaxPartBytes);
  b = b.substr(0, kMaxPartBytes);
  if (a == b) return 0;
  if (a.empty() || b.empty()) return 1;
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int diagonal = std::exchange(row[0], static_cast<int>(i));
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substitution = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({substitution, row[j] + 1, row[j - 1] + 1});
    }
  }
  return static_cast<float>(row[b.size()]) / static_cast<float>(std::max(a.size(), b.size()));
}

class Distances {
 public:
  using Parts = std::vector<uint32_t>;

  Parts parts_of(const std::string& name) {
    Parts parts;
    for (size_t start = 0; start <= name.size() && parts.size() < kMaxParts;) {
      const size_t end = std::min(name.find('.', start), name.size());
      parts.push_back(number(name.substr(start, end - start)));
      start = end + 1;
    }
    return parts;
  }

  // Parts inserted or removed cost one, others what their texts differ by.
  float distance(const Parts& a, const Parts& b) {
    row_.resize(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row_[j] = static_cast<float>(j);
    for (size_t i = 1; i <= a.size(); ++i) {
      float diagonal = std::exchange(row_[0], static_cast<float>(i));
      for (size_t j = 1; j <= b.size(); ++j) {
        const float substitution = diagonal + between(a[i - 1], b[j - 1]);
        diagonal = row_[j];
        row_[j] = std::min({substitution, row_[j] + 1, row_[j - 1] + 1});
      }
    }
    return row_[b.size()];
  }

 private:
  uint32_t number(std::string part) {
    const auto [found, added] = numbers_.emplace(std::move(part), static_cast<uint32_t>(texts_.size()));
    if (added) texts_.push_back(&found->first);
    return found->second;
  }

  float between(uint32_t a, uint32_t b) {
    if (a == b) return 0;
    if (a >= kMaxKnownParts || b >= kMaxKnownParts) return 1;
    const auto [found, added] = known_.emplace(uint64_t{std::min(a, b)} << 32 | std::max(a, b), 0.0F);
    if (added) found->second = part_distance(*texts_[a], *texts_[b]);
    return found->second;
  }

  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<const std::string*> texts_;
  std::unordered_map<uint64_t, float> known_;
  std::vector<float> row_;
};

bool shapes_differ(const NamedShape& a, const NamedShape& b) { return a.shape && b.shape && *a.shape != *b.shape; }

}  // namespace

std::vector<std::string> nearest_names(const std::vector<NamedShape>& wanted,
                                       const std::vector<NamedShape>& candidates) {
  std::vector<std::string> result(wanted.size());
  Distances distances;
  std::vector<Distances::Parts> parts;
  for (const NamedShape& candidate : candidates) parts.push_back(distances.parts_of(candidate.name));
  const size_t most = candidates.empty() ? 0 : kMaxPairs / candidates.size();
  for (size_t i = 0; i < std::min(wanted.size(), most); ++i) {
    const auto own = distances.parts_of(wanted[i].name);
    float best = std::numeric_limits<float>::infinity();
    for (size_t k = 0; k < candidates.size(); ++k) {
      const float penalty = shapes_differ(wanted[i], candidates[k]) ? kOtherShape : 0;
      if (penalty >= best) continue;
      const float distance = distances.distance(own, parts[k]) + penalty;
      if (distance >= best) continue;
      best = distance;
      const auto longer = static_cast<float>(std::max(own.size(), parts[k].size()));
      result[i] = distance - penalty <= kTooFar * longer ? candidates[k].name : std::string();
    }
  }
  return result;
}

}  // namespace hb::io
