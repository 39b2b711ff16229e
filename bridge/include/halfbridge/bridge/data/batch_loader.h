#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <halfbridge/bridge/data/example.h>
#include <halfbridge/bridge/data/iterator.h>
#include <halfbridge/bridge/data/options.h>
#include <halfbridge/bridge/data/worker_queue.h>

namespace hb::bridge::data {
namespace detail {
[[noreturn]] HB_API void empty_request(size_t batch_size);

/// What data loaders are apart from their datasets: iterating over batches, and the queues of the workers that fetch
/// them. Its functions stand outside of the class, so that the library's instantiations for the usual batches serve
/// every program.
template <class Batch, class BatchRequest>
class HB_API BatchLoader : private BatchSource<Batch> {
 public:
  explicit BatchLoader(const DataLoaderOptions& options);
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;
  virtual ~BatchLoader();

  /// Begins an epoch. Throws while another iterator still waits for batches of workers.
  Iterator<Batch> begin();
  Iterator<Batch> end() { return Iterator<Batch>(); }

  /// Ends the workers. Only for the thread in which the loader lives.
  void join();

  const FullDataLoaderOptions& options() const noexcept { return options_; }

 protected:
  /// What the next batch is made of, or nullopt at the end of the epoch.
  virtual std::optional<BatchRequest> get_batch_request() = 0;
  /// A batch made by the calling thread, where there are no workers.
  virtual std::optional<Batch> get_batch(BatchRequest request) = 0;

  virtual void reset();
  void prefetch(size_t jobs);
  std::optional<Batch> next() override;

  struct Job : detail::Job {
    explicit Job(BatchRequest asked) : request(std::move(asked)) {}
    BatchRequest request;
    std::optional<Batch> batch;
  };

  const FullDataLoaderOptions options_;
  WorkerQueue queue_;
};

template <class Batch, class BatchRequest>
BatchLoader<Batch, BatchRequest>::BatchLoader(const DataLoaderOptions& options)
    : options_(options), queue_(options_.enforce_ordering) {}

template <class Batch, class BatchRequest>
BatchLoader<Batch, BatchRequest>::~BatchLoader() {
  join();
}

template <class Batch, class BatchRequest>
Iterator<Batch> BatchLoader<Batch, BatchRequest>::begin() {
  HB_CHECK(queue_.in_flight() == 0,
           "Attempted to get a new DataLoader iterator while another iterator is not yet exhausted");
  reset();
  return Iterator<Batch>(*this);
}

template <class Batch, class BatchRequest>
void BatchLoader<Batch, BatchRequest>::join() {
  queue_.join();
}

template <class Batch, class BatchRequest>
void BatchLoader<Batch, BatchRequest>::reset() {
  queue_.drain();
  prefetch(options_.max_jobs);
}

template <class Batch, class BatchRequest>
void BatchLoader<Batch, BatchRequest>::prefetch(size_t jobs) {
  // Without workers nobody would take the requests, and max_jobs may be set all the same.
  if (options_.workers == 0) return;
  for (; jobs > 0; --jobs) {
    auto request = get_batch_request();
    if (!request) return;
    queue_.push(hb::detail::Owned<detail::Job>(new Job(std::move(*request))));
  }
}

template <class Batch, class BatchRequest>
std::optional<Batch> BatchLoader<Batch, BatchRequest>::next() {
  if (options_.workers == 0) {
    if (auto request = get_batch_request()) return get_batch(std::move(*request));
    return std::nullopt;
  }
  while (hb::detail::Owned<detail::Job> job = queue_.pop(options_.timeout)) {
    if (job->error) throw WorkerException(job->error);
    std::optional<Batch>& batch = static_cast<Job&>(*job).batch;
    if (!batch) continue;
    prefetch(1);
    return std::move(batch);
  }
  return std::nullopt;
}

extern template class BatchLoader<Example<>, std::vector<size_t>>;
extern template class BatchLoader<std::vector<Example<>>, std::vector<size_t>>;

}  // namespace detail
}  // namespace hb::bridge::data
