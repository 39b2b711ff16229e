#pragma once
// Collectives made of messages, for engines that have nothing but sends and receives. Every rank exchanges with every
// other directly, so that each can reduce in the order of the ranks: the results are those of shared memory, bit for
// bit.

#include <vector>

#include "distributed/engine.h"

namespace hb::distributed {

class HB_API MessageEngine : public Engine {
 public:
  /// `store`, where there is one, is where ranks tell each other what they were waiting for when a deadline passed.
  MessageEngine(int rank, int size, intrusive_ptr<Store> store) : Engine(rank, size), store_(std::move(store)) {}
  ~MessageEngine() override;

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

 protected:
  /// What kind of message: those of the program, those of collectives, those by which ranks compare their calls.
  enum class Channel : uint8_t { program, collective, check };
  /// Starts a message; messages between two ranks with the same channel and mark arrive in order. A receive from -1
  /// takes any rank's.
  virtual std::unique_ptr<Transfer> start(bool sends, Channel channel, int peer, uint32_t mark, void* data,
                                          size_t bytes, Owner owner) = 0;

 private:
  struct Message {
    int peer;
    std::unique_ptr<Transfer> transfer;
  };
  using Messages = std::vector<Message>;
  void post(Messages& list, const Call& call, bool sends, int peer, const void* data, size_t bytes);
  void begin(Messages& list, const Call& call, bool sends, Channel channel, int peer, uint32_t mark, void* data,
             size_t bytes);
  void finish(Messages& list, const Call& call);
  [[noreturn]] void lost(const Call& call, int peer, const std::string& why);
  void exchange(const Call& call, const std::vector<Piece>& sends, const std::vector<Piece>& receives);
  void reduce_own_part(const Call& call, unsigned char* data, size_t count, std::vector<size_t>& bounds);
  void allreduce_segment(const Call& call, unsigned char* data, size_t count);
  /// Memory for what the others send; what it held is gone.
  unsigned char* scratch(size_t bytes);
  /// In debug mode: all ranks call the same thing.
  void compare(const Call& call);
  [[noreturn]] void late(const Call& call, std::vector<int> missing);

  intrusive_ptr<Store> store_;
  std::unique_ptr<unsigned char[]> scratch_;
  size_t scratch_bytes_ = 0;
};

}  // namespace hb::distributed
