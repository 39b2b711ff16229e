#pragma once
// What moves plain memory between the ranks of a group. EngineBackend turns tensors into calls of it.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "distributed/call.h"

namespace hb::distributed {

/// A message on its way. Functions may be called from several threads, for different transfers.
class Transfer {
 public:
  virtual ~Transfer() = default;
  /// True when the message is there or gone; throws where that failed.
  virtual bool test() = 0;
  /// False when the deadline passed first. Throws where the message failed.
  virtual bool wait(Deadline deadline) = 0;
  /// The sender, when it is there.
  virtual int source() const { return -1; }
};

/// What keeps a message's memory.
using Owner = std::shared_ptr<void>;

struct Piece {
  void* data;
  size_t bytes;
};

/// Collectives are called by one thread at a time, in the same order on all ranks; sends and receives by any thread.
/// What fails throws; a rank that calls something else throws Mismatch on all ranks, after which the group goes on.
class HB_API Engine {
 public:
  Engine(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~Engine() = default;
  int rank() const { return rank_; }
  int size() const { return size_; }
  virtual std::string name() const = 0;

  virtual void allreduce(const Call& call, void* data, size_t count) = 0;
  virtual void reduce(const Call& call, void* data, size_t count) = 0;  // changes the root's data alone
  virtual void broadcast(const Call& call, void* data, size_t bytes) = 0;
  virtual void allgather(const Call& call, const void* in, void* const* outs, size_t bytes) = 0;
  virtual void gather(const Call& call, const void* in, void* const* outs, size_t bytes) = 0;   // outs: root only
  virtual void scatter(const Call& call, const void* const* ins, void* out, size_t bytes) = 0;  // ins: root only
  virtual void reduce_scatter(const Call& call, const void* const* ins, void* out, size_t count) = 0;
  virtual void alltoall(const Call& call, const Piece* ins, const Piece* outs) = 0;
  virtual void barrier(const Call& call) = 0;

  /// `owner` keeps the memory until the message is gone or there, whether or not the Transfer is kept.
  virtual std::unique_ptr<Transfer> send(int peer, int tag, const void* data, size_t bytes, Owner owner) = 0;
  /// From any rank where `peer` is -1.
  virtual std::unique_ptr<Transfer> recv(int peer, int tag, void* data, size_t bytes, Owner owner) = 0;
  /// Ends what waits, now and later, with an error. May be called by any thread.
  virtual void abort(const std::string& why) = 0;
  /// This rank leaves in good order.
  virtual void leave() {}

 protected:
  const int rank_, size_;
};

/// Ranks called different things.
class Mismatch : public DistBackendError {
  using DistBackendError::DistBackendError;
};

/// reduce_ranks_kernel of the CPU.
HB_API void reduce_memory(const Call& call, void* out, const void* const* in, int64_t inputs, size_t count);

}  // namespace hb::distributed
