#pragma once
// Waiting for a word in shared memory: a short spin, then sleep, so that the other rank may have this core.

#include <chrono>
#include <cstdint>

#include "distributed/shm/segment.h"

namespace hb::distributed::shm {

/// How long a rank spins: not at all where ranks outnumber cores.
std::chrono::nanoseconds spin_time(int ranks);

/// The core that this thread is on.
int current_core();
/// Adds one and wakes who sleeps.
void advance(Word& word);
/// Sleeps until the word is not `seen`, or for at most `slice`.
void sleep_while(Word& word, uint32_t seen, std::chrono::nanoseconds slice);
inline void pause_cpu() { __builtin_ia32_pause(); }

}  // namespace hb::distributed::shm
