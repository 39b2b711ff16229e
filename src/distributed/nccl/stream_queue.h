#pragma once
// The collectives of an NCCL group: each is queued in a stream by the thread that calls it. A watchdog looks at what is
// on its way.

#include <deque>
#include <memory>

#include "distributed/nccl/engine.h"
#include "distributed/nccl/stream_work.h"

namespace hb::distributed::nccl {

/// What follows when a collective fails (TORCH_NCCL_ASYNC_ERROR_HANDLING, by number): nothing; the process ends; the
/// communicators end, and calls throw; the process ends at once (the default, as PyTorch's).
enum class ErrorHandling : int { none = 0, tear_down = 1, clean_up_only = 2, skip_clean_up = 3 };

class StreamQueue : public WorkQueue {
 public:
  StreamQueue(std::shared_ptr<NcclEngine> engine, intrusive_ptr<Store> store);
  ~StreamQueue() override;
  intrusive_ptr<Work> add(Call call, Body body, std::vector<Tensor> outputs, bool async) override;
  /// A message; between start_coalescing and end_coalescing its place in a row of them.
  intrusive_ptr<Work> add_message(Call call, bool sends, int peer, Tensor tensor);
  void start_coalescing();
  /// One Work for all that was called since; null if nothing was.
  intrusive_ptr<Work> end_coalescing();
  void drain() override;
  void close() override;

 private:
  struct Deferred {
    Call call;
    Body body;
    std::vector<Tensor> outputs;
    int peer = -1;  // of a message
    bool sends = false;
    Tensor message;
  };
  NcclEngine& nccl() { return static_cast<NcclEngine&>(*engine_); }
  void number(Call& call);
  void compare(const Call& call);
  template <class Run>
  intrusive_ptr<Work> launch(const Call& call, Lane& lane, std::vector<Tensor> outputs, std::shared_ptr<void> kept,
                             bool on_own_stream, const Run& run);
  void run_deferred(const std::vector<Deferred>& all);
  void watch(intrusive_ptr<StreamWork> work);

  // The watchdog.
  void look();
  void look_once();
  void fail_all(const std::string& why);
  std::string blame(const Call& call);
  void answer();
  std::string status();

  intrusive_ptr<Store> store_, watch_store_;
  ErrorHandling handling_;
  bool coalescing_ = false;
  std::shared_ptr<std::vector<Deferred>> deferred_;
  std::deque<intrusive_ptr<StreamWork>> on_their_way_;
  std::string last_call_ = "nothing";
  Deadline next_answer_{};
  bool answered_ = false;
};

}  // namespace hb::distributed::nccl
