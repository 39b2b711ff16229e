// SOFTWARE_CUDA_RANDOM=cpu in the environment: the software device's random numbers are the CPU generator's.
#include <cstdlib>
#include <string>

#include "software_cuda/cpu_random.h"

namespace {

const bool replaced = [] {
  const char* wish = std::getenv("SOFTWARE_CUDA_RANDOM");
  if (!wish || std::string(wish) != "cpu") return false;
  software_cuda::draw_on_cpu();
  return true;
}();

}  // namespace
