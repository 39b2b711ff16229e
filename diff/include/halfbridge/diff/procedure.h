// The five steps by which a port is checked: same inputs, same mode, same weights, same outputs, layer by layer.
#pragma once

#include <array>
#include <string>

#include <halfbridge/diff/report.h>

namespace hb::layer_diff {

struct ProcedureStep {
  enum class State { agrees, differs, unknown };
  const char* name = "";  // "inputs", "mode", "weights", "outputs", "layers"
  State state = State::unknown;
  std::string text;  // one line: what was compared, and what differs first
};

/// The steps in order, from a comparison of a reference with its port. A step is unknown where a trace does not hold
/// what it takes.
std::array<ProcedureStep, 5> five_steps(const Report& report);

}  // namespace hb::layer_diff
