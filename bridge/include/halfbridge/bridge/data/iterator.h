#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include <halfbridge/bridge/data/example.h>
#include <halfbridge/error.h>

namespace hb::bridge::data {

/// Where batches come from, one after the other; nullopt ends them.
template <class Batch>
struct BatchSource {
  virtual std::optional<Batch> next() = 0;

 protected:
  ~BatchSource() = default;
};

/// Walks over the batches of a data loader, once and forwards. Copies share the position. The first batch is fetched
/// when it is first asked for.
template <class Batch>
class HB_API Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;

  /// The end.
  Iterator() = default;
  /// The source must outlive the iterator.
  explicit Iterator(BatchSource<Batch>& source);

  Iterator& operator++();
  Batch& operator*();
  Batch* operator->() { return &**this; }

  /// An iterator equals the end when no batch is left.
  bool operator==(const Iterator& other) const;
  bool operator!=(const Iterator& other) const { return !(*this == other); }

 private:
  struct Position {
    BatchSource<Batch>& source;
    std::optional<Batch> batch;
    bool started = false;
    const std::optional<Batch>& current();
  };
  std::shared_ptr<Position> position_;
};

// Outside the class, so that the library's instantiations for the usual batches serve every program.
template <class Batch>
const std::optional<Batch>& Iterator<Batch>::Position::current() {
  if (!started) {
    batch = source.next();
    started = true;
  }
  return batch;
}

template <class Batch>
Iterator<Batch>::Iterator(BatchSource<Batch>& source) : position_(new Position{source, std::nullopt}) {}

template <class Batch>
Iterator<Batch>& Iterator<Batch>::operator++() {
  HB_CHECK(position_, "Incrementing the DataLoader's past-the-end iterator is not allowed");
  HB_CHECK(position_->current(), "Attempted to increment iterator past the end");
  position_->batch = position_->source.next();
  return *this;
}

template <class Batch>
Batch& Iterator<Batch>::operator*() {
  HB_CHECK(position_, "Dereferencing the DataLoader's past-the-end iterator is not allowed");
  HB_CHECK(position_->current(), "Attempted to dereference iterator that was past the end");
  return *position_->batch;
}

template <class Batch>
bool Iterator<Batch>::operator==(const Iterator& other) const {
  if (position_ == other.position_) return true;
  if (!position_) return !other.position_->current();
  return !other.position_ && !position_->current();
}

extern template class Iterator<Example<>>;
extern template class Iterator<std::vector<Example<>>>;

}  // namespace hb::bridge::data
