#pragma once
// <c10/core/thread_pool.h>: a program's own queue of tasks, beside the threads of the library's loops.

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include <halfbridge/macros.h>

namespace hb::bridge {
inline namespace api {

class HB_API TaskThreadPoolBase {
 public:
  virtual ~TaskThreadPoolBase() = default;
  /// Runs the task on one of the pool's threads, soon.
  virtual void run(std::function<void()> task) = 0;
  virtual size_t size() const = 0;
  /// Threads that have nothing to do.
  virtual size_t numAvailable() const = 0;
  virtual bool inThreadPool() const = 0;
  /// The number of the machine's threads.
  static size_t defaultNumThreads();
};

/// `pool_size` threads (below zero: defaultNumThreads()), which end with the pool; tasks that have not begun by then
/// are dropped. What a task throws is written as a warning.
class HB_API ThreadPool : public TaskThreadPoolBase {
 public:
  explicit ThreadPool(int pool_size, int numa_node_id = -1, const std::function<void()>& init_thread = nullptr);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t size() const override { return threads_.size(); }
  size_t numAvailable() const override;
  bool inThreadPool() const override;
  void run(std::function<void()> task) override;
  /// Returns when every task that was given is done.
  void waitWorkComplete();

 private:
  void work(const std::function<void()>& init_thread);
  mutable std::mutex mutex_;
  std::condition_variable more_, done_;
  std::queue<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  size_t busy_ = 0;
  bool ends_ = false;
};
using TaskThreadPool = ThreadPool;

}  // namespace api
}  // namespace hb::bridge
