#include <halfbridge/bridge/data/samplers.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include <halfbridge/bridge/serialize/archive.h>
#include <halfbridge/distributed/init.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops/factories.h>
#include <halfbridge/ops/random.h>

namespace hb::bridge::data::samplers {

namespace {
void write(serialize::OutputArchive& archive, const std::string& key, size_t value) {
  archive.write(key, scalar_tensor(static_cast<int64_t>(value), kLong), /*is_buffer=*/true);
}
size_t read(serialize::InputArchive& archive, const std::string& key) {
  Tensor value;
  archive.read(key, value, /*is_buffer=*/true);
  const int64_t n = value.item<int64_t>();
  HB_CHECK(n >= 0, "[Sampler] expected '", key, "' to be a position, got ", n);
  return static_cast<size_t>(n);
}
/// As LibTorch's, the keys of the distributed samplers end in an underscore.
constexpr const char *kSampleIndex = "sample_index_", *kEpoch = "epoch_";

void check_rank(size_t num_replicas, size_t rank) {
  HB_CHECK(num_replicas > 0 && rank < num_replicas,
           "[DistributedSampler] expected a rank below num_replicas, got rank ", rank, " of ", num_replicas);
}
}  // namespace

size_t detail::group_size() {
  return distributed::is_initialized() ? static_cast<size_t>(distributed::get_group_size()) : 1;
}
size_t detail::group_rank() { return distributed::is_initialized() ? static_cast<size_t>(distributed::get_rank()) : 0; }

CustomBatchRequest::~CustomBatchRequest() = default;

RandomSampler::RandomSampler(int64_t size, Dtype index_dtype)
    : indices_(randperm(size, TensorOptions(index_dtype).device(kCPU))) {}
RandomSampler::~RandomSampler() = default;

void RandomSampler::reset(std::optional<size_t> new_size) {
  const int64_t size = new_size ? static_cast<int64_t>(*new_size) : indices_.numel();
  indices_ = randperm(size, indices_.options());
  index_ = 0;
}

std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  const auto left = static_cast<size_t>(indices_.numel() - index_);
  if (left == 0) return std::nullopt;
  std::vector<size_t> batch(std::min(batch_size, left));
  const auto count = static_cast<int64_t>(batch.size());
  if (indices_.scalar_type() == kLong) {
    const int64_t* from = indices_.data_ptr<int64_t>() + index_;
    std::copy(from, from + count, batch.begin());
  } else {
    const Tensor wide = indices_.narrow(0, index_, count).to(kLong);
    std::copy(wide.data_ptr<int64_t>(), wide.data_ptr<int64_t>() + count, batch.begin());
  }
  index_ += count;
  return batch;
}

void RandomSampler::save(serialize::OutputArchive& archive) const {
  write(archive, "index", static_cast<size_t>(index_));
  archive.write("indices", indices_, /*is_buffer=*/true);
}
void RandomSampler::load(serialize::InputArchive& archive) {
  const size_t index = read(archive, "index");
  Tensor indices;
  archive.read("indices", indices, /*is_buffer=*/true);
  HB_CHECK(indices.dim() == 1 && is_integral_type(indices.scalar_type(), false) &&
               index <= static_cast<size_t>(indices.numel()),
           "[RandomSampler] expected a list of indices and a position in it, got ", indices.scalar_type(), " of shape ",
           indices.sizes(), " and position ", index);
  indices_ = indices.contiguous();
  index_ = static_cast<int64_t>(index);
}

SequentialSampler::SequentialSampler(size_t size) : size_(size) {}

void SequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  if (index_ >= size_) return std::nullopt;
  std::vector<size_t> batch(std::min(batch_size, size_ - index_));
  std::iota(batch.begin(), batch.end(), index_);
  index_ += batch.size();
  return batch;
}

void SequentialSampler::save(serialize::OutputArchive& archive) const { write(archive, "index", index_); }
void SequentialSampler::load(serialize::InputArchive& archive) { index_ = read(archive, "index"); }

DistributedRandomSampler::DistributedRandomSampler(size_t size, size_t num_replicas, size_t rank, bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  check_rank(num_replicas, rank);
  reset(size_);
}

void DistributedRandomSampler::populate_indices() {
  const size_t local = local_sample_count(), all = num_replicas_ == 1 ? size_ : local * num_replicas_;
  all_indices_.resize(all);
  for (size_t i = 0; i < all; ++i) all_indices_[i] = i % size_;
  begin_index_ = rank_ * local;
  end_index_ = begin_index_ + local;
}

void DistributedRandomSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  populate_indices();
  // The seed is the epoch, so that all processes draw the same order.
  std::mt19937 generator(static_cast<std::mt19937::result_type>(epoch_));
  std::shuffle(all_indices_.begin(), all_indices_.end(), generator);
  sample_index_ = begin_index_;
}

std::optional<std::vector<size_t>> DistributedRandomSampler::next(size_t batch_size) {
  if (sample_index_ == end_index_) return std::nullopt;
  const size_t end = std::min(sample_index_ + batch_size, end_index_);
  std::vector<size_t> batch(all_indices_.begin() + static_cast<std::ptrdiff_t>(sample_index_),
                            all_indices_.begin() + static_cast<std::ptrdiff_t>(end));
  sample_index_ = end;
  return batch;
}

void DistributedRandomSampler::save(serialize::OutputArchive& archive) const {
  write(archive, kSampleIndex, sample_index_);
  write(archive, kEpoch, epoch_);
}
void DistributedRandomSampler::load(serialize::InputArchive& archive) {
  epoch_ = read(archive, kEpoch);
  reset(size_);
  const size_t index = read(archive, kSampleIndex);
  HB_CHECK(begin_index_ <= index && index <= end_index_, "[DistributedRandomSampler] expected a position from ",
           begin_index_, " to ", end_index_, ", got ", index);
  sample_index_ = index;
}

DistributedSequentialSampler::DistributedSequentialSampler(size_t size, size_t num_replicas, size_t rank,
                                                           bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  check_rank(num_replicas, rank);
  reset(size_);
}

void DistributedSequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  begin_index_ = rank_ * local_sample_count();
  end_index_ = begin_index_ + local_sample_count();
  sample_index_ = begin_index_;
}

std::optional<std::vector<size_t>> DistributedSequentialSampler::next(size_t batch_size) {
  if (sample_index_ == end_index_) return std::nullopt;
  const size_t end = std::min(sample_index_ + batch_size, end_index_);
  std::vector<size_t> batch;
  for (size_t i = sample_index_; i < end; ++i) batch.push_back(i % size_);
  sample_index_ = end;
  return batch;
}

void DistributedSequentialSampler::save(serialize::OutputArchive& archive) const {
  write(archive, kSampleIndex, sample_index_);
}
void DistributedSequentialSampler::load(serialize::InputArchive& archive) {
  const size_t index = read(archive, kSampleIndex);
  HB_CHECK(begin_index_ <= index && index <= end_index_, "[DistributedSequentialSampler] expected a position from ",
           begin_index_, " to ", end_index_, ", got ", index);
  sample_index_ = index;
}

BatchSize::BatchSize(size_t size) : size_(size) {}

StreamSampler::StreamSampler(size_t epoch_size) : epoch_size_(epoch_size) {}

void StreamSampler::reset(std::optional<size_t> new_size) {
  epoch_size_ = new_size.value_or(epoch_size_);
  examples_retrieved_so_far_ = 0;
}

std::optional<BatchSize> StreamSampler::next(size_t batch_size) {
  if (examples_retrieved_so_far_ >= epoch_size_) return std::nullopt;
  const size_t size = std::min(batch_size, epoch_size_ - examples_retrieved_so_far_);
  examples_retrieved_so_far_ += size;
  return BatchSize(size);
}

void StreamSampler::save(serialize::OutputArchive& archive) const {
  write(archive, "examples_retrieved_so_far", examples_retrieved_so_far_);
}
void StreamSampler::load(serialize::InputArchive& archive) {
  examples_retrieved_so_far_ = read(archive, "examples_retrieved_so_far");
}

}  // namespace hb::bridge::data::samplers
