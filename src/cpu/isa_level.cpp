#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "kernels/kernel.h"

namespace hb::cpu {
namespace {

int level_of_cpu() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2")) return 0;
#ifndef __clang__  // clang-tidy's does not know this name; no CPU has AVX2 without it
  if (!__builtin_cpu_supports("f16c")) return 0;
#endif
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return avx512 ? 4 : 3;
}

// HALFBRIDGE_ISA=v3 keeps a wider CPU to AVX2, so that those kernels can be tested on it.
int highest_allowed() {
  const char* text = std::getenv("HALFBRIDGE_ISA");
  const std::string_view wanted = text ? text : "v4";
  if (wanted == "v3") return 3;
  if (wanted != "v4") std::fprintf(stderr, "HALFBRIDGE_ISA: expected v3 or v4, got '%s'; not used\n", text);
  return 4;
}

}  // namespace

int isa_level() {
  static const int level = [] {
    const int cpu = level_of_cpu(), allowed = highest_allowed();
    return cpu < allowed ? cpu : allowed;
  }();
  return level;
}

}  // namespace hb::cpu
