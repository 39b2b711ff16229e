#include <fmt/format.h>

#include <halfbridge/diff/output.h>

#include "describe.h"

namespace hb::layer_diff {
namespace {

struct Cases {
  std::string xml;
  int tests = 0, failures = 0, skipped = 0;

  void begin(const std::string& group, const std::string& name) {
    ++tests;
    xml += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", markup_escaped(group), markup_escaped(name));
  }
  void pass() { xml += "/>\n"; }
  void skip(const std::string& why) {
    ++skipped;
    xml += fmt::format("><skipped message=\"{}\"/></testcase>\n", markup_escaped(why));
  }
  void fail(const std::string& message) {
    ++failures;
    xml += fmt::format("><failure message=\"{}\"/></testcase>\n", markup_escaped(message));
  }
  void add(const std::string& group, const std::string& name, const TensorDiff* worst) {
    begin(group, name);
    if (!worst) return skip("nothing was recorded");
    if (!worst->pass()) {
      const Metrics& m = worst->metrics;
      return fail(worst->problem.empty() && worst->compared
                      ? fmt::format("{}: max abs {}, {} of {} elements out of tolerance", tensor_name(any_of(*worst)),
                                    printed(m.max_abs), m.count_out, m.numel)
                      : tensor_name(any_of(*worst)) + ": " + (worst->problem.empty() ? worst->note : worst->problem));
    }
    if (!worst->compared) return skip(worst->note);
    pass();
  }
};

}  // namespace

std::string junit_report(const Report& report) {
  const bool roots = many_roots(report);
  Cases cases;
  for (const LayerDiff& layer : report.layers) {
    const std::string name = layer_name(layer, roots);
    const std::string forward = fmt::format("forward.step{}", layer.step),
                      backward = fmt::format("backward.step{}", layer.step);
    if (!layer.ref || !layer.test) {
      if (layer.container) continue;
      cases.begin(forward, name);
      cases.skip(layer.ref ? "the test has no such call" : "the reference has no such call");
      continue;
    }
    cases.add(forward, name, worst_of(layer.forward, is_output));
    if (!layer.backward.empty()) cases.add(backward, name, worst_of(layer.backward, is_gradient));
  }
  for (const StateDiff& state : report.state) {
    cases.add(fmt::format("{}.step{}", name_of(state.kind), state.step), state_name(state, roots), &state.tensor);
  }
  // A comparison of nothing must not look like a success.
  if (report.compared == 0) {
    cases.begin("comparison", "compared");
    cases.fail("no tensors were compared");
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"halfbridge diff\" tests=\"{}\" "
      "failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}  </testsuite>\n</testsuites>\n",
      cases.tests, cases.failures, cases.skipped, cases.xml);
}

}  // namespace hb::layer_diff
