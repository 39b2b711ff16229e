#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
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

}  // namespace hb::bridge::data::detail
