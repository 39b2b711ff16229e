#pragma once
// Numbers that functions of a step return to the program, so that replays write them to the program's variables.

#include "recording.h"

namespace hb::graph {

/// Stands in the recording where a function returned a number. Run, it writes the number to a variable.
class ReturnedNumber final : public capture::Call {
 public:
  /// `number`: float64, one element; `value`: what it was when the step was recorded.
  ReturnedNumber(const Tensor& number, double value)
      : Call("returned_number"), value(value), number_(number.impl().snapshot()) {}
  void run() override;
  void show(capture::Operands& v) override { v.tensor(number_); }

  const double value;
  double* variable = nullptr;

 private:
  Tensor number_;
};

/// Finds the number that each of the variables holds, and leaves out of the calls the numbers that no variable holds.
/// Throws RecordingError where a variable holds none of them, or one that two functions returned.
void write_variables(std::vector<RecordedCall>& calls, const std::vector<double*>& variables);

}  // namespace hb::graph
