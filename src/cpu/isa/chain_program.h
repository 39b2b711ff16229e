#pragma once
// A chain's links as steps (step.h): for links that compute in float, whatever the dtypes of their operands.

#include <vector>

#include "cpu/chain.h"
#include "cpu/isa/chain_steps.h"

namespace hb::cpu::HB_ISA {

class ChainProgram {
 public:
  /// Whether the links can be steps.
  static bool takes(const ChainCall& chain);
  explicit ChainProgram(const ChainCall& chain);
  /// From here on the front's values of elements [at, …) lie at `data`.
  void place_front(char* data, int64_t at) { move(front_steps_, data, at); }
  /// So do those that the tail reduces.
  void place_tail(char* data, int64_t at) { move(tail_steps_, data, at); }
  /// Elements [from, to), whole groups of kStepElements.
  void run(int64_t from, int64_t to) const;

 private:
  struct alignas(64) Slot {
    float numbers[kStepElements];
  };
  /// Where an operand is read or written: element 0 and the bytes between elements, as in Step.
  struct Place {
    char* data;
    int64_t bytes;
    ScalarType dtype;
    std::vector<size_t>* moved = nullptr;  // steps whose operand is placed anew for each block
  };
  void move(const std::vector<size_t>& steps, char* data, int64_t at);
  Place place(const ChainLink& link, int k);
  char* slot(int64_t i) { return reinterpret_cast<char*>(slots_[i].numbers); }
  char* temporary(int k) { return slot(chain_.values + k); }
  Step& add(StepRoutine routine) {
    steps_.emplace_back().run = routine;
    return steps_.back();
  }
  Step& add(StepRoutine routine, const Place& place);
  /// The floats of an operand: where it lies, or brought to temporary k; there too where the place must stay the same.
  Place as_floats(const Place& place, int k, bool stays = false);

  void add_link(size_t j);
  int take_operand(size_t j);
  void add_formula(const ChainLink& link, const ElementwiseFn& fn, int held);
  void add_call(const ChainLink& link, const ElementwiseFn& fn, int held);
  void add_result(size_t j, const ElementwiseFn& fn);
  void round(ScalarType dtype);

  const ChainCall& chain_;
  std::vector<Step> steps_;
  std::vector<size_t> front_steps_, tail_steps_;
  std::vector<Slot> slots_;  // the chain's values, temporaries, numbers
  int64_t numbers_ = 0;
  std::vector<CalledFormula> called_;
  std::vector<float> params_;
  bool front_is_read_ = true;  // until another value takes its number
};

}  // namespace hb::cpu::HB_ISA
