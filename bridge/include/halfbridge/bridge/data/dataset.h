#pragma once
// What a dataset is, and the datasets made of others.

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/array_ref.h>
#include <halfbridge/bridge/data/example.h>

namespace hb::bridge::serialize {
class OutputArchive;
class InputArchive;
}  // namespace hb::bridge::serialize

namespace hb::bridge::data::datasets {

template <class SourceDataset, class AppliedTransform>
class MapDataset;
template <class SourceDataset, class AppliedTransform>
MapDataset<SourceDataset, AppliedTransform> map(SourceDataset dataset, AppliedTransform transform);

namespace detail {
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
}  // namespace detail

/// Yields batches. `Self` is the subclass. A dataset whose Batch is an optional is stateful: it decides itself what
/// comes next, and nullopt ends the epoch.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  static constexpr bool is_stateful = detail::is_optional<BatchType>::value;

  virtual ~BatchDataset() = default;
  virtual Batch get_batch(BatchRequest request) = 0;
  /// Number of examples, where it is known.
  virtual std::optional<size_t> size() const = 0;

  /// This dataset with `transform` applied to each batch.
  template <class TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) & {
    return datasets::map(static_cast<Self&>(*this), std::move(transform));
  }
  template <class TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) && {
    return datasets::map(std::move(static_cast<Self&>(*this)), std::move(transform));
  }
};

/// Yields single examples by index; a batch is a vector of them.
template <class Self, class SingleExample = Example<>>
class HB_API Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  virtual ExampleType get(size_t index) = 0;

  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override;
};
template <class Self, class SingleExample>
std::vector<SingleExample> Dataset<Self, SingleExample>::get_batch(ArrayRef<size_t> indices) {
  std::vector<ExampleType> batch;
  batch.reserve(indices.size());
  for (size_t index : indices) batch.push_back(get(index));
  return batch;
}

/// Yields as many examples as asked for, from a stream that may have no end.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

/// A dataset that keeps a position of its own, which reset() puts back at the beginning of each epoch.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = size_t>
class StatefulDataset : public BatchDataset<Self, std::optional<Batch>, BatchRequest> {
 public:
  virtual void reset() = 0;
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

template <class... Args>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const StatefulDataset<Args...>& dataset) {
  dataset.save(archive);
  return archive;
}
template <class... Args>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, StatefulDataset<Args...>& dataset) {
  dataset.load(archive);
  return archive;
}

namespace detail {
template <bool optional, class T>
using optional_if_t = std::conditional_t<optional, std::optional<T>, T>;
}  // namespace detail

/// A dataset with a transform applied to its batches.
template <class SourceDataset, class AppliedTransform>
class MapDataset
    : public BatchDataset<MapDataset<SourceDataset, AppliedTransform>,
                          detail::optional_if_t<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>,
                          typename SourceDataset::BatchRequestType> {
 public:
  using DatasetType = SourceDataset;
  using TransformType = AppliedTransform;
  using BatchRequestType = typename SourceDataset::BatchRequestType;
  using OutputBatchType = detail::optional_if_t<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>;

  MapDataset(DatasetType dataset, TransformType transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}

  OutputBatchType get_batch(BatchRequestType request) override {
    if constexpr (SourceDataset::is_stateful) {
      auto batch = dataset_.get_batch(std::move(request));
      if (!batch) return std::nullopt;
      return transform_.apply_batch(std::move(*batch));
    } else {
      return transform_.apply_batch(dataset_.get_batch(std::move(request)));
    }
  }
  std::optional<size_t> size() const noexcept override { return dataset_.size(); }
  /// For stateful sources.
  void reset() { dataset_.reset(); }
  const SourceDataset& dataset() noexcept { return dataset_; }
  const AppliedTransform& transform() noexcept { return transform_; }

 private:
  SourceDataset dataset_;
  AppliedTransform transform_;
};

template <class SourceDataset, class AppliedTransform>
MapDataset<SourceDataset, AppliedTransform> map(SourceDataset dataset, AppliedTransform transform) {
  using Batch = typename SourceDataset::BatchType;
  if constexpr (SourceDataset::is_stateful) {
    static_assert(std::is_same_v<typename Batch::value_type, typename AppliedTransform::InputBatchType>,
                  "the transform does not take the dataset's batches");
  } else {
    static_assert(std::is_same_v<Batch, typename AppliedTransform::InputBatchType>,
                  "the transform does not take the dataset's batches");
  }
  return {std::move(dataset), std::move(transform)};
}

/// One dataset shared by all workers; it must be safe to use from several threads.
template <class UnderlyingDataset>
class SharedBatchDataset
    : public BatchDataset<SharedBatchDataset<UnderlyingDataset>, typename UnderlyingDataset::BatchType,
                          typename UnderlyingDataset::BatchRequestType> {
 public:
  using BatchType = typename UnderlyingDataset::BatchType;
  using BatchRequestType = typename UnderlyingDataset::BatchRequestType;

  SharedBatchDataset(std::shared_ptr<UnderlyingDataset> dataset) : dataset_(std::move(dataset)) {}  // NOLINT
  BatchType get_batch(BatchRequestType request) override { return dataset_->get_batch(std::move(request)); }
  std::optional<size_t> size() const override { return dataset_->size(); }
  UnderlyingDataset& operator*() { return *dataset_; }
  const UnderlyingDataset& operator*() const { return *dataset_; }
  UnderlyingDataset* operator->() { return dataset_.get(); }
  const UnderlyingDataset* operator->() const { return dataset_.get(); }
  void reset() { dataset_->reset(); }

 private:
  std::shared_ptr<UnderlyingDataset> dataset_;
};

template <class UnderlyingDataset, class... Args>
SharedBatchDataset<UnderlyingDataset> make_shared_dataset(Args&&... args) {
  return std::make_shared<UnderlyingDataset>(std::forward<Args>(args)...);
}

}  // namespace hb::bridge::data::datasets
