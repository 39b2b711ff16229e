#pragma once
// NCCL as the group's code calls it. libhalfbridge_nccl.so, which knows its header, implements it upon the libnccl that
// it opens.

#include <memory>
#include <string>

#include "distributed/call.h"

namespace hb::distributed::nccl {

/// One rank's end of a communicator. A collective is queued in a stream (cudaStream_t) and returns; memory is a GPU's.
/// What fails throws DistBackendError with NCCL's words.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual void allreduce(const void* in, void* out, size_t count, ScalarType type, RankReduction op, void* stream) = 0;
  virtual void reduce(const void* in, void* out, size_t count, ScalarType type, RankReduction op, int root,
                      void* stream) = 0;
  /// `in` counts on the root alone.
  virtual void broadcast(const void* in, void* out, size_t bytes, int root, void* stream) = 0;
  virtual void allgather(const void* in, void* out, size_t bytes, void* stream) = 0;
  virtual void reduce_scatter(const void* in, void* out, size_t count, ScalarType type, RankReduction op,
                              void* stream) = 0;
  virtual void send(const void* in, size_t bytes, int peer, void* stream) = 0;
  virtual void recv(void* out, size_t bytes, int peer, void* stream) = 0;
  /// What went wrong since, in NCCL's words; empty if nothing did.
  virtual std::string async_error() = 0;
  /// Ends what is queued, with undefined results. May be called by any thread.
  virtual void abort() noexcept = 0;
};

class Library {
 public:
  virtual ~Library() = default;
  /// "2.28.9".
  virtual std::string version() = 0;
  /// What all ranks of a new communicator need; made by one of them.
  virtual std::string unique_id() = 0;
  /// Waits for the others, with the current device.
  virtual std::unique_ptr<Communicator> connect(const std::string& id, int rank, int size) = 0;
  /// What is called between them is one operation.
  virtual void group_start() = 0;
  virtual void group_end() = 0;
};

/// Opens the module and NCCL at the first call. Throws where one of them is missing, naming the package.
Library& library();

/// What the module exports, as hb_nccl_library.
using LibraryGetter = Library&();

}  // namespace hb::distributed::nccl
