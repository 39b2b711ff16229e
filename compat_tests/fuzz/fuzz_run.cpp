// `halfbridge run`: lines of a host list, of forwarded variables and of a program's arguments become the plan of an
// attempt, and its text reads as the same on the other host. Any bytes may arrive there as a plan.
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include <halfbridge/error.h>

#include "run/plan.h"

using namespace hb::cli;

namespace {

// Empty where the text is none.
std::string read_again(const std::string& line) {
  const AgentPlan plan = from_line(line);
  return to_line(plan.workers, plan.directory, plan.grace);
}

void expect_same(const std::string& line) {
  if (read_again(line) != line) std::abort();
}

RunOptions options_of(std::istringstream& lines, uint8_t numbers) {
  RunOptions options;
  options.processes = 1 + numbers % 8, options.max_restarts = numbers >> 6;
  for (std::string line; std::getline(lines, line);) {
    const std::string rest = line.substr(line.empty() ? 0 : 1);
    if (line.rfind('h', 0) == 0) options.hosts.push_back(rest);
    if (line.rfind('e', 0) == 0) options.forwarded.push_back(rest);
    if (line.rfind('s', 0) == 0) options.ssh = rest;
    if (line.rfind('m', 0) == 0) options.master_address = rest;
    if (line.rfind('c', 0) == 0) options.command.push_back(rest);
  }
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    expect_same(read_again(text));
  } catch (const hb::Error&) {
  }
  std::istringstream lines(text);
  try {
    const Run run = make_run(options_of(lines, data[0]));
    for (const WorkerPlan& worker : plan_attempt(run, 0)) {
      if (worker.arguments.empty()) std::abort();
      if (worker.input == WorkerPlan::Input::kText) expect_same(worker.text);
    }
  } catch (const hb::Error&) {
  }
  return 0;
}
