#include "cpu/cores.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace hb::cpu {
namespace {

/// Moves a thread to `cores`, then lets it go where it might go before. A program's own choice in between stays.
void move(pid_t thread, const cpu_set_t& cores, const cpu_set_t& allowed) {
  if (sched_setaffinity(thread, sizeof cores, &cores) != 0) return;
  cpu_set_t now;
  if (sched_getaffinity(thread, sizeof now, &now) == 0 && CPU_EQUAL(&now, &cores))
    sched_setaffinity(thread, sizeof allowed, &allowed);
}

}  // namespace

void leave_core(int core) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  cpu_set_t others = allowed;
  CPU_CLR(core, &others);
  move(0, others, allowed);
}

OtherThread::OtherThread() : id_(gettid()) {
  if (pthread_getcpuclockid(pthread_self(), &clock_) != 0) clock_ = CLOCK_MONOTONIC;  // as if it always computed
}

std::chrono::nanoseconds OtherThread::computed() const {
  timespec t{};
  clock_gettime(clock_, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

void OtherThread::bring_here() const {
  cpu_set_t allowed, here;
  const int core = sched_getcpu();
  if (sched_getaffinity(id_, sizeof allowed, &allowed) != 0 || core < 0 || !CPU_ISSET(core, &allowed)) return;
  CPU_ZERO(&here);
  CPU_SET(core, &here);
  move(id_, here, allowed);
}

}  // namespace hb::cpu
