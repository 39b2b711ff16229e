#include "cpu/lapack/in_use.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace hb::cpu::lapack {
namespace {

std::atomic<int> users{0};
std::atomic<bool> ending{false};
thread_local int mine = 0;
thread_local bool ends_process = false;

// The loader finalises this library, after the program's static objects, before libraries that it opened later.
__attribute__((destructor)) void wait_for_users() {
  ends_process = true;
  ending.store(true);
  while (users.load() > mine) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

// The threads that a parent computed with are not there in a child.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { users.store(mine); });

}  // namespace

InUse::InUse() {
  users.fetch_add(1), ++mine;
  if (!ending.load() || ends_process || mine > 1) return;
  users.fetch_sub(1), --mine;
  for (;;) pause();
}
InUse::~InUse() { users.fetch_sub(1), --mine; }

}  // namespace hb::cpu::lapack
