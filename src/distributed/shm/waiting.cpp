#include "distributed/shm/waiting.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace hb::distributed::shm {

std::chrono::nanoseconds spin_time(int ranks) {
  cpu_set_t cores;
  const bool known = sched_getaffinity(0, sizeof(cores), &cores) == 0;
  return std::chrono::microseconds(known && CPU_COUNT(&cores) >= ranks ? 30 : 0);
}

int current_core() { return sched_getcpu(); }

void advance(Word& word) {
  word.value.fetch_add(1, std::memory_order_seq_cst);
  if (word.sleepers.load(std::memory_order_seq_cst) != 0)
    syscall(SYS_futex, &word.value, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void sleep_while(Word& word, uint32_t seen, std::chrono::nanoseconds slice) {
  const timespec time{static_cast<time_t>(slice.count() / 1000000000), static_cast<long>(slice.count() % 1000000000)};
  word.sleepers.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &word.value, FUTEX_WAIT, seen, &time, nullptr, 0);
  word.sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace hb::distributed::shm
