// Which call of the test does what which call of the reference does.
#pragma once

#include <map>
#include <regex>
#include <string>
#include <vector>

#include <halfbridge/diff/compare.h>

namespace hb::layer_diff {

/// A row of the alignment. Of a group in `fused`, the last call stands as ref (or test).
struct Aligned {
  Match match = Match::path;
  const Call* ref = nullptr;
  const Call* test = nullptr;
  std::vector<const Call*> fused = {};
  bool fused_in_ref = false;
};

/// Names of one side in the words of the other.
class Naming {
 public:
  Naming(const Trace& ref, const Trace& test, const std::vector<PathMap>& maps);
  /// A module of the reference as the test names it.
  std::pair<std::string, std::string> in_test(const std::string& root, const std::string& path) const;
  const std::map<std::string, std::string>& roots() const { return roots_; }

 private:
  std::map<std::string, std::string> roots_;
  struct Rule {
    PathMap map;
    std::regex pattern;  // of a regular expression
  };
  std::vector<Rule> rules_;
};

/// Aligns the calls of one step: by path and occurrence, then what is left between those by type, shapes and order.
/// Every call of both sides is in one row, but for calls within a layer that the other side records as one: `hidden` is
/// raised by their number.
std::vector<Aligned> align(const Trace& ref, const Trace& test, int64_t step, const Naming& naming, int64_t& hidden);

}  // namespace hb::layer_diff
