// Opens libhalfbridge_cuda.so when a program first asks for CUDA, so that no program is linked with it.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "core/load_cuda.h"

namespace hb {
namespace {

constexpr const char* kLibrary = "libhalfbridge_cuda.so";

std::string beside_this_library() {
  Dl_info here;
  if (!dladdr(reinterpret_cast<void*>(&open_cuda), &here) || !here.dli_fname) return kLibrary;
  const std::string path = here.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? kLibrary : path.substr(0, slash + 1) + kLibrary;
}

struct Cuda {
  DeviceBackend* device = nullptr;
  std::string absence;
};

/// The library says for itself why it cannot compute: `halfbridge_open_cuda` returns null, or a sentence.
std::string open_library(const std::string& path, DeviceBackend*& device) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char* const error = dlerror();
    return "the library " + std::string(kLibrary) + " cannot be opened (" + (error ? error : "unknown error") + ")";
  }
  using Open = const char* (*)(DeviceBackend**);
  const auto open = reinterpret_cast<Open>(dlsym(library, "halfbridge_open_cuda"));
  if (!open) return path + " is not a CUDA back end of this version of Halfbridge";
  const char* const absence = open(&device);
  return absence ? absence : "";  // registers what else it has
}

std::atomic<bool> is_open{false};

const Cuda& cuda() {
  static const Cuda* const opened = [] {
    auto* made = new Cuda;
    const char* const wish = std::getenv("HALFBRIDGE_CUDA_LIBRARY");
    if (wish && std::string(wish) == "none")
      made->absence = "the variable HALFBRIDGE_CUDA_LIBRARY is none";
    else
      made->absence = open_library(wish ? wish : beside_this_library(), made->device);
    if (made->device) register_device_backend(kCUDA, made->device);
    is_open = made->device != nullptr;
    return made;
  }();
  return *opened;
}

}  // namespace

DeviceBackend* open_cuda() { return cuda().device; }
bool cuda_is_open() { return is_open; }
const std::string& cuda_absence() { return cuda().absence; }

}  // namespace hb
