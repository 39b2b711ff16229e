#pragma once
// The functions of the stand-ins by name, in place of what dlsym finds in a vendor's library.

namespace software_cuda {
/// Notes a function; always true.
bool provide(const char* name, void* function);
}  // namespace software_cuda

#define SOFTWARE_CUDA_SYMBOL(function)                     \
  [[maybe_unused]] static const bool provided_##function = \
      software_cuda::provide(#function, reinterpret_cast<void*>(&function))
