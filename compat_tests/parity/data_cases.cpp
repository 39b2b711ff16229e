#include <chrono>
#include <sstream>
#include <thread>

#include "parity/case.h"

using torch::Tensor;
namespace data = torch::data;

namespace {

// Example i is (i, -i).
struct Numbers : data::datasets::Dataset<Numbers> {
  explicit Numbers(int64_t n) : n(n) {}
  data::Example<> get(size_t index) override {
    const auto i = static_cast<int64_t>(index);
    return {torch::full({2}, static_cast<double>(i)), torch::tensor(-i)};
  }
  std::optional<size_t> size() const override { return n; }
  int64_t n;
};

using Stack = data::transforms::Stack<>;

// What a loader gives in one epoch: targets, and the sizes of the batches.
template <class Loader>
void record(parity::Case& c, const std::string& name, Loader& loader) {
  std::vector<Tensor> targets;
  std::vector<int64_t> sizes;
  for (auto& batch : loader) {
    targets.push_back(batch.target);
    sizes.push_back(batch.data.size(0));
    c.check(batch.data.select(1, 0).to(torch::kLong).neg().equal(batch.target), "data and target belong together");
  }
  c.out(name + ".targets", targets.empty() ? torch::empty({0}) : torch::cat(targets));
  c.out(name + ".sizes", torch::tensor(sizes, torch::kLong));
}

}  // namespace

PARITY_CASE(data, order) {
  for (size_t workers : {0, 1, 4}) {
    for (bool drop_last : {false, true}) {
      torch::manual_seed(3);
      c.scope("workers" + std::to_string(workers) + (drop_last ? "_drop" : ""), [&] {
        auto options = data::DataLoaderOptions(4).workers(workers).drop_last(drop_last);
        auto random = data::make_data_loader(Numbers(23).map(Stack()), options);
        record(c, "first", *random);
        record(c, "second", *random);
        c.out("generator", torch::rand({3}));
        auto ordered = data::make_data_loader<data::samplers::SequentialSampler>(Numbers(23).map(Stack()), options);
        record(c, "sequential", *ordered);
        record(c, "sequential_again", *ordered);
        auto given = data::make_data_loader(Numbers(10).map(Stack()), data::samplers::RandomSampler(7), options);
        record(c, "sampler", *given);
      });
    }
  }
}

PARITY_CASE(data, options) {
  const data::FullDataLoaderOptions full(data::DataLoaderOptions(5).workers(3));
  c.value("batch_size", static_cast<int64_t>(full.batch_size));
  c.value("max_jobs", static_cast<int64_t>(full.max_jobs));
  c.value("ordering", full.enforce_ordering);
  c.value("drop_last", full.drop_last);
  auto loader = data::make_data_loader(Numbers(9).map(Stack()),
                                       data::DataLoaderOptions(2).workers(2).max_jobs(1).enforce_ordering(true));
  c.value("loader", static_cast<int64_t>(loader->options().max_jobs));
  record(c, "one_job", *loader);
  auto unordered = data::make_data_loader<data::samplers::SequentialSampler>(
      Numbers(9).map(Stack()), data::DataLoaderOptions(1).workers(2).enforce_ordering(false));
  std::vector<int64_t> seen;
  for (auto& batch : *unordered) seen.push_back(batch.target.template item<int64_t>());
  c.out("unordered_sorted", std::get<0>(torch::tensor(seen).sort()));
}

PARITY_CASE(data, iterator) {
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(Numbers(5).map(Stack()), 2);
  auto it = loader->begin();
  c.check(it != loader->end() && it == it, "an iterator that is not at the end");
  c.out("arrow", it->target);
  ++it;
  c.out("star", (*it).target);
  ++it;
  c.out("last", it->target);
  ++it;
  c.check(it == loader->end() && loader->end() == it, "the end");
  c.throws("increment_past_end", [&] { ++it; });
  c.throws("dereference_past_end", [&] { *it; });
  c.throws("increment_end", [&] { ++loader->end(); });
  c.throws("dereference_end", [&] { *loader->end(); });
  auto threaded = data::make_data_loader(Numbers(20).map(Stack()), data::DataLoaderOptions(1).workers(1));
  auto first = threaded->begin();
  c.out("first", first->target);
  c.throws("two_iterators", [&] { threaded->begin(); });
}

namespace {
struct Failing : data::datasets::Dataset<Failing> {
  data::Example<> get(size_t index) override {
    if (index == 3) throw std::invalid_argument("number three");
    return {torch::full({1}, static_cast<double>(index)), torch::tensor(static_cast<int64_t>(index))};
  }
  std::optional<size_t> size() const override { return 6; }
};

struct Slow : data::datasets::Dataset<Slow> {
  data::Example<> get(size_t) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return {torch::zeros({1}), torch::zeros({1})};
  }
  std::optional<size_t> size() const override { return 2; }
};

struct Unsized : data::datasets::Dataset<Unsized> {
  data::Example<> get(size_t) override { return {}; }
  std::optional<size_t> size() const override { return std::nullopt; }
};
}  // namespace

PARITY_CASE(data, errors) {
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(Failing().map(Stack()),
                                                                          data::DataLoaderOptions(1).workers(2));
  std::vector<int64_t> seen;
  std::string message;
  auto it = loader->begin();
  try {
    for (; it != loader->end(); ++it) seen.push_back(it->target.item<int64_t>());
  } catch (const data::WorkerException& e) {
    message = e.what();
    try {
      std::rethrow_exception(e.original_exception);
    } catch (const std::invalid_argument& original) {
      message += std::string(" | ") + original.what();
    }
  }
  c.out("seen", torch::tensor(seen));
  c.text("message", message);
  c.throws("timeout", [&] {
    auto slow = data::make_data_loader(Slow().map(Stack()),
                                       data::DataLoaderOptions(1).workers(1).timeout(std::chrono::milliseconds(10)));
    slow->begin()->target.sum();
  });
  c.throws("unsized", [&] { data::make_data_loader(Unsized().map(Stack())); });
  c.throws("missing_mnist", [&] { data::datasets::MNIST("/nonexistent/folder"); });
}

PARITY_CASE(data, tensor_dataset) {
  auto values = c.randn({5, 3});
  data::datasets::TensorDataset set(values);
  c.value("size", static_cast<int64_t>(*set.size()));
  c.out("get", set.get(2).data);
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      data::datasets::TensorDataset({values[0], values[4]}).map(data::transforms::Stack<data::TensorExample>()), 2);
  for (auto& batch : *loader) c.out("batch", batch.data);
  auto batch = set.get_batch(std::vector<size_t>{4, 0});
  Tensor converted = batch[0];
  c.out("converted", converted);
}

PARITY_CASE(data, transforms) {
  using Example = data::Example<>;
  auto set = data::datasets::TensorDataset(c.rand({4, 3, 2, 2}));
  auto normalized = set.map(data::transforms::Normalize<data::example::NoTarget>({0.1, 0.2, 0.3}, {0.5, 0.6, 0.7}))
                        .map(data::transforms::Stack<data::TensorExample>());
  c.out("normalize", normalized.get_batch(std::vector<size_t>{3, 1}).data);
  auto one = Numbers(6)
                 .map(data::transforms::Normalize<>(0.5, 2.0))
                 .map(data::transforms::TensorLambda<>([](Tensor t) { return t * 2; }))
                 .map(data::transforms::Lambda<Example>([](Example e) { return Example(e.data + 1, e.target - 1); }))
                 .map(data::transforms::BatchLambda<std::vector<Example>>([](std::vector<Example> batch) {
                   batch.pop_back();
                   return batch;
                 }))
                 .map(data::transforms::Collate<Example>([](std::vector<Example> batch) { return batch.back(); }));
  auto result = one.get_batch(std::vector<size_t>{5, 2, 1});
  c.out("data", result.data);
  c.out("target", result.target);
  c.value("size", static_cast<int64_t>(*one.size()));
}

namespace {
template <class Sampler>
void drain(parity::Case& c, const std::string& name, Sampler& sampler, size_t batch) {
  std::vector<int64_t> all;
  while (auto indices = sampler.next(batch))
    for (size_t i : *indices) all.push_back(static_cast<int64_t>(i));
  c.out(name, torch::tensor(all, torch::kLong));
}
}  // namespace

PARITY_CASE(data, samplers) {
  torch::manual_seed(11);
  data::samplers::RandomSampler random(10), narrow(10, torch::kInt32);
  drain(c, "random", random, 3);
  random.reset();
  drain(c, "random_reset", random, 4);
  random.reset(4);
  drain(c, "random_resized", random, 3);
  drain(c, "random_int", narrow, 3);
  data::samplers::SequentialSampler sequential(7);
  drain(c, "sequential", sequential, 3);
  c.value("index", static_cast<int64_t>(sequential.index()));
  sequential.reset(2);
  drain(c, "sequential_resized", sequential, 3);
  data::samplers::StreamSampler stream(10);
  for (int i = 0; i < 3; ++i) c.value("stream" + std::to_string(i), static_cast<int64_t>(stream.next(4)->size()));
  c.check(!stream.next(4), "the stream ends");
  for (bool duplicates : {true, false}) {
    for (size_t rank = 0; rank < 3; ++rank) {
      const auto name = (duplicates ? "dup" : "cut") + std::to_string(rank);
      data::samplers::DistributedSequentialSampler in_order(11, 3, rank, duplicates);
      drain(c, name + "_sequential", in_order, 2);
      data::samplers::DistributedRandomSampler shuffled(11, 3, rank, duplicates);
      drain(c, name + "_random", shuffled, 2);
      shuffled.set_epoch(5);
      shuffled.reset();
      drain(c, name + "_epoch", shuffled, 2);
      c.value(name + "_index", static_cast<int64_t>(shuffled.index()));
    }
  }
}

PARITY_CASE(data, save_samplers) {
  torch::manual_seed(5);
  auto round_trip = [&](const std::string& name, auto sampler, auto other) {
    sampler.next(3);
    std::stringstream stream;
    torch::save(sampler, stream);
    torch::load(other, stream);
    drain(c, name, other, 2);
  };
  using namespace data::samplers;
  round_trip("random", RandomSampler(8), RandomSampler(2));
  round_trip("sequential", SequentialSampler(8), SequentialSampler(8));
  round_trip("distributed", DistributedRandomSampler(9, 2, 1), DistributedRandomSampler(9, 2, 1));
  round_trip("distributed_sequential", DistributedSequentialSampler(9, 2, 1), DistributedSequentialSampler(9, 2, 1));
}

namespace {
// Counts upwards; an epoch has ten numbers.
struct Counter : data::datasets::StatefulDataset<Counter, std::vector<int64_t>> {
  std::optional<std::vector<int64_t>> get_batch(size_t batch_size) override {
    std::vector<int64_t> batch;
    for (size_t i = 0; i < batch_size && next < 10; ++i) batch.push_back(next++);
    if (batch.empty()) return std::nullopt;
    return batch;
  }
  void reset() override { next = 0; }
  std::optional<size_t> size() const override { return std::nullopt; }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}
  int64_t next = 0;
};

struct Stream : data::datasets::StreamDataset<Stream, std::vector<int64_t>> {
  std::vector<int64_t> get_batch(size_t size) override { return std::vector<int64_t>(size, 7); }
  std::optional<size_t> size() const override { return std::nullopt; }
};

struct Squares : data::datasets::BatchDataset<Squares, Tensor> {
  Tensor get_batch(torch::ArrayRef<size_t> indices) override {
    std::vector<int64_t> values;
    for (size_t i : indices) values.push_back(static_cast<int64_t>(i * i));
    return torch::tensor(values);
  }
  std::optional<size_t> size() const override { return 6; }
};
}  // namespace

PARITY_CASE(data, other_datasets) {
  for (size_t workers : {0, 1}) {
    auto loader = data::make_data_loader(Counter(), data::DataLoaderOptions(4).workers(workers));
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::vector<int64_t> all;
      for (auto& batch : *loader) all.insert(all.end(), batch.begin(), batch.end());
      c.out("stateful" + std::to_string(workers) + std::to_string(epoch), torch::tensor(all));
    }
  }
  auto stream = data::make_data_loader(Stream(), data::samplers::StreamSampler(10), data::DataLoaderOptions(4));
  std::vector<int64_t> sizes;
  for (auto& batch : *stream) sizes.push_back(static_cast<int64_t>(batch.size()));
  c.out("stream", torch::tensor(sizes));
  auto shared = data::datasets::make_shared_dataset<Squares>();
  c.value("shared", static_cast<int64_t>(*shared->size()));
  auto squares =
      data::make_data_loader<data::samplers::SequentialSampler>(shared, data::DataLoaderOptions(4).workers(2));
  std::vector<Tensor> batches;
  for (auto& batch : *squares) batches.push_back(batch);
  c.out("squares", torch::cat(batches));
  auto mapped = Counter().map(data::transforms::BatchLambda<std::vector<int64_t>, int64_t>(
      [](std::vector<int64_t> batch) { return batch.back(); }));
  auto mapped_loader = data::make_data_loader(std::move(mapped), data::DataLoaderOptions(3));
  std::vector<int64_t> last;
  for (auto& batch : *mapped_loader) last.push_back(batch);
  c.out("mapped_stateful", torch::tensor(last));
}

namespace {
struct Chunks : data::datasets::ChunkDataReader<int64_t> {
  using BatchType = std::vector<int64_t>;
  BatchType read_chunk(size_t index) override {
    BatchType chunk;
    for (int64_t i = 0; i < 5; ++i) chunk.push_back(static_cast<int64_t>(index) * 5 + i);
    return chunk;
  }
  size_t chunk_count() override { return 4; }
  void reset() override {}
};
}  // namespace

PARITY_CASE(data, chunks) {
  using namespace data::samplers;
  using Ordered = data::datasets::ChunkDataset<Chunks, SequentialSampler, SequentialSampler>;
  auto ordered = data::datasets::make_shared_dataset<Ordered>(Chunks(), SequentialSampler(0), SequentialSampler(0),
                                                              data::datasets::ChunkDatasetOptions(1, 3));
  auto loader = data::make_data_loader(ordered, data::DataLoaderOptions(3));
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<int64_t> all;
    for (auto& batch : *loader) all.insert(all.end(), batch.begin(), batch.end());
    c.out("ordered" + std::to_string(epoch), torch::tensor(all));
  }
  using Random = data::datasets::ChunkDataset<Chunks, RandomSampler, RandomSampler>;
  auto random = data::datasets::make_shared_dataset<Random>(Chunks(), RandomSampler(0), RandomSampler(0),
                                                            data::datasets::ChunkDatasetOptions(2, 3, 6, 2));
  auto random_loader = data::make_data_loader(random, data::DataLoaderOptions(3).workers(1));
  std::vector<int64_t> all;
  for (auto& batch : *random_loader) all.insert(all.end(), batch.begin(), batch.end());
  c.out("random_sorted", std::get<0>(torch::tensor(all).sort()));
  c.throws("batch_size", [&] { data::datasets::ChunkDatasetOptions(1, 0); });
  c.throws("cache", [&] { data::datasets::ChunkDatasetOptions(1, 10, 5); });
  c.throws("reset", [&] { ordered->get_batch(4); });
}
