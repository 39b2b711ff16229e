#pragma once
// The steps of chains that are no formula's: they bring values to the registers, or away.

#include "cpu/isa/elementwise.h"
#include "cpu/isa/step.h"

namespace hb::cpu::HB_ISA {

/// A formula that is called on kStepElements floats: its operands, and the place of its result.
struct CalledFormula {
  struct Input {
    const char* data;
    int64_t bytes;  // as Step's
  };
  FormulaLoop<float> loop;
  const double* params;
  Input input[Loop::kMaxOperands];
  float* result;
};

struct ChainSteps {
  /// step.number, or what lies at step's operand.
  StepRoutine load_number, load_float, load_bf16, load_half;
  /// To step's operand. Exact ones need no rounding.
  StepRoutine store_float, store_bf16, store_exact_bf16, store_half;
  StepRoutine round_bf16, round_half;
  /// The registers stay: from step's operand to the floats at step.place, and from there to the operand.
  StepRoutine bring, write;
  /// step.called, whose result comes to the registers.
  StepRoutine call;
  /// Behind the last one.
  StepRoutine finish;
};
extern const ChainSteps chain_steps;

}  // namespace hb::cpu::HB_ISA
