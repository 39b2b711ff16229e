#pragma once
// Kinds of errors that programs catch by name, beside those of error.h.

#include <cstdint>
#include <string>
#include <utility>

#include <halfbridge/error.h>

namespace hb {

/// A device has no memory left for what was asked.
class HB_API OutOfMemoryError : public Error {
  using Error::Error;
};
/// What a device's library reports, with its number for that (a cudaError_t).
class HB_API AcceleratorError : public Error {
 public:
  AcceleratorError(SourceLocation where, int32_t code, std::string msg) : Error(where, std::move(msg)), code_(code) {}
  int32_t get_error_code() const { return code_; }

 private:
  int32_t code_;
};

/// Memory of others (DLPack) that no Tensor can describe.
class HB_API BufferError : public Error {
  using Error::Error;
};
/// LibTorch's names for errors of its own parts, which nothing here throws.
class HB_API EnforceFiniteError : public Error {
  using Error::Error;
};
class HB_API SyntaxError : public Error {
  using Error::Error;
};
class HB_API OnnxfiBackendSystemError : public Error {
  using Error::Error;
};
class HB_API ErrorAlwaysShowCppStacktrace : public Error {
  using Error::Error;
};

}  // namespace hb
