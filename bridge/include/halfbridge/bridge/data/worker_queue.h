#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>

#include <halfbridge/macros.h>
#include <halfbridge/owned.h>

namespace hb::bridge::data::detail {

/// A request on its way to a worker of a data loader, and on its way back what became of it. A loader derives its own,
/// with the request and the batch: what is below knows neither, so that the library compiles it once for all programs.
struct HB_API Job {
  virtual ~Job();
  size_t number = 0;
  std::exception_ptr error;
};

/// Makes the batch that a job asks for. Each worker has its own.
struct HB_API Fetcher {
  virtual ~Fetcher();
  virtual void fetch(Job& job) = 0;
};

/// The threads that fetch batches for a data loader, and the queues to them and back. All functions are for the thread
/// in which the loader lives.
class HB_API WorkerQueue {
 public:
  explicit WorkerQueue(bool ordered);
  WorkerQueue(const WorkerQueue&) = delete;
  WorkerQueue& operator=(const WorkerQueue&) = delete;
  ~WorkerQueue();

  void start(std::unique_ptr<Fetcher> fetcher);
  void push(hb::detail::Owned<Job> job);
  /// Jobs whose results workers still owe.
  size_t in_flight() const;
  /// The next job that was done, or null when nothing is under way. A timeout loses nothing: one may ask again.
  hb::detail::Owned<Job> pop(std::optional<std::chrono::milliseconds> timeout);
  /// Drops jobs that no worker has begun, waits for the others and drops their results.
  void drain();
  /// Drains, and ends the workers.
  void join();

 private:
  struct State;
  hb::detail::Owned<State> state_;
};

}  // namespace hb::bridge::data::detail
