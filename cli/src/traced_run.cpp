#include "traced_run.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <halfbridge/diff/procedure.h>
#include <halfbridge/error.h>

#include "process.h"

namespace hb::cli {

using namespace hb::layer_diff;

std::shared_ptr<const Trace> traced_run(const std::string& command, const std::vector<std::string>& program,
                                        const std::string& folder, const Trace* reference,
                                        std::map<std::string, std::string> variables) {
  variables["HALFBRIDGE_TRACE"] = folder;
  if (reference) {
    std::set<int64_t> steps;
    for (const Record& r : reference->records()) steps.insert(r.step);
    variables["HALFBRIDGE_TRACE_STEPS"] = fmt::format("{}", fmt::join(steps, ","));
    const auto is_mask = [](const Record& r) { return r.kind == Kind::mask; };
    if (std::any_of(reference->records().begin(), reference->records().end(), is_mask))
      variables["HALFBRIDGE_TRACE_MASKS"] = reference->path();
  }
  const int status = run_program(program, variables);
  HB_CHECK(status == 0, "[", command, "] '", program[0], "' ended with status ", status);
  HB_CHECK(std::filesystem::exists(folder) && !std::filesystem::is_empty(folder), "[", command, "] '", program[0],
           "' left no trace: is it linked with Halfbridge?");
  return Trace::open(folder);
}

std::string steps_text(const Report& report) {
  std::string text;
  int number = 0;
  for (const ProcedureStep& step : five_steps(report)) {
    const char* state = step.state == ProcedureStep::State::agrees    ? "ok"
                        : step.state == ProcedureStep::State::differs ? "DIFFERS"
                                                                      : "unknown";
    text += fmt::format("{}  {:<8} {:<8} {}\n", ++number, step.name, state, step.text);
  }
  return text + '\n';
}

}  // namespace hb::cli
