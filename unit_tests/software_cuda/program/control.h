#pragma once
// The software device that the program computes on: its counts and switches. The tests run on a GPU, too, which counts
// nothing: there checks of counts and names of kernels are left out.

#include <dlfcn.h>
#include <torch/torch.h>

#include <cstdlib>

#include "software_cuda/software_cuda.h"

namespace control_detail {

inline const software_cuda::Control* found() {
  static const software_cuda::Control* const found = []() -> const software_cuda::Control* {
    torch::cuda::is_available();  // opens the library
    const char* const name = std::getenv("HALFBRIDGE_CUDA_LIBRARY");
    void* const library = name ? dlopen(name, RTLD_NOW | RTLD_NOLOAD) : nullptr;
    void* const get = library ? dlsym(library, "software_cuda_control") : nullptr;
    return get ? reinterpret_cast<software_cuda::GetControl>(get)() : nullptr;
  }();
  return found;
}

}  // namespace control_detail

/// Whether the device counts what is asked of it.
inline bool counted() { return control_detail::found() != nullptr; }

inline const software_cuda::Control& control() {
  static const software_cuda::Control none{
      [] { return software_cuda::Counts{}; }, [] {}, [](uint64_t) {}, [](bool) {}, [] { return ""; }, nullptr};
  return counted() ? *control_detail::found() : none;
}

/// While it lives, cuDNN takes no algorithm that adds in another order each time.
class DeterministicConvolutions {
 public:
  DeterministicConvolutions() { at::globalContext().setDeterministicCuDNN(true); }
  ~DeterministicConvolutions() { at::globalContext().setDeterministicCuDNN(false); }
  DeterministicConvolutions(const DeterministicConvolutions&) = delete;
  DeterministicConvolutions& operator=(const DeterministicConvolutions&) = delete;
};

/// Skips a test that is about counts where there are none.
#define NEEDS_COUNTS() \
  if (!counted()) GTEST_SKIP() << "this device counts nothing"
