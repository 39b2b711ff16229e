#pragma once
// What a program registers for autograd where an operator has no gradient.

#include <halfbridge/bridge/library.h>

namespace hb::autodiff {

/// Runs the operator without recording; a backward pass that comes to its results throws
/// "derivative for NAME is not implemented".
HB_API bridge::CppFunction autogradNotImplementedFallback();
/// Versions and views are kept where tensors change, so that there is nothing left to do.
inline bridge::CppFunction autogradNotImplementedInplaceOrViewFallback() {
  return bridge::CppFunction::makeFallthrough();
}
/// What operators have that register nothing for autograd: what they recorded stands, and the mode says what a backward
/// pass does that goes through them.
HB_API bridge::CppFunction basicAutogradNotImplementedFallback();

enum class AutogradFallbackMode { Nothing, Warn, Error };
/// Throws for Error, as in LibTorch.
HB_API void setAutogradFallbackMode(AutogradFallbackMode mode);
HB_API AutogradFallbackMode getAutogradFallbackMode();

}  // namespace hb::autodiff
