#pragma once
// The collectives of one group, run one after the other in the order of their calls: by the group's thread, or by a
// thread that waits for one of them.

#include <unistd.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "distributed/engine.h"

namespace hb::distributed {

class WorkQueue;
using Body = std::function<void(Engine& engine, const Call& call)>;
using Hook = std::function<void(std::shared_ptr<WorkInfo>)>;

class CollectiveWork : public Work {
 public:
  CollectiveWork(std::shared_ptr<WorkQueue> queue, Call call, Body body, std::vector<Tensor> outputs);
  bool wait(std::chrono::milliseconds timeout) override;
  std::vector<Tensor> result() override;
  intrusive_ptr<ivalue::Future> getFuture() override;
  intrusive_ptr<ivalue::Future> getFutureResult() override;
  uint64_t getSequencenumber() const override { return call_.number; }
  float getDuration() const override;
  const Call& call() const { return call_; }
  /// Runs it, or ends it with the error. Called once, by the queue.
  void run(Engine& engine, std::exception_ptr error, const Hook& hook);

 private:
  void finish_futures();

  std::shared_ptr<WorkQueue> queue_;
  Call call_;
  Body body_;
  std::vector<Tensor> outputs_;
  std::chrono::steady_clock::time_point started_, finished_;
  intrusive_ptr<ivalue::Future> future_, future_result_;
  bool future_taken_ = false, future_result_taken_ = false;  // by the thread that completes them
};

class WorkQueue : public std::enable_shared_from_this<WorkQueue> {
 public:
  explicit WorkQueue(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}
  virtual ~WorkQueue();
  /// Appends a collective, whose number and deadline it sets. With `async` the group's thread runs it, else the caller.
  virtual intrusive_ptr<Work> add(Call call, Body body, std::vector<Tensor> outputs, bool async);
  /// Runs what stands before `work` and itself, as far as no other thread does.
  void help(CollectiveWork& work);
  virtual void drain();
  /// Ends the thread after what is pending.
  virtual void close();
  uint64_t count() const { return count_; }
  /// In a child of fork(), which has the group's memory and connections and not its thread: whatever it did would be
  /// taken for its parent's.
  bool in_child() const { return getpid() != process_; }
  /// Throws there.
  void check_process(const char* what) const;
  Engine& engine() { return *engine_; }
  std::shared_ptr<Engine> share_engine() { return engine_; }
  void set_hook(Hook hook);
  /// The error after which nothing runs any more.
  std::exception_ptr error();

 private:
  void loop();
  void run_front(std::unique_lock<std::mutex>& lock);

 protected:
  std::shared_ptr<Engine> engine_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  uint64_t count_ = 0;
  std::exception_ptr error_;
  Hook hook_;
  std::thread thread_;

 private:
  const pid_t process_ = getpid();
  std::deque<intrusive_ptr<CollectiveWork>> pending_;
  bool running_ = false;
};

}  // namespace hb::distributed
