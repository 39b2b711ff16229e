#pragma once

#include <memory>
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
class DataLoaderBase : private BatchSource<Batch> {
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
    return Iterator<Batch>(*this);
  }
  Iterator<Batch> end() { return Iterator<Batch>(); }

  /// Ends the workers. Only for the thread in which the loader lives.
  void join() { queue_.join(); }

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
      queue_.push(std::make_unique<Job>(std::move(*request)));
    }
  }

  std::optional<Batch> next() override {
    if (options_.workers == 0) {
      if (auto request = get_batch_request()) return main_thread_dataset_->get_batch(std::move(*request));
      return std::nullopt;
    }
    while (std::unique_ptr<detail::Job> job = queue_.pop(options_.timeout)) {
      if (job->error) throw WorkerException(job->error);
      std::optional<Batch>& batch = static_cast<Job&>(*job).batch;
      if (!batch) continue;
      prefetch(1);
      return std::move(batch);
    }
    return std::nullopt;
  }

  struct Job : detail::Job {
    explicit Job(BatchRequest asked) : request(std::move(asked)) {}
    BatchRequest request;
    std::optional<Batch> batch;
  };
  // With a dataset of its own, or a reference to one that all workers share.
  template <class Data>
  struct Fetcher : detail::Fetcher {
    template <class From>
    explicit Fetcher(From& from) : dataset(from) {}
    void fetch(detail::Job& job) override {
      auto& own = static_cast<Job&>(job);
      own.batch = dataset.get_batch(std::move(own.request));
    }
    Data dataset;
  };

  const FullDataLoaderOptions options_;
  std::unique_ptr<Dataset> main_thread_dataset_;
  detail::WorkerQueue queue_;
};

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
      this->queue_.start(std::make_unique<typename super::template Fetcher<Dataset>>(dataset));
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
      this->queue_.start(std::make_unique<typename super::template Fetcher<Dataset&>>(*this->main_thread_dataset_));
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
