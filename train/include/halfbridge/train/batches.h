#pragma once
// The batches of an epoch, wherever they come from.

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/autograd.h>
#include <halfbridge/bridge/data/data.h>

namespace hb::train {

/// What a training step is fed.
struct Batch {
  variable_list inputs;
  Tensor target;
};

namespace detail {
template <class T, class = void>
struct IsDataset : std::false_type {};
template <class T>
struct IsDataset<T, std::void_t<typename T::BatchRequestType, decltype(&T::get_batch)>> : std::true_type {};

template <class T>
struct IsUniquePtr : std::false_type {};
template <class T>
struct IsUniquePtr<std::unique_ptr<T>> : std::true_type {};

HB_API Batch to_batch(const Tensor& data, const Tensor& target);
HB_API Batch to_batch(const variable_list& data, const Tensor& target);
template <class D>
Batch to_batch(const bridge::data::Example<D, Tensor>& example) {
  return to_batch(example.data, example.target);
}
template <class D>
Batch to_batch(const std::pair<D, Tensor>& example) {
  return to_batch(example.first, example.second);
}
/// Single examples of an unstacked loader become one batch.
HB_API Batch to_batch(const std::vector<bridge::data::Example<>>& examples);
inline Batch to_batch(const Batch& batch) { return batch; }
}  // namespace detail

/// A source of batches that can be walked over again and again: made of a data loader (or a pointer to one), or of any
/// range of Example, pair<Tensor, Tensor> or Batch, which must outlive it. A random order is drawn when an epoch
/// begins.
class Batches {
 public:
  using Next = std::function<std::optional<Batch>()>;

  template <class Range, class = std::enable_if_t<!std::is_base_of_v<Batches, std::decay_t<Range>> &&
                                                  !detail::IsUniquePtr<std::decay_t<Range>>::value>>
  Batches(Range& range, std::optional<int64_t> batches = std::nullopt) : size_(batches) {  // NOLINT: implicit
    static_assert(!detail::IsDataset<Range>::value,
                  "a dataset has no batches yet: pass make_batches(dataset, batch_size) or a data loader");
    walk(&range);
  }
  template <class Loader>
  Batches(const std::unique_ptr<Loader>& loader, std::optional<int64_t> batches = std::nullopt)  // NOLINT: implicit
      : size_(batches) {
    walk(loader.get());
  }
  explicit Batches(std::function<Next()> begin, std::optional<int64_t> batches = std::nullopt)
      : begin_(std::move(begin)), size_(batches) {}

  /// Begins an epoch.
  Next begin() const { return begin_(); }
  /// Batches in an epoch, where that is known.
  std::optional<int64_t> size() const { return size_; }

 private:
  template <class Range>
  void walk(Range* range) {
    if constexpr (std::is_same_v<Range, std::vector<Batch>>) size_ = static_cast<int64_t>(range->size());
    begin_ = [range]() -> Next {
      using Iterator = decltype(range->begin());
      struct Position {
        Iterator at, end;
        bool started = false;
      };
      auto position = std::make_shared<Position>(Position{range->begin(), range->end()});
      return [position]() -> std::optional<Batch> {
        if (position->started) ++position->at;
        position->started = true;
        if (position->at == position->end) return std::nullopt;
        return detail::to_batch(*position->at);
      };
    };
  }
  std::function<Next()> begin_;
  std::optional<int64_t> size_;
};

/// Batches of a dataset of examples (with `get` and `size`): stacked, in random order unless told otherwise, and a last
/// one that may be smaller. The dataset is copied.
template <class Dataset>
Batches make_batches(Dataset dataset, int64_t batch_size, bool shuffle = true, bool drop_last = false) {
  namespace data = bridge::data;
  HB_CHECK(batch_size >= 1, "[make_batches] expected a batch_size of at least 1, got ", batch_size);
  const auto size = dataset.size();
  HB_CHECK(size.has_value(), "[make_batches] expected a dataset that knows its size");
  const auto options = data::DataLoaderOptions().batch_size(static_cast<size_t>(batch_size)).drop_last(drop_last);
  const int64_t n = static_cast<int64_t>(*size), count = drop_last ? n / batch_size : (n + batch_size - 1) / batch_size;
  auto make = [&](auto loader) {
    std::shared_ptr<std::remove_reference_t<decltype(*loader)>> shared(std::move(loader));
    return Batches(
        [shared]() -> Batches::Next {
          auto inner = Batches(*shared).begin();
          return [shared, inner] { return inner(); };
        },
        count);
  };
  if (shuffle) return make(data::make_data_loader<data::samplers::RandomSampler>(std::move(dataset), options));
  return make(data::make_data_loader<data::samplers::SequentialSampler>(std::move(dataset), options));
}

}  // namespace hb::train
