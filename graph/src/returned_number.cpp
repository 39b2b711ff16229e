#include "returned_number.h"

#include <cstring>

#include "core/warnings.h"
#include "program.h"

namespace hb::graph {

void ReturnedNumber::run() { *variable = *static_cast<const double*>(number_.impl().raw_data()); }

namespace {
// NaN is equal to itself, too.
bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }
}  // namespace

void write_variables(std::vector<RecordedCall>& calls, const std::vector<double*>& variables) {
  std::vector<ReturnedNumber*> numbers;
  for (const RecordedCall& c : calls)
    if (auto* const n = dynamic_cast<ReturnedNumber*>(c.call.get())) numbers.push_back(n);
  for (double* const variable : variables) {
    ReturnedNumber* found = nullptr;
    for (ReturnedNumber* const n : numbers) {
      if (!same_bits(n->value, *variable)) continue;
      if (found || n->variable)
        throw RecordingError{"[writes] expected variables that hold different numbers, got the same one twice"};
      found = n;
    }
    if (!found)
      throw RecordingError{
          "[writes] expected a variable that holds, after the step, a number that clip_grad_norm_() returned in it"};
    found->variable = variable;
  }
  const auto unused = [](const RecordedCall& c) {
    const auto* const n = dynamic_cast<const ReturnedNumber*>(c.call.get());
    return n && !n->variable;
  };
  if (std::erase_if(calls, unused) > 0)
    HB_WARN_ONCE("[clip_grad_norm_] replays of a captured step return no norm: a variable keeps that of the recorded ",
                 "call. CompileOptions::writes(variable) has replays write it");
}

}  // namespace hb::graph
