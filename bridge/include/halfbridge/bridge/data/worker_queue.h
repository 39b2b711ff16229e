#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <halfbridge/error.h>

namespace hb::bridge::data::detail {

/// A blocking queue between threads.
template <class T>
class Queue {
 public:
  void push(T value) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      values_.push_back(std::move(value));
    }
    filled_.notify_one();
  }
  /// Waits for a value; throws after `timeout`.
  T pop(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto ready = [this] { return !values_.empty(); };
    if (timeout) {
      HB_CHECK(filled_.wait_for(lock, *timeout, ready),
               "Timeout in DataLoader queue while waiting for next batch (timeout was ", timeout->count(), " ms)");
    } else {
      filled_.wait(lock, ready);
    }
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }
  /// Empties the queue and returns how many values there were.
  size_t clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    const size_t count = values_.size();
    values_.clear();
    return count;
  }

 private:
  std::deque<T> values_;
  std::mutex mutex_;
  std::condition_variable filled_;
};

/// Requests on their way to the workers of a data loader, and results on their way back. Only the two functions that
/// say so are for workers.
template <class Request, class Batch>
class WorkerQueue {
 public:
  struct Result {
    size_t number = 0;
    std::optional<Batch> batch;
    std::exception_ptr error;
  };
  explicit WorkerQueue(bool ordered) : ordered_(ordered) {}

  void push(Request request);
  /// Ends one worker.
  void push_quit();
  /// Results that workers still owe.
  size_t in_flight() const { return in_flight_; }
  /// The next result, or nullopt when nothing is under way. A timeout loses nothing: one may ask again.
  std::optional<Result> pop(std::optional<std::chrono::milliseconds> timeout);
  /// Drops requests that no worker has begun, waits for the others and drops their results.
  void drain();

  /// For workers: runs jobs until told to quit.
  template <class Work>
  void work(const Work& fetch) {
    while (std::optional<Job> job = next_job()) {
      Result result;
      result.number = job->number;
      try {
        result.batch = fetch(std::move(*job->request));
      } catch (...) {
        result.error = std::current_exception();
      }
      finish(std::move(result));
    }
  }

 private:
  struct Job {
    size_t number = 0;
    std::optional<Request> request;  // none: quit
  };
  std::optional<Job> next_job();
  void finish(Result result);

  const bool ordered_;
  size_t next_job_ = 0, next_result_ = 0, in_flight_ = 0;
  Queue<Job> jobs_;
  Queue<Result> results_;
  std::map<size_t, Result> early_;
};

// Outside the class, so that the library's instantiations for the usual batches serve every program.
template <class Request, class Batch>
void WorkerQueue<Request, Batch>::push(Request request) {
  jobs_.push({next_job_++, std::move(request)});
  ++in_flight_;
}

template <class Request, class Batch>
void WorkerQueue<Request, Batch>::push_quit() {
  jobs_.push({});
}

template <class Request, class Batch>
auto WorkerQueue<Request, Batch>::pop(std::optional<std::chrono::milliseconds> timeout) -> std::optional<Result> {
  while (true) {
    if (auto early = early_.find(next_result_); early != early_.end()) {
      std::optional<Result> result = std::move(early->second);
      early_.erase(early);
      ++next_result_;
      return result;
    }
    if (in_flight_ == 0) return std::nullopt;
    Result result = results_.pop(timeout);
    --in_flight_;
    if (!ordered_) return result;
    early_.emplace(result.number, std::move(result));
  }
}

template <class Request, class Batch>
void WorkerQueue<Request, Batch>::drain() {
  in_flight_ -= jobs_.clear();
  for (; in_flight_ > 0; --in_flight_) results_.pop();
  early_.clear();
  next_job_ = next_result_ = 0;
}

template <class Request, class Batch>
auto WorkerQueue<Request, Batch>::next_job() -> std::optional<Job> {
  Job job = jobs_.pop();
  if (!job.request) return std::nullopt;
  return job;
}

template <class Request, class Batch>
void WorkerQueue<Request, Batch>::finish(Result result) {
  results_.push(std::move(result));
}

}  // namespace hb::bridge::data::detail
