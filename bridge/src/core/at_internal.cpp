#include <halfbridge/bridge/at_internal.h>

#include <sstream>

#include "backend/kernel.h"

namespace hb::bridge {
inline namespace api {

std::string get_cpu_capability() {
  switch (cpu::isa_level()) {
    case 4:
      return "AVX512";
    case 3:
      return "AVX2";
    default:
      return "DEFAULT";
  }
}

std::string get_openmp_version() {
#ifdef _OPENMP
  return "OpenMP " + std::to_string(_OPENMP);
#else
  return "OpenMP not found";
#endif
}

std::string get_parallel_info() {
  std::ostringstream out;
  out << "at::get_num_threads() : " << get_num_threads()
      << "\nat::get_num_interop_threads() : " << get_num_interop_threads() << '\n'
      << get_openmp_version() << '\n';
  return out.str();
}

std::string show_config() {
  return "Halfbridge built with:\n  - GCC " __VERSION__ "\n  - oneDNN\n  - " + get_openmp_version() +
         "\n  - CPU capability usage: " + get_cpu_capability() + "\n  - CUDA: none\n";
}

}  // namespace api
}  // namespace hb::bridge
