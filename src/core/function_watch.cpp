#include "core/function_watch.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include <halfbridge/error.h>

#include "core/watch_threads.h"
#include "core/watchers.h"

namespace hb {

// A thread's first function takes the way of those that are watched, where it learns who watches all threads.
thread_local constinit uint8_t front::active = front::kSeen;
thread_local constinit front::Excluded* front::excluded = nullptr;
constinit std::atomic<uint8_t> front::unusual{0};

namespace {

// "hb::pad" and "add_" as PyTorch names them.
std::string plain_name(std::string_view function) {
  const size_t colon = function.rfind(':');
  if (colon != std::string_view::npos) function.remove_prefix(colon + 1);
  if (!function.empty() && function.back() == '_') function.remove_suffix(1);
  return std::string(function);
}

struct Seer {
  const FunctionWatcher* watcher = nullptr;  // compared, never followed: it may be gone
  bool everything = false;
};
struct Seers {
  std::array<Seer, 8> each{};
  bool has_any() const {
    return std::any_of(each.begin(), each.end(), [](const Seer& s) { return s.watcher; });
  }
  bool has(const FunctionWatcher* w) const {
    return std::any_of(each.begin(), each.end(), [&](const Seer& s) { return s.watcher == w; });
  }
  void set(const FunctionWatcher& w, bool on) {
    if (has(&w) == on) return;
    const FunctionWatcher* from = on ? nullptr : &w;
    const auto place = std::find_if(each.begin(), each.end(), [&](const Seer& s) { return s.watcher == from; });
    HB_CHECK(place != each.end(), "[watch_functions] expected at most ", each.size(), " watchers of a thread");
    *place = on ? Seer{&w, w.sees_everything()} : Seer{};
  }
};

// Who sees the functions of all threads.
struct AllThreads {
  std::mutex mutex;
  Seers seers;
};
AllThreads& all_threads() {
  static AllThreads& only = *new AllThreads;  // threads may begin while the process ends
  return only;
}
constinit std::atomic<uint32_t> changes_of_all{1};

// Who sees the functions of a thread.
struct Sight {
  Seers seers;
  uint32_t settled = 0;      // the last change of those who see all threads that it knows
  bool within_call = false;  // of what a function calls in its turn nothing is seen

  // Those that no longer see all threads are detached, and nobody tells them.
  void settle() {
    if (HB_LIKELY(settled == changes_of_all.load(std::memory_order_acquire))) return;
    const std::lock_guard lock(all_threads().mutex);
    settled = changes_of_all;
    for (const Seer& s : all_threads().seers.each)
      if (s.watcher) seers.set(*s.watcher, true);
    show();
  }

  void show() const {
    using namespace front;
    uint8_t seen = 0;
    if (!within_call)
      for (const Seer& s : seers.each)
        if (s.watcher) seen |= s.everything ? kSeen : kWatched;
    uint8_t& byte = unexcluded();
    byte = static_cast<uint8_t>((byte & ~kSeen) | seen);
  }
};
thread_local constinit Sight sight;

}  // namespace

void watch_functions(const FunctionWatcher& watcher, bool on) {
  sight.settle();
  sight.seers.set(watcher, on);
  sight.show();
}
bool watches_functions(const FunctionWatcher& watcher) {
  sight.settle();
  return sight.seers.has(&watcher);
}

void watch_all_threads(const FunctionWatcher& watcher, bool on) {
  const std::lock_guard lock(all_threads().mutex);
  Seers& seers = all_threads().seers;
  if (seers.has(&watcher) == on) return;
  seers.set(watcher, on);
  ++changes_of_all;
  if (seers.has_any())
    front::unusual |= front::kAllWatched;
  else
    front::unusual &= static_cast<uint8_t>(~front::kAllWatched);
}
void settle_watchers_of_thread() { sight.settle(); }

struct WatchedCall::Told {
  struct One {
    FunctionWatcher* watcher;
    std::shared_ptr<void> begun;
  };
  Watching<FunctionWatcher> watching;  // keeps them alive
  std::vector<One> each;
};

WatchedCall::WatchedCall(const char* function, const char* parameters, bool minor)
    : name(plain_name(function)), told_(std::make_unique<Told>()), parameters_(parameters), minor_(minor) {
  sight.settle();
  sight.within_call = true;
  sight.show();
}

WatchedCall::~WatchedCall() {
  sight.within_call = false;
  sight.show();
  for (auto t = told_->each.rbegin(); t != told_->each.rend(); ++t) t->watcher->abandon(*this, t->begun);
}

void WatchedCall::begin() {
  told_->watching = Watchers<FunctionWatcher>::now();
  told_->watching.each([&](FunctionWatcher& w) {
    if (sight.seers.has(&w) && (!minor_ || w.sees_everything())) told_->each.push_back({&w, w.begin(*this)});
  });
  // None of them is attached any more.
  if (told_->each.empty() && !Unwatched::active() && !(minor_ && told_->watching)) sight.seers = {};
}
void WatchedCall::end(ArrayRef<const Tensor*> results) {
  while (!told_->each.empty()) {
    const Told::One last = std::move(told_->each.back());
    told_->each.pop_back();
    last.watcher->end(*this, last.begun, results);
  }
}

std::string_view WatchedCall::next() {
  const size_t comma = std::min(parameters_.find(','), parameters_.size());
  const std::string_view name = parameters_.substr(0, comma);
  parameters_.remove_prefix(std::min(parameters_.size(), comma + 2));
  return name;
}
void WatchedCall::print(std::string_view parameter, const Scalar& value) { print(parameter, detail::str(value)); }
void WatchedCall::print(std::string_view parameter, IntArrayRef value) { print(parameter, detail::str(value)); }
void WatchedCall::print(std::string_view parameter, std::string_view value) {
  if (!config.empty()) config += ", ";
  config.append(parameter).append("=").append(value);
}

}  // namespace hb
