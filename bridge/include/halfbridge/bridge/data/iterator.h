#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <halfbridge/error.h>

namespace hb::bridge::data {

/// Walks over the batches of a data loader, once and forwards. Copies share the position. The first batch is fetched
/// when it is first asked for.
template <class Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;
  using Producer = std::function<std::optional<Batch>()>;

  /// The end.
  Iterator() = default;
  explicit Iterator(Producer next_batch) : position_(std::make_shared<Position>()) {
    position_->next_batch = std::move(next_batch);
  }

  Iterator& operator++() {
    HB_CHECK(position_, "Incrementing the DataLoader's past-the-end iterator is not allowed");
    HB_CHECK(position_->current(), "Attempted to increment iterator past the end");
    position_->batch = position_->next_batch();
    return *this;
  }
  Batch& operator*() {
    HB_CHECK(position_, "Dereferencing the DataLoader's past-the-end iterator is not allowed");
    HB_CHECK(position_->current(), "Attempted to dereference iterator that was past the end");
    return *position_->batch;
  }
  Batch* operator->() { return &**this; }

  /// An iterator equals the end when no batch is left.
  bool operator==(const Iterator& other) const {
    if (position_ == other.position_) return true;
    if (!position_) return !other.position_->current();
    return !other.position_ && !position_->current();
  }
  bool operator!=(const Iterator& other) const { return !(*this == other); }

 private:
  struct Position {
    Producer next_batch;
    std::optional<Batch> batch;
    bool started = false;
    const std::optional<Batch>& current() {
      if (!started) {
        batch = next_batch();
        started = true;
      }
      return batch;
    }
  };
  std::shared_ptr<Position> position_;
};

}  // namespace hb::bridge::data
