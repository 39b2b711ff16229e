// Comparison of two traces.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <halfbridge/diff/report.h>

namespace hb::layer_diff {

/// A tolerance for the layers whose path (of a call without one: whose type) matches a pattern with * and ?.
struct LayerTolerance {
  std::string pattern;
  Tolerance tolerance;
};

/// Paths of the reference that have another name in the test: a prefix of whole parts ("encoder" is "body.enc"; empty
/// adds or removes one), or a regular expression (ECMAScript) of the whole path with $1 in its replacement.
struct PathMap {
  std::string ref, test;
  bool regex = false;
};
/// "REF=TEST", or "/REF/=TEST" for a regular expression. Throws hb::ValueError for what is neither.
PathMap parse_path_map(const std::string& text);
/// "PATTERN=TOL" for both tolerances, or "PATTERN=ATOL,RTOL".
LayerTolerance parse_layer_tolerance(const std::string& text);

struct CompareOptions {
  Tolerance tolerance;
  std::vector<LayerTolerance> layers;  // the last one that matches counts
  std::vector<PathMap> maps;           // the first one that applies counts
  bool all_histograms = false;         // histogram and heat map of every pair, not of the failing alone
};

/// Aligns the calls of every step that both have, compares their tensors and finds the first divergences. Splits,
/// verdicts and hints are left to explain().
Report compare(std::shared_ptr<const Trace> ref, std::shared_ptr<const Trace> test, const CompareOptions& options = {});

}  // namespace hb::layer_diff
