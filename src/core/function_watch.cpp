#include "core/function_watch.h"

#include <algorithm>
#include <array>

#include <halfbridge/error.h>

#include "core/watchers.h"

namespace hb {

thread_local constinit uint8_t front::active = 0;

namespace {

// "hb::pad" and "add_" as PyTorch names them.
std::string plain_name(std::string_view function) {
  const size_t colon = function.rfind(':');
  if (colon != std::string_view::npos) function.remove_prefix(colon + 1);
  if (!function.empty() && function.back() == '_') function.remove_suffix(1);
  return std::string(function);
}

// Who sees the functions of a thread. The pointers are compared, never followed: a watcher may be gone.
struct Sight {
  std::array<const FunctionWatcher*, 8> watchers{};
  bool within_call = false;  // of what a function calls in its turn nothing is seen

  bool has(const FunctionWatcher* w) const { return std::find(watchers.begin(), watchers.end(), w) != watchers.end(); }
  void replace(const FunctionWatcher* from, const FunctionWatcher* to) {
    const auto place = std::find(watchers.begin(), watchers.end(), from);
    HB_CHECK(place != watchers.end(), "[watch_functions] expected at most ", watchers.size(), " watchers of a thread");
    *place = to;
    show();
  }
  void show() const {
    using namespace front;
    const bool seen =
        !within_call && std::any_of(watchers.begin(), watchers.end(), [](const auto* w) { return w != nullptr; });
    active = static_cast<uint8_t>(seen ? active | kWatched : active & ~kWatched);
  }
};
thread_local constinit Sight sight;

}  // namespace

void watch_functions(const FunctionWatcher& watcher, bool on) {
  if (sight.has(&watcher) == on) return;
  sight.replace(on ? nullptr : &watcher, on ? &watcher : nullptr);
}
bool watches_functions(const FunctionWatcher& watcher) { return sight.has(&watcher); }

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
