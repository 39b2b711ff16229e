#pragma once
// Kinds of errors that programs catch by name, beside those of error.h.

#include <halfbridge/error.h>

namespace hb {

/// A device has no memory left for what was asked.
class HB_API OutOfMemoryError : public Error {
  using Error::Error;
};
/// LibTorch's names for errors of its own parts, which nothing here throws.
class HB_API BufferError : public Error {
  using Error::Error;
};
class HB_API EnforceFiniteError : public Error {
  using Error::Error;
};
class HB_API SyntaxError : public Error {
  using Error::Error;
};

}  // namespace hb
