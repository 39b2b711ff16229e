// Recording: a thread's events, open ones on a stack.
#include <halfbridge/profiler.h>

#include <chrono>
#include <mutex>

#include <halfbridge/error.h>

#include "autograd/watch.h"
#include "core/function_watch.h"
#include "core/watchers.h"

namespace hb::profiler {
namespace {

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

uint64_t thread_number() {
  static std::atomic<uint64_t> next{1};
  static thread_local const uint64_t number = next++;
  return number;
}

void enter();  // counts the threads that are recorded
void leave();

/// One thread between start() and stop(), or its end.
class Recording {
 public:
  Recording(const Options& options, uint64_t number) : shapes_(options.record_shapes), number_(number) { enter(); }
  ~Recording() { leave(); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  uint64_t number() const { return number_; }
  size_t begin(std::string name, EventKind kind, ArrayRef<const Tensor*> inputs) {
    Event event{std::move(name), kind, 0, 0, 0, {}};
    if (shapes_)
      for (const Tensor* t : inputs) event.shapes.push_back(t->defined() ? t->sizes().vec() : std::vector<int64_t>());
    open_.push_back(events_.size());
    event.start_ns = now_ns() - origin_;
    events_.push_back(std::move(event));
    return events_.size() - 1;
  }
  /// Ends an event and what is still open inside it.
  void end(size_t event) {
    const int64_t now = now_ns() - origin_;
    while (!open_.empty() && open_.back() >= event) {
      Event& e = events_[open_.back()];
      open_.pop_back();
      e.duration_ns = now - e.start_ns;
      e.self_ns += e.duration_ns;
      if (!open_.empty()) events_[open_.back()].self_ns -= e.duration_ns;
    }
  }
  /// Ends the last event of a kind that is open, if there is one.
  void end_last(EventKind kind) {
    for (auto at = open_.rbegin(); at != open_.rend(); ++at)
      if (events_[*at].kind == kind) return end(*at);
  }
  Profile finish() {
    end(0);
    return Profile(std::move(events_), thread_number());
  }

 private:
  bool shapes_;
  uint64_t number_;
  int64_t origin_ = now_ns();
  std::vector<Event> events_;
  std::vector<size_t> open_;
};

thread_local std::unique_ptr<Recording> current;

/// Passes on what the library's functions and the engine report to the recording of the thread it happens on.
class Watcher final : public FunctionWatcher, public GraphWatcher {
 public:
  std::shared_ptr<void> begin(WatchedCall& call) override {
    if (current) current->begin(call.name, EventKind::function, call.inputs);
    return nullptr;
  }
  void end(WatchedCall&, const std::shared_ptr<void>&, ArrayRef<const Tensor*>) override {
    if (current) current->end_last(EventKind::function);
  }
  void abandon(WatchedCall&, const std::shared_ptr<void>&) override {
    if (current) current->end_last(EventKind::function);
  }
  void inputs(const Node&, ArrayRef<const Tensor*>) override {}
  void result(const Node&, const Tensor&) override {}
  void arrived(const Node&, const variable_list&) override {}
  void begins(const Node& node, const variable_list& grads) override {
    if (!current) return;
    std::vector<const Tensor*> list;
    for (const Tensor& g : grads) list.push_back(&g);
    current->begin(node.name(), EventKind::gradient, list);
  }
  void evaluated(const Node& node, const variable_list&) override { failed(node); }
  void failed(const Node&) override {
    if (current) current->end_last(EventKind::gradient);
  }

  /// Counts the threads that are recorded: the first makes the library report, the last ends that.
  void enter() {
    const std::lock_guard lock(mutex_);
    if (threads_++ > 0) return;
    // What other watchers do is not measured.
    Watchers<FunctionWatcher>::attach(*this, WatchPlace::inner);
    GraphWatchers::attach(*this, WatchPlace::inner);
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--threads_ > 0) return;
    Watchers<FunctionWatcher>::detach(*this);
    GraphWatchers::detach(*this);
  }

 private:
  std::mutex mutex_;
  int threads_ = 0;
};

Watcher& watcher() {
  static Watcher& only = *new Watcher;  // threads may end after main, and backward passes of others may still see it
  return only;
}
void enter() { watcher().enter(); }
void leave() { watcher().leave(); }

}  // namespace

void start(const Options& options) {
  static std::atomic<uint64_t> recordings{0};
  HB_CHECK(!current, "[profiler] this thread is being recorded already");
  current = std::make_unique<Recording>(options, ++recordings);
  watch_functions(watcher(), true);
}

Profile stop() {
  HB_CHECK(current, "[profiler] stop: this thread is not being recorded");
  watch_functions(watcher(), false);
  Profile profile = current->finish();
  current.reset();
  return profile;
}

bool active() { return current != nullptr; }

Range::Range(std::string_view name) {
  if (!current) return;
  recording_ = current->number();
  event_ = current->begin(std::string(name), EventKind::range, {});
}
Range::~Range() {
  if (current && current->number() == recording_) current->end(event_);
}

}  // namespace hb::profiler
