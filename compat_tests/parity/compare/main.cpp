// parity_compare REFERENCE CANDIDATE: compares what the two builds wrote. Needs neither library.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "accuracy.h"
#include "array_diff.h"
#include "parity_file.h"
#include "tolerance.h"

namespace {

using parity_diff::Array;
using parity_diff::ParityFile;

struct Options {
  std::string reference, candidate, family, only, exact;
  double rtol = -1, steps = 1;
  int show = 40;
  bool ran = false;
};

// The case that wrote what has this name: "case:NAME", "NAME/…", "text:NAME/…".
std::string case_of(const std::string& name) {
  const size_t dot = name.find('.'), colon = name.find(':');
  const size_t from = colon < dot ? colon + 1 : 0;
  return name.substr(from, name.find('/', from) - from);
}
// With --ran, what cases wrote that the candidate did not run is left out.
bool is_compared(const std::string& name, const ParityFile& candidate, const Options& options) {
  if (name.find(options.only) == std::string::npos) return false;
  return !options.ran || candidate.metadata.count("case:" + case_of(name)) > 0;
}

class Report {
 public:
  explicit Report(int show) : show_(show) {}

  void pass(const std::string& name, double used) {
    ++passed_;
    if (used > tightest_) tightest_ = used, tightest_name_ = name;
  }

  void fail(const std::string& name, const std::string& problem) {
    if (++failed_ <= show_) fmt::print("FAILED {}: {}\n", name, problem);
    if (failed_ == show_ + 1) fmt::print("... more failures follow (--show N shows more)\n");
  }

  int finish() const {
    if (!tightest_name_.empty()) {
      fmt::print("closest to its tolerance: {} ({:.0f} % of it)\n", tightest_name_, tightest_ * 100);
    }
    fmt::print("{} passed, {} failed\n", passed_, failed_);
    return failed_ == 0 && passed_ > 0 ? 0 : 1;
  }

 private:
  int show_, passed_ = 0, failed_ = 0;
  double tightest_ = 0;
  std::string tightest_name_;
};

parity_diff::Tolerance tolerance_for(const std::string& name, const Array& array, const ParityFile& reference,
                                     const Options& options) {
  if (options.rtol >= 0) return {options.rtol, options.rtol};
  const auto own = reference.metadata.find("tol:" + name);
  if (own != reference.metadata.end()) return parity_diff::parse_tolerance(own->second, array.dtype);
  return parity_diff::default_tolerance(options.family.empty() ? name : options.family, array.dtype);
}

void compare_arrays(const ParityFile& reference, const ParityFile& candidate, const Options& options, Report& report) {
  for (const auto& [name, expected] : reference.arrays) {
    if (!is_compared(name, candidate, options)) continue;
    const auto got = candidate.arrays.find(name);
    if (got == candidate.arrays.end()) {
      report.fail(name, "missing in the candidate");
      continue;
    }
    const auto diff =
        parity_diff::diff_arrays(expected, got->second, tolerance_for(name, expected, reference, options));
    diff.problem.empty() ? report.pass(name, diff.used) : report.fail(name, diff.problem);
  }
  for (const auto& [name, array] : candidate.arrays) {
    if (name.find(options.only) != std::string::npos && !reference.arrays.count(name)) {
      report.fail(name, "missing in the reference");
    }
  }
}

// "" when the candidate's note agrees with the reference's.
std::string note_problem(const std::string& key, const std::string& expected, const std::string& got) {
  if (expected == got) return "";
  if (key.rfind("throws:", 0) == 0) {
    if (expected == "std::exception" && got == "c10::Error") return "";
    return fmt::format("expected an exception of kind {}, got {}", expected, got);
  }
  return fmt::format("texts differ\n--- expected\n{}\n--- got\n{}\n---", expected, got);
}

void compare_notes(const ParityFile& reference, const ParityFile& candidate, const Options& options, Report& report) {
  for (const auto& [key, expected] : reference.metadata) {
    if (key.rfind("tol:", 0) == 0 || !is_compared(key, candidate, options)) continue;
    const auto got = candidate.metadata.find(key);
    if (got == candidate.metadata.end()) {
      report.fail(key, "missing in the candidate");
      continue;
    }
    if (key.rfind("throws:", 0) == 0 && expected == "nothing") {
      report.fail(key, "the reference does not throw; the case is wrong");
      continue;
    }
    const auto problem = note_problem(key, expected, got->second);
    problem.empty() ? report.pass(key, 0) : report.fail(key, problem);
  }
  for (const auto& [key, value] : candidate.metadata) {
    if (key.rfind("tol:", 0) != 0 && key.find(options.only) != std::string::npos && !reference.metadata.count(key)) {
      report.fail(key, "missing in the reference");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Compares the tensors that the LibTorch build and the Halfbridge build of the same cases wrote"};
  app.add_option("reference", options.reference, "LibTorch's file (.safetensors, or .json of numbers)")->required();
  app.add_option("candidate", options.candidate, "Halfbridge's file")->required();
  app.add_option("--family", options.family, "row of the tolerance table to use for everything");
  app.add_option("--only", options.only, "compare only names that contain this");
  app.add_flag("--ran", options.ran, "compare only cases that the candidate ran");
  app.add_option("--rtol", options.rtol, "one tolerance, relative and scaled absolute, for everything")
      ->check(CLI::Range(0.0, 1e-3));
  app.add_option("--show", options.show, "how many failures to print");
  app.add_option("--exact", options.exact, "what either build wrote with --exact: report whose errors are the larger");
  app.add_option("--steps", options.steps, "with --exact: errors up to so many rounding steps are passed over");
  CLI11_PARSE(app, argc, argv);
  try {
    const auto reference = parity_diff::read_parity_file(options.reference);
    const auto candidate = parity_diff::read_parity_file(options.candidate);
    if (!options.exact.empty()) {
      parity_diff::report_accuracy(parity_diff::read_parity_file(options.exact), reference, candidate, options.steps);
      return 0;
    }
    Report report(options.show);
    compare_arrays(reference, candidate, options, report);
    compare_notes(reference, candidate, options, report);
    return report.finish();
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}
