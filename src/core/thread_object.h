#pragma once
// Objects that each thread has one of, and that may be asked for at any time.

#include <cxxabi.h>

#include <utility>

#include <halfbridge/error.h>

namespace hb::detail {

/// This thread's T. Static destructors of a program compute too, after the thread-local variables of the
/// main thread are gone: a plain thread_local would be used after its destructor then, while this one is made anew.
template <class T>
T& thread_object() {
  static thread_local constinit T* object __attribute__((tls_model("initial-exec"))) = nullptr;
  if (HB_LIKELY(object != nullptr)) return *object;
  object = new T;
  static char here;  // an address within this library, by which the C library knows it
  abi::__cxa_thread_atexit([](void*) { delete std::exchange(object, nullptr); }, nullptr, &here);
  return *object;
}

}  // namespace hb::detail
