#pragma once
// Collectives through shared memory. A collective is a row of phases: each rank writes its slot, all wait for all, each
// reads the others' slots. Slots are double, so that one wait a phase suffices: when all have written phase k, none
// still reads k - 1.

#include <chrono>
#include <mutex>

#include "distributed/engine.h"
#include "distributed/shm/messages.h"
#include "distributed/shm/peer_memory.h"
#include "distributed/shm/region.h"
#include "distributed/shm/segment.h"

namespace hb::distributed::shm {

class ShmEngine : public Engine {
 public:
  /// Meets the other ranks in `store`. Null on all ranks if they are not on one host or cannot share memory.
  static std::unique_ptr<ShmEngine> meet(Store& store, int rank, int size);
  ~ShmEngine() override;
  std::string name() const override { return "shared memory"; }

  void allreduce(const Call& call, void* data, size_t count) override;
  void reduce(const Call& call, void* data, size_t count) override;
  void broadcast(const Call& call, void* data, size_t bytes) override;
  void allgather(const Call& call, const void* in, void* const* outs, size_t bytes) override;
  void gather(const Call& call, const void* in, void* const* outs, size_t bytes) override;
  void scatter(const Call& call, const void* const* ins, void* out, size_t bytes) override;
  void reduce_scatter(const Call& call, const void* const* ins, void* out, size_t count) override;
  void alltoall(const Call& call, const Piece* ins, const Piece* outs) override;
  void barrier(const Call& call) override;
  std::unique_ptr<Transfer> send(int peer, int tag, const void* data, size_t bytes, Owner owner) override;
  std::unique_ptr<Transfer> recv(int peer, int tag, void* data, size_t bytes, Owner owner) override;
  void abort(const std::string& why) override;
  void leave() override;

 private:
  ShmEngine(std::unique_ptr<Segment> segment, std::unique_ptr<PeerMemory> peers, int rank, int size);
  template <class Write, class Read>
  void phase(const Call& call, bool first, const Write& write, const Read& read, const Place& place = {});
  unsigned char* writable() const { return segment_->slot(rank_, phase_ + 1); }
  const unsigned char* readable(int rank) const { return segment_->slot(rank, phase_); }
  void put_record(const Call& call, const Place& place = {});
  void compare_records(const Call& call) const;
  void await_all(const Call& call);
  void await(const Call& call, int rank);
  bool reached(int rank) const;
  void look_for_trouble(const Call& call);
  [[noreturn]] void give_up(const std::string& why);
  std::string whereabouts(const Call& call) const;
  void exchange_small(const Call& call, void* data, size_t count, bool keep);
  void exchange_in_parts(const Call& call, void* data, size_t count, int root);
  struct Chunks;
  void write_parts(const Chunks& chunks, size_t chunk);
  void exchange_in_slots(const Call& call, const Chunks& chunks, int root, bool written);
  void reduce_in_place(const Call& call, void* data, size_t count, int root);
  void reduce_among_peers(const Call& call, void* data, size_t count, int root);
  void read_peer(const Call& call, int rank, void* to, uint64_t from, size_t bytes);
  void write_peer(const Call& call, int rank, const void* from, uint64_t to, size_t bytes);
  void await_writers() const;
  [[noreturn]] void lose(const Call& call, int rank);

  std::shared_ptr<Segment> segment_;
  uint32_t phase_ = 0;
  std::chrono::nanoseconds spin_;
  Messages messages_;
  Views views_;
  std::unique_ptr<PeerMemory> peers_;
  std::vector<unsigned char> pieces_;  // of the other ranks' memory
};

/// Says in the segment why the group is of no use; the first to say so is heard.
void break_group(Segment& segment, const std::string& why);
/// Throws if someone has.
void check_broken(const Segment& segment);

}  // namespace hb::distributed::shm
