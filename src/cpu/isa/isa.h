#pragma once
// For the files of this folder, which are compiled once per instruction set (HB_ISA is v3 or v4) and live in
// namespace hb::cpu::HB_ISA.

#include "backend/kernel.h"

namespace hb::cpu {
namespace v3 {
constexpr int kIsaLevel = 3;
}
namespace v4 {
constexpr int kIsaLevel = 4;
}
}  // namespace hb::cpu

/// Says that the iterations of the next loop do not depend on each other: results may stand where operands stood.
#define HB_INDEPENDENT _Pragma("GCC ivdep")
