#pragma once
// Data that is read in chunks (files, say) by threads of the dataset's own.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <halfbridge/bridge/arg.h>
#include <halfbridge/bridge/data/dataset.h>
#include <halfbridge/bridge/data/options.h>
#include <halfbridge/bridge/data/samplers.h>
#include <halfbridge/error.h>

namespace hb::bridge::data::datasets {

/// Reads chunks. A subclass that is given to a ChunkDataset also names its BatchType.
template <class ExampleType_, class ChunkType_ = std::vector<ExampleType_>>
class ChunkDataReader {
 public:
  using ChunkType = ChunkType_;
  using ExampleType = ExampleType_;

  virtual ~ChunkDataReader() = default;
  virtual ChunkType read_chunk(size_t chunk_index) = 0;
  virtual size_t chunk_count() = 0;
  virtual void reset() = 0;
};

/// How a ChunkDataset works. All numbers must be at least 1, and cache_size at least batch_size.
struct HB_API ChunkDatasetOptions {
  ChunkDatasetOptions() = delete;
  ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size = 2048,
                      size_t cross_chunk_shuffle_count = 1);
  /// Threads that read chunks.
  HB_ARG(size_t, preloader_count);
  HB_ARG(size_t, batch_size);
  /// Examples that may wait in memory.
  HB_ARG(size_t, cache_size) = 2048;
  /// Chunks that are read together and shuffled into each other.
  HB_ARG(size_t, cross_chunk_shuffle_count) = 1;
};

namespace detail {
/// Cuts chunks into batches, which wait here until somebody asks for them.
template <class Batch, class ExampleSampler>
class BatchBuffer {
 public:
  BatchBuffer(size_t batch_size, ExampleSampler& sampler, size_t capacity)
      : batch_size_(batch_size), capacity_(capacity), sampler_(sampler) {}

  /// Waits for a full batch, or for the end, when what is left is given out and then nullopt.
  std::optional<Batch> pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    filled_.wait(lock,
                 [this] { return stopped_ || (!items_.empty() && items_.front().error) || examples_ >= batch_size_; });
    if (items_.empty()) return std::nullopt;
    Item item = std::move(items_.front());
    items_.pop_front();
    examples_ -= item.batch.size();
    lock.unlock();
    taken_.notify_all();
    if (item.error) throw WorkerException(item.error);
    return std::move(item.batch);
  }
  void push(Batch chunk) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!wait_for_room(lock)) return;
    const size_t size = chunk.size();
    sampler_.reset(size);
    for (size_t left = size; left > 0;) {
      if (items_.empty() || items_.back().error || items_.back().batch.size() >= batch_size_) {
        items_.emplace_back();
        items_.back().batch.reserve(batch_size_);
      }
      Batch& batch = items_.back().batch;
      const auto indices = sampler_.next(std::min(left, batch_size_ - batch.size()));
      HB_CHECK(indices && indices->size() > 0, "[ChunkDataset] expected ", left,
               " more examples from the sampler, got none");
      for (size_t i : *indices) {
        HB_CHECK_INDEX(i < size, "[ChunkDataset] expected an example index below ", size, ", got ", i);
        batch.emplace_back(std::move(chunk[i]));
      }
      left -= indices->size();
    }
    examples_ += size;
    lock.unlock();
    filled_.notify_all();
  }
  void push(std::exception_ptr error) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!wait_for_room(lock)) return;
    items_.emplace_back();
    items_.back().error = std::move(error);
    lock.unlock();
    filled_.notify_all();
  }
  /// Nothing more will come, or is wanted.
  void stop() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopped_ = true;
    }
    filled_.notify_all();
    taken_.notify_all();
  }

 private:
  struct Item {
    Batch batch;
    std::exception_ptr error;
  };
  bool wait_for_room(std::unique_lock<std::mutex>& lock) {
    taken_.wait(lock, [this] { return stopped_ || examples_ < capacity_; });
    return !stopped_;
  }
  const size_t batch_size_, capacity_;
  ExampleSampler& sampler_;
  size_t examples_ = 0;
  bool stopped_ = false;
  std::deque<Item> items_;
  std::mutex mutex_;
  std::condition_variable filled_, taken_;
};
}  // namespace detail

/// Examples of chunks that threads read ahead: `chunk_sampler` orders the chunks, `example_sampler` the examples in
/// them. The data loader's batch_size must be that of the options.
template <class ChunkReader, class ChunkSampler = samplers::RandomSampler,
          class ExampleSampler = samplers::RandomSampler>
class ChunkDataset final : public StatefulDataset<ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>,
                                                  typename ChunkReader::BatchType, size_t> {
 public:
  using BatchType = std::optional<typename ChunkReader::BatchType>;
  using UnwrappedBatchType = typename ChunkReader::BatchType;
  using BatchRequestType = size_t;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;
  using Preprocessing = std::function<void(UnwrappedBatchType&)>;

  ChunkDataset(ChunkReader chunk_reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler,
               ChunkDatasetOptions options, Preprocessing preprocessing_policy = Preprocessing())
      : reader_(std::move(chunk_reader)),
        chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)),
        options_(options),
        preprocess_(std::move(preprocessing_policy)) {}
  ~ChunkDataset() override { stop_preloaders(); }

  BatchType get_batch(size_t batch_size) override {
    HB_CHECK(buffer_, "Dataset needs to call reset() before calling get_batch().");
    HB_CHECK(batch_size == options_.batch_size(),
             "The requested batch size does not match with the initialized batch size.\n The requested batch size is ",
             batch_size, ", while the dataset is created with batch size equal to ", options_.batch_size());
    return buffer_->pop();
  }
  BatchType get_batch() { return get_batch(options_.batch_size()); }

  void reset() override {
    stop_preloaders();
    if (!std::exchange(loaded_, false)) {
      reader_.reset();
      chunk_sampler_.reset(reader_.chunk_count());
    }
    buffer_ = std::make_unique<Buffer>(options_.batch_size(), example_sampler_, options_.cache_size());
    quit_ = false;
    running_ = options_.preloader_count();
    for (size_t i = 0; i < options_.preloader_count(); ++i) preloaders_.emplace_back([this] { preload(); });
  }
  /// Not known.
  std::optional<size_t> size() const override { return std::nullopt; }
  ChunkSamplerType& chunk_sampler() { return chunk_sampler_; }

  void save(serialize::OutputArchive& archive) const override {
    std::lock_guard<std::mutex> lock(sampler_mutex_);
    chunk_sampler_.save(archive);
  }
  void load(serialize::InputArchive& archive) override {
    std::lock_guard<std::mutex> lock(sampler_mutex_);
    chunk_sampler_.load(archive);
    loaded_ = true;
  }

 private:
  using Buffer = detail::BatchBuffer<UnwrappedBatchType, ExampleSamplerType>;

  std::optional<std::vector<size_t>> next_chunks() {
    std::lock_guard<std::mutex> lock(sampler_mutex_);
    return chunk_sampler_.next(options_.cross_chunk_shuffle_count());
  }
  UnwrappedBatchType read(const std::vector<size_t>& chunks) {
    UnwrappedBatchType data = reader_.read_chunk(chunks[0]);
    for (size_t i = 1; i < chunks.size(); ++i) {
      auto more = reader_.read_chunk(chunks[i]);
      std::move(more.begin(), more.end(), std::back_inserter(data));
    }
    if (preprocess_) preprocess_(data);
    return data;
  }
  void preload() {
    while (!quit_) {
      try {
        const auto chunks = next_chunks();
        if (!chunks) break;
        auto data = read(*chunks);
        if (!data.empty()) buffer_->push(std::move(data));
      } catch (...) {
        buffer_->push(std::current_exception());
      }
    }
    if (--running_ == 0) buffer_->stop();
  }
  void stop_preloaders() {
    if (buffer_) buffer_->stop();
    quit_ = true;
    for (auto& thread : preloaders_) thread.join();
    preloaders_.clear();
  }

  ChunkReader reader_;
  ChunkSamplerType chunk_sampler_;
  ExampleSamplerType example_sampler_;
  const ChunkDatasetOptions options_;
  Preprocessing preprocess_;
  std::unique_ptr<Buffer> buffer_;
  std::vector<std::thread> preloaders_;
  std::atomic<bool> quit_{false};
  std::atomic<size_t> running_{0};
  mutable std::mutex sampler_mutex_;
  bool loaded_ = false;
};

}  // namespace hb::bridge::data::datasets
