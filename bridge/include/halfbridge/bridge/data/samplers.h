#pragma once
// The order in which a data loader takes examples.

#include <cstddef>
#include <optional>
#include <vector>

#include <halfbridge/tensor.h>

namespace hb::bridge::serialize {
class OutputArchive;
class InputArchive;
}  // namespace hb::bridge::serialize

namespace hb::bridge::data::samplers {

/// Yields batch requests, by default vectors of indices.
template <class BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;

  virtual ~Sampler() = default;
  /// Begins a new epoch, with a new size if one is given.
  virtual void reset(std::optional<size_t> new_size) = 0;
  /// The next request, or nullopt at the end of the epoch.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

template <class BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Sampler<BatchRequest>& sampler) {
  sampler.save(archive);
  return archive;
}
template <class BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Sampler<BatchRequest>& sampler) {
  sampler.load(archive);
  return archive;
}

/// Base of request types of one's own.
struct HB_API CustomBatchRequest {
  CustomBatchRequest() = default;
  CustomBatchRequest(const CustomBatchRequest&) = default;
  CustomBatchRequest(CustomBatchRequest&&) noexcept = default;
  CustomBatchRequest& operator=(const CustomBatchRequest&) = default;
  virtual ~CustomBatchRequest();
  /// The number of elements that the request asks for.
  virtual size_t size() const = 0;
};

/// A new permutation each epoch, drawn from the default generator when the sampler is made and at each reset.
class HB_API RandomSampler : public Sampler<> {
 public:
  explicit RandomSampler(int64_t size, Dtype index_dtype = kInt64);
  ~RandomSampler() override;
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return static_cast<size_t>(index_); }

 private:
  Tensor indices_;
  int64_t index_ = 0;
};

/// 0, 1, ..., size - 1.
class HB_API SequentialSampler : public Sampler<> {
 public:
  explicit SequentialSampler(size_t size);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return index_; }

 private:
  size_t size_;
  size_t index_ = 0;
};

namespace detail {
// Of the group that hb::distributed::init() made; 1 and 0 without one.
HB_API size_t group_size();
HB_API size_t group_rank();
}  // namespace detail

/// The share of one of several processes, by default of those of hb::distributed::init(). With allow_duplicates all
/// shares are equally long, indices of the beginning filling up; without, what is left over is dropped.
template <class BatchRequest = std::vector<size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  DistributedSampler(size_t size, size_t num_replicas = detail::group_size(), size_t rank = detail::group_rank(),
                     bool allow_duplicates = true)
      : size_(size), num_replicas_(num_replicas), rank_(rank), allow_duplicates_(allow_duplicates) {}
  /// The epoch is the seed of the order.
  void set_epoch(size_t epoch) { epoch_ = epoch; }
  size_t epoch() const { return epoch_; }

 protected:
  size_t local_sample_count() { return (size_ + (allow_duplicates_ ? num_replicas_ - 1 : 0)) / num_replicas_; }

  size_t size_, num_replicas_, rank_;
  size_t epoch_ = 0;
  bool allow_duplicates_;
};

/// A permutation per epoch, the same in all processes, of which each takes its share.
class HB_API DistributedRandomSampler : public DistributedSampler<> {
 public:
  DistributedRandomSampler(size_t size, size_t num_replicas = detail::group_size(), size_t rank = detail::group_rank(),
                           bool allow_duplicates = true);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return sample_index_; }

 private:
  void populate_indices();

  size_t begin_index_ = 0, end_index_ = 0, sample_index_ = 0;
  std::vector<size_t> all_indices_;
};

/// Each process takes one stretch of 0, 1, ..., size - 1.
class HB_API DistributedSequentialSampler : public DistributedSampler<> {
 public:
  DistributedSequentialSampler(size_t size, size_t num_replicas = detail::group_size(),
                               size_t rank = detail::group_rank(), bool allow_duplicates = true);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept { return sample_index_; }

 private:
  size_t begin_index_ = 0, end_index_ = 0, sample_index_ = 0;
};

/// A request for so many examples, whichever they are.
struct HB_API BatchSize : public CustomBatchRequest {
  explicit BatchSize(size_t size);
  size_t size() const noexcept override { return size_; }
  operator size_t() const noexcept { return size_; }  // NOLINT: implicit as in LibTorch
  size_t size_;
};

/// For streams: asks for batches until epoch_size examples were taken.
class HB_API StreamSampler : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(size_t epoch_size);
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<BatchSize> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  size_t examples_retrieved_so_far_ = 0;
  size_t epoch_size_;
};

}  // namespace hb::bridge::data::samplers
