#pragma once
// The steps of a chain of element-wise functions. What a chain computes on stays in eight vectors, which are arguments
// of every step; a step changes them and ends by calling the next one. The call is a jump, and the convention for
// arguments keeps them in registers: twelve functions cost as much as reading and writing the memory once.

#include "cpu/convert_rows.h"
#include "cpu/isa/lanes.h"

namespace hb::cpu {
struct ElementwiseFn;
}

namespace hb::cpu::HB_ISA {

using StepVector = Vector<float>;
constexpr int64_t kStepElements = 8 * kLanes<float>;

struct Step;
/// `at`: the first of the kStepElements elements that are computed.
using StepRoutine = void (*)(const Step* step, int64_t at, StepVector, StepVector, StepVector, StepVector, StepVector,
                             StepVector, StepVector, StepVector);

struct Step {
  StepRoutine run = nullptr;
  /// An operand: element 0 of the whole, and the bytes of an element; 0 where all elements share kStepElements places.
  char* data = nullptr;
  int64_t bytes = 0;
  /// Of a step between an operand of another dtype, whose elements have `width` bytes, and floats.
  float* place = nullptr;
  int64_t width = 0;
  ConvertRows convert = nullptr;
  /// Of a formula: its parameters, or an operand that is one number.
  const float* params = nullptr;
  float number = 0;
  /// Of a formula that has no steps of its own.
  const struct CalledFormula* called = nullptr;

  char* operand(int64_t at) const { return data + at * bytes; }
};

/// Vector i of what a step computes on becomes Change(step, at)(v, i).
template <class Change>
void step_of(const Step* step, int64_t at, StepVector a, StepVector b, StepVector c, StepVector d, StepVector e,
             StepVector f, StepVector g, StepVector h) {
  const Change change(*step, at);
  a = change(a, 0), b = change(b, 1), c = change(c, 2), d = change(d, 3);
  e = change(e, 4), f = change(f, 5), g = change(g, 6), h = change(h, 7);
  return step[1].run(step + 1, at, a, b, c, d, e, f, g, h);
}

/// The steps of a formula whose operands, or whose first or second one, are what stands in the registers. The other is
/// a number, or floats in memory. Of one operand, all are the same.
struct FormulaSteps {
  StepRoutine with_number, to_number, with_memory, to_memory;
};

}  // namespace hb::cpu::HB_ISA
