#pragma once
// Libraries of CUDA, opened at run time: from the toolkit, the system or pip's nvidia-* wheels.

#include <initializer_list>
#include <string>

namespace hb::cuda {

class Library {
 public:
  /// `names`: the library's file names, the preferred one first; `wheel`: its folder in pip's wheels of older versions.
  Library(const char* title, std::initializer_list<const char*> names, const char* wheel);
  bool found() const { return handle_ != nullptr; }
  /// Throws "[function] needs cuBLASLt …" with where it was looked for, where it is not there or lacks the symbol.
  void* symbol(const char* name) const;

 private:
  std::string title_, looked_for_;
  void* handle_ = nullptr;
};

/// The stand-in of the software device: null for a symbol that it has not.
void* software_symbol(const char* name);

}  // namespace hb::cuda

/// A function of a library under its own name: HB_CUDA_SYMBOL(cublas_lt(), cublasLtCreate)(&handle).
#define HB_CUDA_SYMBOL(library, function)                                                           \
  ([]() -> decltype(&::function) {                                                                  \
    static const auto found = reinterpret_cast<decltype(&::function)>((library).symbol(#function)); \
    return found;                                                                                   \
  }())
