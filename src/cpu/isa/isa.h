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
/// The same of a loop that does little but write: by whole cache lines, two vectors of AVX2's. Beyond the near caches a
/// step that writes half a line takes 1.7 times as long.
#ifdef __AVX512F__
#define HB_INDEPENDENT_LINES HB_INDEPENDENT
#else
#define HB_INDEPENDENT_LINES _Pragma("GCC ivdep") _Pragma("GCC unroll 2")
#endif
