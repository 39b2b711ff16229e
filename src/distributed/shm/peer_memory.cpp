#include "distributed/shm/peer_memory.h"

#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace hb::distributed::shm {

namespace {

using Call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

bool move(Call call, pid_t process, void* here, uint64_t there, size_t bytes) {
  while (bytes > 0) {
    const iovec own{here, bytes}, other{reinterpret_cast<void*>(there), bytes};
    const ssize_t moved = call(process, &own, 1, &other, 1, 0);
    if (moved <= 0) {
      if (moved == 0) errno = EFAULT;
      return false;
    }
    here = static_cast<unsigned char*>(here) + moved;
    there += static_cast<uint64_t>(moved), bytes -= static_cast<size_t>(moved);
  }
  return true;
}

/// Yama lets nobody but a process's ancestors trace it: what launched the ranks, and so the ranks, may be let in.
void let_siblings_in() {
#ifdef PR_SET_PTRACER
  prctl(PR_SET_PTRACER, static_cast<unsigned long>(getppid()), 0, 0, 0);
#endif
}

}  // namespace

bool PeerMemory::read(int rank, void* to, uint64_t from, size_t bytes) const {
  return move(process_vm_readv, processes_[static_cast<size_t>(rank)], to, from, bytes);
}

bool PeerMemory::write(int rank, const void* from, uint64_t to, size_t bytes) const {
  return move(process_vm_writev, processes_[static_cast<size_t>(rank)], const_cast<void*>(from), to, bytes);
}

std::unique_ptr<PeerMemory> PeerMemory::meet(Store& store, Segment& segment, int rank, int size) {
  let_siblings_in();
  // One word to be read, and one for each rank to write.
  std::vector<uint64_t> words(static_cast<size_t>(size) + 1);
  RankBlock& own = segment.block(rank);
  const bool random = getrandom(words.data(), sizeof(uint64_t), 0) == sizeof(uint64_t);
  own.process = getpid(), own.probe = reinterpret_cast<uint64_t>(words.data()), own.secret = words[0];
  bool all = all_say(store, "shm/probes", rank, size, random ? "ready" : "no") && random;
  std::unique_ptr<PeerMemory> memory;
  if (all) {
    std::vector<pid_t> processes;
    for (int r = 0; r < size; ++r) processes.push_back(segment.block(r).process);
    memory.reset(new PeerMemory(std::move(processes)));
    for (int r = 0; all && r < size; ++r) {
      const RankBlock& other = segment.block(r);
      uint64_t seen = 0;
      const uint64_t written = other.secret + 1, place = other.probe + (static_cast<uint64_t>(rank) + 1) * sizeof(seen);
      all = memory->read(r, &seen, other.probe, sizeof(seen)) && seen == other.secret &&
            memory->write(r, &written, place, sizeof(written));
    }
  }
  all = all_say(store, "shm/reached", rank, size, all ? "yes" : "no") && all;
  for (size_t r = 0; r < static_cast<size_t>(size); ++r) all &= words[r + 1] == words[0] + 1;
  return all_say(store, "shm/peers", rank, size, all ? "yes" : "no") && all ? std::move(memory) : nullptr;
}

}  // namespace hb::distributed::shm
