#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hb::cpu {

/// The first ones of many in the order. Most are only compared with one that as many are before; the others are kept
/// until there are twice as many as are wanted.
template <class E, class Compare>
class FirstOf {
 public:
  FirstOf(int64_t count, const Compare& before) : count_(count), before_(before) { kept_.reserve(2 * count); }

  /// Whether it may be one of them.
  bool add(const E& e) {
    if (full_ && !before_(e, last())) return false;
    kept_.push_back(e);
    if (static_cast<int64_t>(kept_.size()) < 2 * count_) return true;
    std::nth_element(kept_.begin(), kept_.begin() + count_ - 1, kept_.end(), before_);
    kept_.resize(count_);
    full_ = true;
    return true;
  }
  bool is_full() const { return full_; }
  /// Of full ones: nothing behind it is one of them.
  const E& last() const { return kept_[count_ - 1]; }
  /// In any order, and some more.
  std::vector<E>& kept() { return kept_; }

 private:
  const int64_t count_;
  const Compare before_;
  std::vector<E> kept_;
  bool full_ = false;
};

}  // namespace hb::cpu
