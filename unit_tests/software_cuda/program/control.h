#pragma once
// The software device that the program computes on: its counts and switches.

#include <dlfcn.h>
#include <torch/torch.h>

#include <cstdlib>

#include "software_cuda/software_cuda.h"

inline const software_cuda::Control& control() {
  static const software_cuda::Control& found = []() -> const software_cuda::Control& {
    torch::cuda::is_available();  // opens the library
    void* const library = dlopen(std::getenv("HALFBRIDGE_CUDA_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
    return *reinterpret_cast<software_cuda::GetControl>(dlsym(library, "software_cuda_control"))();
  }();
  return found;
}
