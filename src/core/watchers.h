#pragma once
// How tools see what a program does, and change it: a list of watchers for each kind of event. A kind is an interface,
// whose callbacks are the events: FunctionWatcher, GraphWatcher, BackwardScaling, MaskWatcher, ModuleWatcher,
// StepWatcher, StepObserver. One contract holds for all of them:
//
// - Any number of watchers may be attached. The outer ones are told of an event first, among equals those that were
//   attached first. The end of what has a beginning is told in the reverse order.
// - Any thread may attach and detach at any time, within a callback too. An event goes to those that are attached when
//   it begins, its end to those that were told of its beginning: a watcher that was detached meanwhile still gets it,
//   and lives until then, for the list shares its ownership.
// - Callbacks run on the thread where the event happens, of several threads at once. No lock is held meanwhile.
// - What a watcher throws reaches the program through the function that was watched: a check may stop the program so.
//   Watchers behind it do not get the event; those that were told of a beginning are told that it failed. A watcher
//   that must not disturb the program catches its own exceptions.
// - What a thread does under `Unwatched`, a watcher's own work as a rule, no watcher sees.
// - While nobody watches, an event costs one branch.

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <halfbridge/macros.h>

namespace hb {

class Unwatched {
 public:
  Unwatched() { ++depth; }
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;
  ~Unwatched() { --depth; }
  static bool active() { return depth != 0; }

 private:
  static inline thread_local constinit int depth = 0;
};

/// The watchers that are told of one event.
template <class Watcher>
class Watching {
 public:
  using List = std::vector<std::shared_ptr<Watcher>>;

  Watching() = default;
  explicit Watching(std::shared_ptr<const List> list) : list_(std::move(list)) {}
  explicit operator bool() const { return HB_UNLIKELY(list_ != nullptr); }

  template <class F>
  void each(const F& tell) const {
    if (*this)
      for (const auto& w : *list_) tell(*w);
  }
  template <class F>
  void each_back(const F& tell) const {
    if (*this)
      for (auto w = list_->rbegin(); w != list_->rend(); ++w) tell(**w);
  }
  /// Tells of a beginning; where a watcher throws, tells those before it that what begins has failed.
  template <class Begin, class Fail>
  void begin(const Begin& tell, const Fail& failed) const {
    if (!*this) return;
    size_t told = 0;
    try {
      for (; told < list_->size(); ++told) tell(*(*list_)[told]);
    } catch (...) {
      while (told-- > 0) failed(*(*list_)[told]);
      throw;
    }
  }

 private:
  std::shared_ptr<const List> list_;  // null: nobody
};

enum class WatchPlace { outer, inner };

template <class Watcher>
class Watchers {
 public:
  static bool any() { return HB_UNLIKELY(attached.load(std::memory_order_acquire) != 0); }
  /// The watchers that see this thread now.
  static Watching<Watcher> now() {
    if (!any() || Unwatched::active()) return {};
    const std::lock_guard lock(state().mutex);
    return Watching<Watcher>(state().list);
  }
  template <class F>
  static void each(const F& tell) {
    if (any()) now().each(tell);
  }

  static void attach(std::shared_ptr<Watcher> watcher, WatchPlace place = WatchPlace::outer) {
    change([&](List& list, size_t& outer) {
      const bool last = place == WatchPlace::inner;
      list.insert(last ? list.end() : list.begin() + static_cast<std::ptrdiff_t>(outer), std::move(watcher));
      if (!last) ++outer;
    });
  }
  /// For a watcher that is never destroyed.
  static void attach(Watcher& watcher, WatchPlace place = WatchPlace::outer) {
    attach(std::shared_ptr<Watcher>(std::shared_ptr<void>(), &watcher), place);
  }
  /// Does nothing where it is not attached.
  static void detach(const Watcher& watcher) {
    change([&](List& list, size_t& outer) {
      for (size_t i = 0; i < list.size(); ++i) {
        if (list[i].get() != &watcher) continue;
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
        if (i < outer) --outer;
        return;
      }
    });
  }

 private:
  using List = typename Watching<Watcher>::List;
  struct State {
    std::mutex mutex;
    std::shared_ptr<const List> list;  // never changed, but replaced; null when empty
    size_t outer = 0;                  // how many of them are outer ones
  };
  static State& state() {
    static State* s = new State;  // never destroyed: threads may compute while the process ends
    return *s;
  }
  template <class F>
  static void change(const F& f) {
    std::shared_ptr<const List> old;  // released when the lock is
    const std::lock_guard lock(state().mutex);
    auto list = std::make_shared<List>(state().list ? *state().list : List());
    f(*list, state().outer);
    attached.store(list->size(), std::memory_order_release);
    old = std::exchange(state().list, list->empty() ? nullptr : std::shared_ptr<const List>(std::move(list)));
  }

  static inline std::atomic<size_t> attached{0};
};

/// A watcher that is attached as long as this lives.
template <class Watcher>
class Attachment {
 public:
  Attachment() = default;
  explicit Attachment(std::shared_ptr<Watcher> watcher, WatchPlace place = WatchPlace::outer)
      : watcher_(std::move(watcher)) {
    Watchers<Watcher>::attach(watcher_, place);
  }
  Attachment(Attachment&& o) noexcept = default;
  Attachment& operator=(Attachment&& o) noexcept {
    std::swap(watcher_, o.watcher_);
    return *this;
  }
  ~Attachment() {
    if (watcher_) Watchers<Watcher>::detach(*watcher_);
  }

 private:
  std::shared_ptr<Watcher> watcher_;
};

}  // namespace hb
