#include "core/isa_level.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

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

constexpr int kTilesLevel = 5;

// HALFBRIDGE_ISA=v3 keeps a wider CPU to AVX2, v4 one with AMX to AVX-512, so that those kernels can be tested on it.
int highest_allowed() {
  static const int level = [] {
    const char* text = std::getenv("HALFBRIDGE_ISA");
    const std::string_view wanted = text ? text : "amx";
    if (wanted == "v3") return 3;
    if (wanted == "v4") return 4;
    if (wanted != "amx") std::fprintf(stderr, "HALFBRIDGE_ISA: expected v3, v4 or amx, got '%s'; not used\n", text);
    return kTilesLevel;
  }();
  return level;
}

// A process has the tiles' registers only after it has asked Linux for them.
bool system_grants_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

int isa_level() {
  static const int level = [] {
    const int cpu = level_of_cpu(), allowed = highest_allowed();
    return cpu < allowed ? cpu : allowed;
  }();
  return level;
}

bool has_bf16_tiles() {
#ifdef __clang__  // clang-tidy's does not know these names
  return false;
#else
  static const bool tiles = isa_level() >= 4 && highest_allowed() >= kTilesLevel &&
                            __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") &&
                            __builtin_cpu_supports("avx512bf16") && system_grants_tiles();
  return tiles;
#endif
}

bool is_zen5() {
  static const bool is = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__builtin_cpu_is("amd") || !__get_cpuid(1, &a, &b, &c, &d)) return false;
    return ((a >> 8) & 0xF) + ((a >> 20) & 0xFF) == 26;
  }();
  return is;
}

}  // namespace hb::cpu
