#pragma once
// Sends and receives through rings in shared memory, one for each ordered pair of ranks. Whoever waits moves what can
// be moved.

#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "distributed/engine.h"
#include "distributed/shm/segment.h"

namespace hb::distributed::shm {

class Messages {
 public:
  Messages(std::shared_ptr<Segment> segment, int rank, int size);
  std::unique_ptr<Transfer> send(int peer, int tag, const void* data, size_t bytes, Owner owner);
  std::unique_ptr<Transfer> recv(int peer, int tag, void* data, size_t bytes, Owner owner);
  /// Moves what can be moved; a collective that waits calls it, lest a rank that waits for a message of ours hold us
  /// up.
  void progress();
  bool pending();

  struct Item;

 private:
  friend class ShmTransfer;
  struct Arrival;  // a message that comes in
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace hb::distributed::shm
