// Data loaders: data sets, samplers, transforms and options that have been drawn, and errors of data sets.
#include "calls.h"

using random_calls::Inputs;
using random_calls::Tensors;
using torch::Tensor;
namespace data = torch::data;

namespace {

/// Examples 0 to size - 1; of one of them there is an error.
class Numbers : public data::Dataset<Numbers> {
 public:
  Numbers(size_t size, size_t refused) : size_(size), refused_(refused) {}
  data::Example<> get(size_t index) override {
    if (index == refused_) throw std::invalid_argument("no such example");
    const auto x = static_cast<double>(index);
    return {torch::tensor({x, x * x}), torch::tensor(static_cast<int64_t>(index % 3))};
  }
  std::optional<size_t> size() const override { return size_; }

 private:
  size_t size_, refused_;
};

/// Batches until nothing is left.
class Stream : public data::datasets::StatefulDataset<Stream, std::vector<data::TensorExample>> {
 public:
  explicit Stream(int64_t size) : size_(size) {}
  std::optional<std::vector<data::TensorExample>> get_batch(size_t count) override {
    std::vector<data::TensorExample> batch;
    for (; batch.size() < count && at_ < size_; ++at_) batch.emplace_back(torch::full({2}, at_));
    if (batch.empty()) return std::nullopt;
    return batch;
  }
  std::optional<size_t> size() const override { return std::nullopt; }
  void reset() override { at_ = 0; }
  void save(torch::serialize::OutputArchive& archive) const override { archive.write("at", torch::tensor(at_)); }
  void load(torch::serialize::InputArchive& archive) override {
    Tensor at;
    archive.read("at", at);
    at_ = at.item<int64_t>();
  }

 private:
  int64_t size_, at_ = 0;
};

class Chunks : public data::datasets::ChunkDataReader<data::TensorExample> {
 public:
  using BatchType = ChunkType;
  explicit Chunks(size_t count) : count_(count) {}
  ChunkType read_chunk(size_t index) override {
    ChunkType chunk;
    for (size_t i = 0; i <= index; ++i) chunk.emplace_back(torch::tensor(static_cast<int64_t>(10 * index + i)));
    return chunk;
  }
  size_t chunk_count() override { return count_; }
  void reset() override {}

 private:
  size_t count_;
};

data::DataLoaderOptions options_of(Inputs& in, int64_t most_workers) {
  data::DataLoaderOptions options(in.between(1, 5));
  options.drop_last(in.coin());
  if (const int64_t workers = in.between(0, most_workers); workers > 0) {
    options.workers(workers);
    if (in.coin()) options.max_jobs(in.between(1, 4));  // without workers LibTorch loses these
  }
  return options;
}

/// All batches of some passes.
template <class Loader, class Show>
Tensors batches(Inputs& in, Loader& loader, Show show) {
  Tensors shown;
  for (int64_t pass = in.between(1, 2); pass > 0; --pass)
    for (auto& batch : loader) show(batch, shown);
  return shown;
}

template <class Sampler>
Tensors loaded(Inputs& in, size_t size, Sampler sampler) {
  Numbers numbers(size, in.one_of(5) ? in.between(0, 9) : 1000);
  const auto options = options_of(in, 2);
  if (in.coin()) {
    auto stacked = numbers.map(data::transforms::Normalize<>(0.5, 2.0)).map(data::transforms::Stack<>());
    auto loader = data::make_data_loader(std::move(stacked), std::move(sampler), options);
    return batches(in, *loader, [](auto& batch, Tensors& shown) {
      shown.push_back(batch.data);
      shown.push_back(batch.target);
    });
  }
  auto loader = data::make_data_loader(std::move(numbers), std::move(sampler), options);
  return batches(in, *loader, [](auto& batch, Tensors& shown) {
    for (const auto& example : batch) shown.push_back(example.data);
  });
}

Tensors sampled(Inputs& in) {
  const size_t size = in.between(0, 12);
  switch (in.between(0, 3)) {
    case 0:
      return loaded(in, size, data::samplers::SequentialSampler(size));
    case 1:
      return loaded(in, size, data::samplers::RandomSampler(size));
    case 2: {
      data::samplers::DistributedSequentialSampler sampler(size, in.between(1, 3), 0, in.coin());
      return loaded(in, size, sampler);
    }
    default: {
      data::samplers::DistributedRandomSampler sampler(size, in.between(1, 3), 0, true);
      sampler.set_epoch(in.between(0, 3));
      return loaded(in, size, sampler);
    }
  }
}

Tensors streamed(Inputs& in) {
  const auto options = options_of(in, 1);  // workers have a copy each
  auto stream = Stream(in.between(0, 9)).map(data::transforms::Stack<data::TensorExample>());
  auto loader = data::make_data_loader(std::move(stream), options);
  return batches(in, *loader, [](auto& batch, Tensors& shown) { shown.push_back(batch.data); });
}

Tensors chunked(Inputs& in) {
  using Sampler = data::samplers::SequentialSampler;
  using Set = data::datasets::ChunkDataset<Chunks, Sampler, Sampler>;
  const size_t count = in.between(1, 4), batch = in.between(1, 5);
  data::datasets::ChunkDatasetOptions options(1, batch, 2 * batch);
  if (in.coin()) options.cross_chunk_shuffle_count(in.between(1, 2));
  auto set = data::datasets::make_shared_dataset<Set>(Chunks(count), Sampler(0), Sampler(0), options);
  auto loader = data::make_data_loader(set, data::DataLoaderOptions(batch).workers(in.between(0, 1)));
  return batches(in, *loader, [](auto& batch, Tensors& shown) {
    for (const auto& example : batch) shown.push_back(example.data);
  });
}

}  // namespace

DRAWN(sampled(in))
DRAWN(streamed(in))
DRAWN(chunked(in))
