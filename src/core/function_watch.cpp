#include "core/function_watch.h"

#include <algorithm>
#include <array>
#include <mutex>

#include <halfbridge/error.h>

#include "core/watch_threads.h"
#include "core/watchers.h"

namespace hb {

// A thread's first function takes the way of those that are watched, where it learns who watches new threads.
thread_local constinit uint8_t front::active = front::kWatched;
thread_local constinit front::Excluded* front::excluded = nullptr;

namespace {

// "hb::pad" and "add_" as PyTorch names them.
std::string plain_name(std::string_view function) {
  const size_t colon = function.rfind(':');
  if (colon != std::string_view::npos) function.remove_prefix(colon + 1);
  if (!function.empty() && function.back() == '_') function.remove_suffix(1);
  return std::string(function);
}

using WatcherList = std::array<const FunctionWatcher*, 8>;

void replace(WatcherList& list, const FunctionWatcher* from, const FunctionWatcher* to) {
  const auto place = std::find(list.begin(), list.end(), from);
  HB_CHECK(place != list.end(), "[watch_functions] expected at most ", list.size(), " watchers of a thread");
  *place = to;
}

// Who sees the functions of threads that have called none yet.
struct NewThreads {
  std::mutex mutex;
  WatcherList watchers{};
};
NewThreads& new_threads() {
  static NewThreads& only = *new NewThreads;  // threads may begin while the process ends
  return only;
}

// Who sees the functions of a thread. The pointers are compared, never followed: a watcher may be gone.
struct Sight {
  WatcherList watchers{};
  bool settled = false;      // it knows who watches new threads
  bool within_call = false;  // of what a function calls in its turn nothing is seen

  void settle() {
    if (settled) return;
    settled = true;
    const std::lock_guard lock(new_threads().mutex);
    watchers = new_threads().watchers;
  }

  bool has(const FunctionWatcher* w) const { return std::find(watchers.begin(), watchers.end(), w) != watchers.end(); }
  void replace(const FunctionWatcher* from, const FunctionWatcher* to) {
    hb::replace(watchers, from, to);
    show();
  }
  void show() const {
    using namespace front;
    const bool seen =
        !within_call && std::any_of(watchers.begin(), watchers.end(), [](const auto* w) { return w != nullptr; });
    uint8_t& byte = unexcluded();
    byte = static_cast<uint8_t>(seen ? byte | kWatched : byte & ~kWatched);
  }
};
thread_local constinit Sight sight;

}  // namespace

void watch_functions(const FunctionWatcher& watcher, bool on) {
  settle_watchers_of_thread();
  if (sight.has(&watcher) == on) return;
  sight.replace(on ? nullptr : &watcher, on ? &watcher : nullptr);
}
bool watches_functions(const FunctionWatcher& watcher) {
  sight.settle();
  return sight.has(&watcher);
}

void watch_new_threads(const FunctionWatcher& watcher, bool on) {
  const std::lock_guard lock(new_threads().mutex);
  WatcherList& list = new_threads().watchers;
  if ((std::find(list.begin(), list.end(), &watcher) != list.end()) == on) return;
  replace(list, on ? nullptr : &watcher, on ? &watcher : nullptr);
}
void settle_watchers_of_thread() {
  if (sight.settled) return;
  sight.settle();
  sight.show();
}

struct WatchedCall::Told {
  struct One {
    FunctionWatcher* watcher;
    std::shared_ptr<void> begun;
  };
  Watching<FunctionWatcher> watching;  // keeps them alive
  std::vector<One> each;
};

WatchedCall::WatchedCall(const char* function, const char* parameters)
    : name(plain_name(function)), told_(std::make_unique<Told>()), parameters_(parameters) {
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
    if (sight.has(&w)) told_->each.push_back({&w, w.begin(*this)});
  });
  if (told_->each.empty() && !Unwatched::active()) sight.watchers = {};  // none of them is attached any more
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
