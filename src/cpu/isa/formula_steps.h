#pragma once
// A formula's steps in chains.

#include "cpu/isa/step.h"
#include "formulas/formula.h"

namespace hb::cpu::HB_ISA {

/// So cheap that loading a value, or rounding it to bf16, takes as long.
template <class F>
constexpr bool is_cheap = F::cost <= 2;
/// Dearer formulas are called: beside them to store and load a vector is little, and their code is long.
template <class F>
constexpr bool has_steps = is_cheap<F>&& F::kinds != formula::Kinds::ints&& F::inputs <= 2;

/// The formula on each lane. The compiler makes one instruction of each operation on all lanes.
template <class F>
inline __attribute__((always_inline)) StepVector on_lanes(const float* p, const StepVector& a, const StepVector& b) {
  constexpr int n = kLanes<float>;
  float x[n], y[n], result[n];
  std::memcpy(x, &a, sizeof a);
  std::memcpy(y, &b, sizeof b);
  HB_INDEPENDENT
  for (int i = 0; i < n; ++i) {
    if constexpr (F::inputs == 1)
      result[i] = F::template apply<float>(p, x[i]);
    else
      result[i] = F::template apply<float>(p, x[i], y[i]);
  }
  StepVector v;
  std::memcpy(&v, result, sizeof v);
  return v;
}

template <class F, bool memory, bool first>
struct FormulaChange {
  float p[F::params + 1];
  StepVector number;
  const float* other;
  inline __attribute__((always_inline)) FormulaChange(const Step& step, int64_t at)
      : number(step.number - StepVector{}), other(memory ? reinterpret_cast<const float*>(step.operand(at)) : nullptr) {
    for (int i = 0; i < F::params; ++i) p[i] = step.params[i];
  }
  inline __attribute__((always_inline)) StepVector operator()(const StepVector& v, int i) const {
    if constexpr (F::inputs == 1) return on_lanes<F>(p, v, v);
    const StepVector w = memory ? load<float>(other + i * kLanes<float>) : number;
    return first ? on_lanes<F>(p, v, w) : on_lanes<F>(p, w, v);
  }
};

template <class F>
constexpr FormulaSteps make_steps() {
  if constexpr (F::inputs == 1) {
    constexpr StepRoutine only = step_of<FormulaChange<F, false, true>>;
    return {only, only, only, only};
  } else {
    return {step_of<FormulaChange<F, false, true>>, step_of<FormulaChange<F, false, false>>,
            step_of<FormulaChange<F, true, true>>, step_of<FormulaChange<F, true, false>>};
  }
}
template <class F>
inline constexpr FormulaSteps formula_steps = make_steps<F>();

}  // namespace hb::cpu::HB_ISA
