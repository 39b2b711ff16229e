#pragma once
// Ordinary memory of the other ranks of a host, read and written by the system on this rank's behalf.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <halfbridge/distributed/store.h>

#include "distributed/shm/segment.h"

namespace hb::distributed::shm {

/// process_vm_readv and process_vm_writev. The system allows them to whoever may trace the process.
class PeerMemory {
 public:
  /// Each rank tries to read and to write all others. Null on all ranks if one of them must not.
  static std::unique_ptr<PeerMemory> meet(Store& store, Segment& segment, int rank, int size);

  /// False, with errno, where the system refuses or the rank has died.
  bool read(int rank, void* to, uint64_t from, size_t bytes) const;
  bool write(int rank, const void* from, uint64_t to, size_t bytes) const;

 private:
  explicit PeerMemory(std::vector<pid_t> processes) : processes_(std::move(processes)) {}
  std::vector<pid_t> processes_;
};

}  // namespace hb::distributed::shm
