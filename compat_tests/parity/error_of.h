#pragma once
// What a function of both libraries throws when it fails.
#include <exception>
#include <stdexcept>
#include <string>

#include <torch/torch.h>

namespace parity {

/// The text of what f throws, of a c10::Error without a backtrace.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

/// The class of what f throws, as a program may catch it.
template <class F>
std::string kind_of(F f) {
  try {
    f();
  } catch (const c10::IndexError&) {
    return "IndexError";
  } catch (const c10::ValueError&) {
    return "ValueError";
  } catch (const c10::TypeError&) {
    return "TypeError";
  } catch (const c10::NotImplementedError&) {
    return "NotImplementedError";
  } catch (const c10::Error&) {
    return "Error";
  } catch (const std::runtime_error&) {
    return "std::runtime_error";
  } catch (const std::exception&) {
    return "exception";
  }
  return "none";
}

}  // namespace parity
