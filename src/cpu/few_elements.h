#pragma once
// Element-wise calls of few elements that are made again and again (graph mode): what each call would find out about
// its operands is found out once.

#include <cstdint>
#include <vector>

#include "backend/elementwise.h"
#include "core/isa_level.h"
#include "cpu/convert_rows.h"

namespace hb::cpu {

/// A call that computes in float, for one thread. The call outlives it; of what it says only addresses may change.
struct FewElements {
  struct Operand {
    char* const* data = nullptr;    // where the call has the address
    ConvertRows convert = nullptr;  // to float, or from it; null where floats are stored
    std::vector<int64_t> at;        // where each element lies, in floats; empty: one after the other
    bool single = false;            // one element for all, or
    bool is_number = false;         // this one
    float number = 0;
  };
  void (*run)(const FewElements& few) = nullptr;
  const ElementwiseFn* fn = nullptr;
  const double* params = nullptr;
  int64_t numel = 0;
  int operands = 0;
  /// Bit k: the formula takes input k as one element.
  unsigned shared = 0;
  Operand operand[Loop::kMaxOperands];
};

using ElementwiseRoutine = void (*)(const ElementwiseCall& call);

namespace v3 {
bool prepare(ElementwiseRoutine routine, const ElementwiseCall& call, FewElements& few);
}
namespace v4 {
bool prepare(ElementwiseRoutine routine, const ElementwiseCall& call, FewElements& few);
}

/// False where the call is none of few elements, or where its routine is as good.
inline bool prepare(ElementwiseRoutine routine, const ElementwiseCall& call, FewElements& few) {
  return isa_level() >= 4 ? v4::prepare(routine, call, few) : v3::prepare(routine, call, few);
}

}  // namespace hb::cpu
