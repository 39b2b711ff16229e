#include <halfbridge/machine.h>

#include <dnnl.h>

#include "backend/kernel.h"
#include "cpu/amx/amx.h"

namespace hb {

Machine machine() {
  const int level = cpu::isa_level();
  const dnnl_version_t* version = dnnl_version();
  const auto number = [](int n) { return std::to_string(n); };
  return {cpu::has_bf16_tiles() ? "x86-64-v4 (AVX-512, AMX)"
          : level >= 4          ? "x86-64-v4 (AVX-512)"
          : level == 3          ? "x86-64-v3 (AVX2)"
                                : "none",
          number(version->major) + '.' + number(version->minor) + '.' + number(version->patch)};
}

}  // namespace hb
