#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <halfbridge/bridge/data/batch_loader.h>
#include <halfbridge/bridge/data/samplers.h>

namespace hb::bridge::data {

/// What both kinds of data loader share: iterating over batches, and the workers that fetch them.
template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase : public detail::BatchLoader<Batch, BatchRequest> {
  using Loader = detail::BatchLoader<Batch, BatchRequest>;

 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  DataLoaderBase(DataLoaderOptions options, std::unique_ptr<Dataset> main_thread_dataset = nullptr)
      : Loader(options), main_thread_dataset_(std::move(main_thread_dataset)) {}
  // The workers may use the dataset.
  ~DataLoaderBase() override { this->join(); }

 protected:
  std::optional<Batch> get_batch(BatchRequest request) override {
    return main_thread_dataset_->get_batch(std::move(request));
  }

  // With a dataset of its own, or a reference to one that all workers share.
  template <class Data>
  struct Fetcher : detail::Fetcher {
    template <class From>
    explicit Fetcher(From& from) : dataset(from) {}
    void fetch(detail::Job& job) override {
      auto& own = static_cast<typename Loader::Job&>(job);
      own.batch = dataset.get_batch(std::move(own.request));
    }
    Data dataset;
  };

  std::unique_ptr<Dataset> main_thread_dataset_;
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
    if (indices->size() == 0) detail::empty_request(this->options_.batch_size);
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
  return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(std::move(dataset), Sampler(*size), options);
}

template <class Dataset, class = std::enable_if_t<Dataset::is_stateful>>
std::unique_ptr<StatefulDataLoader<Dataset>> make_data_loader(Dataset dataset,
                                                              DataLoaderOptions options = DataLoaderOptions()) {
  return std::make_unique<StatefulDataLoader<Dataset>>(std::move(dataset), options);
}

}  // namespace hb::bridge::data
