#include <halfbridge/bridge/thread_pool.h>

#include <algorithm>
#include <exception>
#include <utility>

#include <halfbridge/bridge/warning.h>

namespace hb::bridge {
inline namespace api {

size_t TaskThreadPoolBase::defaultNumThreads() { return std::max(1U, std::thread::hardware_concurrency()); }

ThreadPool::ThreadPool(int pool_size, int /*numa_node_id*/, const std::function<void()>& init_thread) {
  const size_t count = pool_size < 0 ? defaultNumThreads() : static_cast<size_t>(pool_size);
  // Under the lock: inThreadPool() of a first task reads the list.
  const std::lock_guard<std::mutex> lock(mutex_);
  threads_.reserve(count);
  for (size_t i = 0; i < count; ++i) threads_.emplace_back([this, init_thread] { work(init_thread); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  more_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

size_t ThreadPool::numAvailable() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return threads_.size() - busy_;
}

bool ThreadPool::inThreadPool() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(threads_.begin(), threads_.end(),
                     [](const std::thread& thread) { return thread.get_id() == std::this_thread::get_id(); });
}

void ThreadPool::run(std::function<void()> task) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (threads_.empty()) throw Error("[ThreadPool.run] expected a pool with threads, got one of size 0");
    tasks_.push(std::move(task));
  }
  more_.notify_one();
}

void ThreadPool::waitWorkComplete() {
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, [this] { return tasks_.empty() && busy_ == 0; });
}

void ThreadPool::work(const std::function<void()>& init_thread) {
  if (init_thread) init_thread();
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    more_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
    if (ends_) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop();
    ++busy_;
    lock.unlock();
    try {
      task();
    } catch (const std::exception& e) {
      warn(Warning({__func__, __FILE__, __LINE__}, hb::detail::str("Exception in thread pool task: ", e.what())));
    }
    task = nullptr;  // what it holds goes before the pool says that it is done
    lock.lock();
    --busy_;
    if (tasks_.empty() && busy_ == 0) done_.notify_all();
  }
}

}  // namespace api
}  // namespace hb::bridge
