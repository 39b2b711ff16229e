#pragma once

#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/bridge/data/example.h>
#include <halfbridge/bridge/data/iterator.h>
#include <halfbridge/bridge/data/options.h>
#include <halfbridge/bridge/data/samplers.h>
#include <halfbridge/bridge/data/worker_queue.h>

namespace hb::bridge::data {

/// What both kinds of data loader share: iterating over batches, and the workers that fetch them.
template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  DataLoaderBase(DataLoaderOptions options, std::unique_ptr<Dataset> main_thread_dataset = nullptr)
      : options_(options), main_thread_dataset_(std::move(main_thread_dataset)), queue_(options_.enforce_ordering) {}
  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;
  virtual ~DataLoaderBase() { join(); }

  /// Begins an epoch. Throws while another iterator still waits for batches of workers.
  Iterator<Batch> begin() {
    HB_CHECK(queue_.in_flight() == 0,
             "Attempted to get a new DataLoader iterator while another iterator is not yet exhausted");
    reset();
    return Iterator<Batch>([this] { return next(); });
  }
  Iterator<Batch> end() { return Iterator<Batch>(); }

  /// Ends the workers. Only for the thread in which the loader lives.
  void join() {
    if (joined_) return;
    queue_.drain();
    for (size_t i = 0; i < workers_.size(); ++i) queue_.push_quit();
    for (auto& worker : workers_) worker.join();
    joined_ = true;
  }

  const FullDataLoaderOptions& options() const noexcept { return options_; }

 protected:
  /// What the next batch is made of, or nullopt at the end of the epoch.
  virtual std::optional<BatchRequestType> get_batch_request() = 0;

  virtual void reset() {
    queue_.drain();
    prefetch(options_.max_jobs);
  }

  void prefetch(size_t jobs) {
    // Without workers nobody would take the requests, and max_jobs may be set all the same.
    if (options_.workers == 0) return;
    for (; jobs > 0; --jobs) {
      auto request = get_batch_request();
      if (!request) return;
      queue_.push(std::move(*request));
    }
  }

  std::optional<Batch> next() {
    if (options_.workers == 0) {
      if (auto request = get_batch_request()) return main_thread_dataset_->get_batch(std::move(*request));
      return std::nullopt;
    }
    while (auto result = queue_.pop(options_.timeout)) {
      if (result->error) throw WorkerException(result->error);
      if (!result->batch) continue;
      prefetch(1);
      return std::move(result->batch);
    }
    return std::nullopt;
  }

  void worker_thread(Dataset& dataset) {
    queue_.work([&](BatchRequestType&& request) { return dataset.get_batch(std::move(request)); });
  }

  const FullDataLoaderOptions options_;
  std::unique_ptr<Dataset> main_thread_dataset_;
  detail::WorkerQueue<BatchRequest, Batch> queue_;
  std::vector<std::thread> workers_;
  bool joined_ = false;
};

namespace detail {
extern template class HB_API WorkerQueue<std::vector<size_t>, Example<>>;
extern template class HB_API WorkerQueue<std::vector<size_t>, std::vector<Example<>>>;
}  // namespace detail

/// A sampler decides what is in a batch; each worker has its own copy of the dataset.
template <class Dataset, class Sampler>
class StatelessDataLoader
    : public DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType> {
 public:
  using super = DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType>;
  using typename super::BatchRequestType;

  StatelessDataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options)
      : super(options), sampler_(std::move(sampler)) {
    for (size_t i = 0; i < this->options_.workers; ++i)
      this->workers_.emplace_back([this, dataset]() mutable { this->worker_thread(dataset); });
    if (this->options_.workers == 0) this->main_thread_dataset_ = std::make_unique<Dataset>(std::move(dataset));
  }

 private:
  void reset() override {
    sampler_.reset(std::nullopt);
    super::reset();
  }
  std::optional<BatchRequestType> get_batch_request() override {
    auto indices = sampler_.next(this->options_.batch_size);
    if (!indices || (this->options_.drop_last && indices->size() < this->options_.batch_size)) return std::nullopt;
    HB_CHECK(indices->size() > 0, "[DataLoader] expected a batch of at least one example, got batch_size ",
             this->options_.batch_size, " and an empty request from the sampler");
    return indices;
  }

  Sampler sampler_;
};

/// The dataset decides what is in a batch; all workers share it.
template <class Dataset>
class StatefulDataLoader
    : public DataLoaderBase<Dataset, typename Dataset::BatchType::value_type, typename Dataset::BatchRequestType> {
 public:
  using super = DataLoaderBase<Dataset, typename Dataset::BatchType::value_type, typename Dataset::BatchRequestType>;
  using typename super::BatchRequestType;

  StatefulDataLoader(Dataset dataset, DataLoaderOptions options)
      : super(options, std::make_unique<Dataset>(std::move(dataset))) {
    for (size_t i = 0; i < this->options_.workers; ++i)
      this->workers_.emplace_back([this] { this->worker_thread(*this->main_thread_dataset_); });
  }
  // The workers use the dataset: they end before it goes.
  ~StatefulDataLoader() override { this->join(); }

 private:
  void reset() override {
    this->main_thread_dataset_->reset();
    super::reset();
  }
  std::optional<BatchRequestType> get_batch_request() override { return this->options_.batch_size; }
};

template <class Dataset, class Sampler>
std::enable_if_t<!Dataset::is_stateful, std::unique_ptr<StatelessDataLoader<Dataset, Sampler>>> make_data_loader(
    Dataset dataset, Sampler sampler, DataLoaderOptions options) {
  return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(std::move(dataset), std::move(sampler), options);
}

/// With a sampler (RandomSampler by default) made for the dataset's size.
template <class Sampler = samplers::RandomSampler, class Dataset>
std::enable_if_t<!Dataset::is_stateful && std::is_constructible_v<Sampler, size_t>,
                 std::unique_ptr<StatelessDataLoader<Dataset, Sampler>>>
make_data_loader(Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  const std::optional<size_t> size = dataset.size();
  HB_CHECK(size.has_value(), "Expected the dataset to be sized in order to construct the Sampler");
  return make_data_loader(std::move(dataset), Sampler(*size), options);
}

template <class Dataset, class = std::enable_if_t<Dataset::is_stateful>>
std::unique_ptr<StatefulDataLoader<Dataset>> make_data_loader(Dataset dataset,
                                                              DataLoaderOptions options = DataLoaderOptions()) {
  return std::make_unique<StatefulDataLoader<Dataset>>(std::move(dataset), options);
}

}  // namespace hb::bridge::data
