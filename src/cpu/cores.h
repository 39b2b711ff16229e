#pragma once
// Which core a thread is on, where the system's choice is the worse one: beside another process it may leave two
// threads that compute together on one core and the other process alone on the next, as either way each core has work.

#include <sys/types.h>

#include <chrono>
#include <ctime>

namespace hb::cpu {

/// Moves the calling thread from `core` to another that it may use; returns when it runs there. Where there is none, it
/// does nothing.
void leave_core(int core);

/// A thread as others see it.
class OtherThread {
 public:
  /// The calling one.
  OtherThread();
  /// How long it has computed.
  std::chrono::nanoseconds computed() const;
  /// Moves it to the caller's core if it may use that. It may leave again.
  void bring_here() const;

 private:
  pid_t id_;
  clockid_t clock_;
};

}  // namespace hb::cpu
