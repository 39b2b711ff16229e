#pragma once
// Batches that are on their way to a GPU before the step asks for them.
//
//   for (auto& batch : hb::cuda::sent_ahead(*loader, torch::kCUDA)) step(batch.data, batch.target);
//
// While the step computes on one batch, the loader makes the next, which is pinned and copied on a stream of its own.

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfbridge/bridge/data/example.h>
#include <halfbridge/tensor.h>

namespace hb::cuda {

/// Copies tensors to a device. To a GPU they go through pinned memory and on a stream of the sender's own, so that they
/// move beside what other streams compute, and the host waits for nothing.
class HB_API Sender {
 public:
  /// Throws where there is no such device.
  explicit Sender(const Device& device);
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  /// The tensor on the device; itself where it is there already, or is undefined. Not to be read before receive().
  Tensor send(const Tensor& tensor);
  /// What the current stream is asked for from here on comes after all that was sent, and may read `tensor`.
  void receive(const Tensor& tensor);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace detail {

/// Calls f for each tensor of a batch: a tensor, an example, or lists and pairs of them.
struct EachTensor {
  template <class F>
  static void of(Tensor& tensor, const F& f) {
    f(tensor);
  }
  template <class D, class T, class F>
  static void of(bridge::data::Example<D, T>& example, const F& f) {
    of(example.data, f);
    if constexpr (!std::is_void_v<T>) of(example.target, f);
  }
  template <class T, class F>
  static void of(std::vector<T>& list, const F& f) {
    for (T& item : list) of(item, f);
  }
  template <class A, class B, class F>
  static void of(std::pair<A, B>& both, const F& f) {
    of(both.first, f), of(both.second, f);
  }
  template <class T, class F>
  static void of(T&, const F&) {
    static_assert(!std::is_class_v<T> || std::is_same_v<T, std::string>,
                  "sent_ahead() knows batches of tensors, examples, vectors and pairs of them");
  }
};

}  // namespace detail

/// Walks once over the batches of `loader`, whose iterators end where they equal end(). Made by sent_ahead().
template <class Loader>
class SentAhead {
 public:
  using Batch = std::decay_t<decltype(*std::declval<Loader&>().begin())>;

  SentAhead(Loader& loader, const Device& device) : state_(std::make_shared<State>(loader, device)) {}

  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Batch;
    using pointer = Batch*;
    using reference = Batch&;
    using iterator_category = std::input_iterator_tag;
    Iterator() = default;
    Batch& operator*() const { return *state_->current; }
    Batch* operator->() const { return &*state_->current; }
    Iterator& operator++() { return state_->advance(), *this; }
    bool operator==(const Iterator& o) const { return ends() == o.ends(); }
    bool operator!=(const Iterator& o) const { return !(*this == o); }

   private:
    friend SentAhead;
    explicit Iterator(typename SentAhead::State* state) : state_(state) {}
    bool ends() const { return !state_ || !state_->current; }
    typename SentAhead::State* state_ = nullptr;
  };

  /// Begins an epoch of the loader.
  Iterator begin() { return state_->begin(), Iterator(state_.get()); }
  Iterator end() { return Iterator(); }

 private:
  struct State {
    State(Loader& from, const Device& device) : loader(from), sender(device) {}
    void begin() {
      current.reset(), next.reset();
      at.emplace(loader.begin()), last.emplace(loader.end());
      if (*at != *last) fetch();
      advance();
    }
    void advance() {
      current = std::move(next);
      next.reset();
      if (!current) return;
      detail::EachTensor::of(*current, [this](Tensor& t) { sender.receive(t); });
      if (++*at != *last) fetch();
    }
    void fetch() {
      next.emplace(std::move(**at));
      detail::EachTensor::of(*next, [this](Tensor& t) { t = sender.send(t); });
    }
    Loader& loader;
    Sender sender;
    std::optional<decltype(std::declval<Loader&>().begin())> at;
    std::optional<decltype(std::declval<Loader&>().end())> last;
    std::optional<Batch> current, next;
  };
  std::shared_ptr<State> state_;
};

/// The loader's batches on `device`, one of them sent ahead. The loader (or range) outlives the result. Random numbers
/// that the loader draws for a batch are drawn one batch earlier than without this. On the CPU batches are copied where
/// they are elsewhere, and nothing else happens.
template <class Loader>
SentAhead<Loader> sent_ahead(Loader& loader, const Device& device) {
  return SentAhead<Loader>(loader, device);
}

}  // namespace hb::cuda
