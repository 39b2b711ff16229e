#pragma once
// Sums and broadcasts of ranks on several hosts by two levels: through shared memory within a host, by messages between
// hosts, so that each byte crosses the network once a host and not once a rank.

#include <string>
#include <vector>

#include "distributed/engine.h"

namespace hb::distributed::two_level {

/// Where the ranks of a group are.
struct Layout {
  std::vector<std::vector<int>> hosts;  // the ranks of each host in rising order; hosts by their first rank
  int host = 0, place = 0;              // of this rank

  /// `names`: each rank's host.
  Layout(const std::vector<std::string>& names, int rank);
  /// Hosts that have several ranks, among several hosts: there is something to gain.
  bool worth_it() const;
  /// All hosts have as many ranks: place q of each host sums share q.
  bool even() const;
  int ranks_here() const { return static_cast<int>(hosts[static_cast<size_t>(host)].size()); }
};

class TwoLevelEngine : public Engine {
 public:
  /// `inside`: the ranks of this host. `between`: the ranks of this rank's place on all hosts where the layout is even,
  /// else the first of each host (null on others). `all`: all ranks, for what has no two levels.
  TwoLevelEngine(Layout layout, std::shared_ptr<Engine> inside, std::shared_ptr<Engine> between,
                 std::shared_ptr<Engine> all);
  std::string name() const override { return inside_->name() + " and " + all_->name(); }

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
  template <class F>
  void guarded(const std::vector<int>& ranks, const F& step);
  void sum_shares(const Call& call, unsigned char* data, size_t count);
  void sum_at_firsts(const Call& call, void* data, size_t count);
  std::vector<int> ranks_between() const;

  Layout layout_;
  std::shared_ptr<Engine> inside_, between_, all_;
};

}  // namespace hb::distributed::two_level
