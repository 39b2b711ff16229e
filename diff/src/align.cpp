#include "align.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "op_types.h"
#include "sequence.h"

namespace hb::layer_diff {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

using Place = std::tuple<std::string, std::string, int>;  // root, path, occurrence within the step

// The calls of one side in one step.
struct Side {
  std::vector<const Call*> calls;
  std::vector<size_t> parent;  // kNone for the outermost
  std::vector<Look> looks;
  std::vector<bool> leaf;     // does work itself: without calls within it, or an operation that we know
  std::vector<bool> detail;   // a function within such an operation
  std::vector<size_t> match;  // position in the other side, kNone

  bool container(size_t i) const { return !leaf[i]; }
};

// Names and shapes of parameters and buffers of every module.
using States = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

States states_of(const Trace& trace) {
  States states;
  for (const Record& record : trace.records()) {
    if (record.kind != Kind::parameter && record.kind != Kind::buffer) continue;
    std::string text = record.name;
    for (int64_t size : record.shape) text += ' ' + std::to_string(size);
    states[{record.root, record.path}].push_back(std::move(text));
  }
  for (auto& [module, list] : states) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return states;
}

Look look_of(const Call& call, const std::string& path, const States& states) {
  Look look;
  look.call = &call;
  look.type = canonical_type(call.type);
  look.known = !look.type.empty();
  look.compositions = compositions_of(look.type);
  look.any_type = call.type.empty() || call.type == "Functional";
  if (!look.known) look.type = call.type;
  look.path = path;
  look.name = path.substr(path.rfind('.') == std::string::npos ? 0 : path.rfind('.') + 1);
  const auto found = states.find({call.root, call.path});
  if (call.has_path && found != states.end()) look.states = found->second;
  return look;
}

Side side_of(const Trace& trace, int64_t step, const States& states, const Naming* naming) {
  Side side;
  std::unordered_map<int64_t, size_t> places;
  for (const Call& call : trace.calls()) {
    if (call.step != step) continue;
    places.emplace(call.id, side.calls.size());
    side.calls.push_back(&call);
    const bool rename = naming && call.has_path;
    side.looks.push_back(look_of(call, rename ? naming->in_test(call.root, call.path).second : call.path, states));
  }
  const size_t n = side.calls.size();
  side.parent.assign(n, kNone);
  side.match.assign(n, kNone);
  side.detail.assign(n, false);
  side.leaf.assign(n, true);
  std::vector<bool> modules_within(n, false);
  for (size_t i = 0; i < n; ++i) {
    const auto parent = side.calls[i]->parent ? places.find(*side.calls[i]->parent) : places.end();
    if (parent == places.end() || parent->second == i) continue;
    side.parent[i] = parent->second;
    side.leaf[parent->second] = false;
    if (side.calls[i]->has_path) modules_within[parent->second] = true;
  }
  for (size_t i = 0; i < n; ++i) {
    if (!side.leaf[i] && side.looks[i].known && !modules_within[i]) side.leaf[i] = true;
  }
  // A parent may stand behind what it encloses, and a file may say anything of them: steps upwards are bounded.
  for (size_t i = 0; i < n; ++i) {
    size_t above = side.parent[i];
    for (int depth = 0; above != kNone && depth < 64 && !side.detail[i]; ++depth, above = side.parent[above]) {
      if (side.leaf[above]) side.detail[i] = true;
    }
  }
  return side;
}

class Aligner {
 public:
  Aligner(Side ref, Side test, const Naming& naming) : ref_(std::move(ref)), test_(std::move(test)), naming_(naming) {}

  std::vector<Aligned> run(int64_t& hidden) {
    rows_.resize(ref_.calls.size());
    anchor_by_path();
    align_gaps();
    same_path_again();
    lone_leftovers();
    containers_of_matched();
    return collect(hidden);
  }

 private:
  void pair(size_t r, size_t t, Match how) {
    ref_.match[r] = t;
    test_.match[t] = r;
    rows_[r].match = how;
  }

  Match by_name(size_t r, size_t t) const {
    const Call& a = *ref_.calls[r];
    const Call& b = *test_.calls[t];
    if (!a.has_path || !b.has_path || ref_.looks[r].path != b.path) return Match::order;
    return a.path == b.path ? Match::path : Match::map;
  }

  // Types that are known and differ are not one layer: an index may have shifted by a layer more.
  bool types_fit(size_t r, size_t t) const {
    const Look& a = ref_.looks[r];
    const Look& b = test_.looks[t];
    return !a.known || !b.known || a.type == b.type;
  }

  // The calls, by occurrence, of every module of the test that has a path.
  std::map<Place, size_t> test_places() const {
    std::map<std::pair<std::string, std::string>, int> seen;
    std::map<Place, size_t> places;
    for (size_t t = 0; t < test_.calls.size(); ++t) {
      const Call& call = *test_.calls[t];
      if (call.has_path) places[{call.root, call.path, seen[{call.root, call.path}]++}] = t;
    }
    return places;
  }

  // Calls fn(ref, test) for calls of one path and occurrence.
  template <class F>
  void for_same_path(const F& fn) {
    const std::map<Place, size_t> places = test_places();
    std::map<std::pair<std::string, std::string>, int> seen;
    for (size_t r = 0; r < ref_.calls.size(); ++r) {
      const Call& call = *ref_.calls[r];
      if (!call.has_path) continue;
      const auto [root, path] = naming_.in_test(call.root, call.path);
      const auto found = places.find({root, path, seen[{root, path}]++});
      if (found != places.end()) fn(r, found->second);
    }
  }

  void anchor_by_path() {
    for_same_path([&](size_t r, size_t t) {
      const bool both_contain = ref_.container(r) && test_.container(t);
      if (both_contain || (types_fit(r, t) && outputs_fit(*ref_.calls[r], *test_.calls[t]))) pair(r, t, by_name(r, t));
    });
  }

  // What has one path is one layer even if type or shapes differ, as long as neither found a better match: this is then
  // what is wrong.
  void same_path_again() {
    for_same_path([&](size_t r, size_t t) {
      if (ref_.match[r] == kNone && test_.match[t] == kNone) pair(r, t, by_name(r, t));
    });
  }

  std::vector<size_t> open_leaves(const Side& side, size_t first, size_t last) const {
    std::vector<size_t> open;
    for (size_t i = first; i < last; ++i) {
      if (side.leaf[i] && !side.detail[i] && side.match[i] == kNone && !grouped_.count(side.calls[i]))
        open.push_back(i);
    }
    return open;
  }

  // The longest chain of matched leaves that are in order on both sides: what lies between two of them belongs
  // together.
  std::vector<std::pair<size_t, size_t>> chain() const {
    std::vector<size_t> tails, before(ref_.calls.size(), kNone);  // positions in the reference
    for (size_t r = 0; r < ref_.calls.size(); ++r) {
      if (!ref_.leaf[r] || ref_.detail[r] || ref_.match[r] == kNone) continue;
      const auto place = std::lower_bound(tails.begin(), tails.end(), ref_.match[r],
                                          [&](size_t tail, size_t t) { return ref_.match[tail] < t; });
      if (place != tails.begin()) before[r] = *(place - 1);
      if (place == tails.end()) {
        tails.push_back(r);
      } else {
        *place = r;
      }
    }
    std::vector<std::pair<size_t, size_t>> result;
    for (size_t r = tails.empty() ? kNone : tails.back(); r != kNone; r = before[r])
      result.emplace_back(r, ref_.match[r]);
    std::reverse(result.begin(), result.end());
    return result;
  }

  // Calls fn(open calls of the reference, those of the test) for every gap of the chain.
  template <class F>
  void for_gaps(const F& fn) {
    std::vector<std::pair<size_t, size_t>> ends = chain();
    ends.emplace_back(ref_.calls.size(), test_.calls.size());
    size_t r = 0, t = 0;
    for (const auto& [next_r, next_t] : ends) {
      const std::vector<size_t> a = open_leaves(ref_, r, next_r), b = open_leaves(test_, t, next_t);
      if (!a.empty() && !b.empty()) fn(a, b);
      r = next_r + 1;
      t = next_t + 1;
    }
  }

  void align_gaps() {
    for_gaps([&](const std::vector<size_t>& a, const std::vector<size_t>& b) {
      const auto looks = [](const Side& side, const std::vector<size_t>& places) {
        std::vector<Look> result;
        for (size_t i : places) result.push_back(side.looks[i]);
        return result;
      };
      for (const Span& span : align_sequences(looks(ref_, a), looks(test_, b))) take(span, a, b);
    });
  }

  void take(const Span& span, const std::vector<size_t>& a, const std::vector<size_t>& b) {
    const size_t r = a[span.last_ref], t = b[span.last_test];
    const bool one_to_one = span.first_ref == span.last_ref && span.first_test == span.last_test;
    pair(r, t, one_to_one ? by_name(r, t) : Match::fused);
    Aligned& row = rows_[r];
    row.fused_in_ref = span.first_ref < span.last_ref;
    const auto group = [&](const Side& side, const std::vector<size_t>& places, size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) {
        row.fused.push_back(side.calls[places[i]]);
        grouped_.insert(side.calls[places[i]]);
      }
    };
    group(ref_, a, span.first_ref, span.last_ref);
    group(test_, b, span.first_test, span.last_test);
  }

  // One call of each side alone between two that belong together does one thing, even if their types differ.
  void lone_leftovers() {
    for_gaps([&](const std::vector<size_t>& a, const std::vector<size_t>& b) {
      if (a.size() != 1 || b.size() != 1) return;
      const Call& r = *ref_.calls[a[0]];
      const Call& t = *test_.calls[b[0]];
      const bool works = !is_identity_like(ref_.looks[a[0]].type) && !is_identity_like(test_.looks[b[0]].type);
      if (works && r.has_path == t.has_path && !r.outputs.empty() && !t.outputs.empty() && outputs_fit(r, t)) {
        pair(a[0], b[0], Match::order);
      }
    });
  }

  // The modules around layers that were found under other names.
  void containers_of_matched() {
    for (bool again = true; again;) {
      again = false;
      for (size_t r = 0; r < ref_.calls.size(); ++r) {
        if (ref_.match[r] == kNone) continue;
        const size_t a = ref_.parent[r], b = test_.parent[ref_.match[r]];
        if (a == kNone || b == kNone || ref_.match[a] != kNone || test_.match[b] != kNone) continue;
        if (!ref_.container(a) || !test_.container(b) || !outputs_fit(*ref_.calls[a], *test_.calls[b])) continue;
        pair(a, b, by_name(a, b));
        again = true;
      }
    }
  }

  // Whether a call without a match lies within a layer whose other side is one call.
  bool inside_of_one(const Side& side, const Side& other, size_t i) const {
    if (side.detail[i]) return true;
    size_t above = side.parent[i];
    for (int depth = 0; above != kNone && depth < 64; ++depth, above = side.parent[above]) {
      if (side.match[above] != kNone) return other.leaf[side.match[above]];
    }
    return false;
  }

  std::vector<Aligned> collect(int64_t& hidden) {
    std::vector<Aligned> result;
    size_t next = 0;  // of the test
    const auto test_alone_until = [&](size_t last) {
      for (; next < last; ++next) {
        if (test_.match[next] != kNone || grouped_.count(test_.calls[next])) continue;
        if (inside_of_one(test_, ref_, next)) {
          ++hidden;
        } else {
          result.push_back({Match::only_test, nullptr, test_.calls[next]});
        }
      }
    };
    for (size_t r = 0; r < ref_.calls.size(); ++r) {
      if (grouped_.count(ref_.calls[r])) continue;
      const size_t t = ref_.match[r];
      if (t == kNone) {
        if (inside_of_one(ref_, test_, r)) {
          ++hidden;
        } else {
          result.push_back({Match::only_ref, ref_.calls[r], nullptr});
        }
        continue;
      }
      if (ref_.leaf[r]) test_alone_until(std::max(next, t));
      Aligned row = std::move(rows_[r]);
      row.ref = ref_.calls[r];
      row.test = test_.calls[t];
      result.push_back(std::move(row));
    }
    test_alone_until(test_.calls.size());
    return result;
  }

  Side ref_, test_;
  const Naming& naming_;
  std::vector<Aligned> rows_;  // by position in the reference
  std::set<const Call*> grouped_;
};

}  // namespace

std::vector<Aligned> align(const Trace& ref, const Trace& test, int64_t step, const Naming& naming, int64_t& hidden) {
  return Aligner(side_of(ref, step, states_of(ref), &naming), side_of(test, step, states_of(test), nullptr), naming)
      .run(hidden);
}

}  // namespace hb::layer_diff
