#pragma once
// NCCL behind the interface of engines: what a collective of EngineBackend asks for is queued in a stream.

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/cuda_api.h"
#include "distributed/engine.h"
#include "distributed/nccl/library.h"

namespace hb::distributed::nccl {

/// Whether the store has `key` before the deadline; a key that is there is found after it, too.
bool comes(Store& store, const std::string& key, Deadline deadline);

/// A communicator and the stream that its calls are queued in.
struct Lane {
  std::unique_ptr<Communicator> communicator;
  CudaStreamId stream = 0;
  DeviceIndex device = 0;
};

/// Calls run on the lane that enter() chose, in the stream that is current. Communicators are made when they are first
/// needed: one for collectives on each device, and one for each pair of ranks that send to each other.
class NcclEngine : public Engine {
 public:
  NcclEngine(intrusive_ptr<Store> store, int rank, int size, bool high_priority)
      : Engine(rank, size), store_(std::move(store)), high_priority_(high_priority) {}
  std::string name() const override { return "NCCL"; }

  /// The lane of collectives, or that of messages with a peer.
  Lane& lane(const Call& call, int peer = -1);
  void enter(Lane& lane, void* stream) { lane_ = &lane, stream_ = stream; }

  void allreduce(const Call& call, void* data, size_t count) override;
  void reduce(const Call& call, void* data, size_t count) override;
  void broadcast(const Call& call, void* data, size_t bytes) override;
  void allgather(const Call& call, const void* in, void* const* outs, size_t bytes) override;
  void gather(const Call& call, const void* in, void* const* outs, size_t bytes) override;
  void scatter(const Call& call, const void* const* ins, void* out, size_t bytes) override;
  void reduce_scatter(const Call& call, const void* const* ins, void* out, size_t count) override;
  void alltoall(const Call& call, const Piece* ins, const Piece* outs) override;
  void barrier(const Call& call) override;
  /// A message within the lane; `peer` counts there.
  void message(bool sends, int peer, void* data, size_t bytes);

  std::unique_ptr<Transfer> send(int, int, const void*, size_t, Owner) override { no_transfers(); }
  std::unique_ptr<Transfer> recv(int, int, void*, size_t, Owner) override { no_transfers(); }
  void abort(const std::string& why) override;
  void leave() override;
  /// What NCCL says went wrong, by itself.
  std::string async_error();
  /// Why abort() was called; empty if it was not.
  std::string aborted();

 private:
  [[noreturn]] static void no_transfers();
  std::unique_ptr<Communicator> connect(const Call& call, const std::string& key, const std::vector<int>& ranks);
  Communicator& comm() { return *lane_->communicator; }

  intrusive_ptr<Store> store_;
  const bool high_priority_;
  std::mutex mutex_;  // of the lanes and the reason
  std::map<std::string, std::unique_ptr<Lane>> lanes_;
  std::string aborted_;
  Lane* lane_ = nullptr;
  void* stream_ = nullptr;
};

/// What is called while it lives is one operation of NCCL; end() begins it.
class Grouped {
 public:
  Grouped() { library().group_start(); }
  /// After an exception, which is what the caller is to see.
  ~Grouped() {
    if (ended_) return;
    try {
      library().group_end();
    } catch (const Error&) {
    }
  }
  void end() {
    ended_ = true;
    library().group_end();
  }
  Grouped(const Grouped&) = delete;
  Grouped& operator=(const Grouped&) = delete;

 private:
  bool ended_ = false;
};

}  // namespace hb::distributed::nccl
