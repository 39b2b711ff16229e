#pragma once

#include <string>

#include <halfbridge/macros.h>

namespace hb {

/// What the CPU kernels run on.
struct Machine {
  std::string instruction_set;  // "x86-64-v4 (AVX-512, AMX)"; "none" for a CPU without AVX2, on which no kernel runs
  std::string onednn;           // version of the loaded library: "3.6.2"
};
HB_API Machine machine();

}  // namespace hb
