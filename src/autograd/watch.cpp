#include "autograd/watch.h"

#include <mutex>

namespace hb {

namespace {
std::mutex& list_mutex() {
  static std::mutex mutex;
  return mutex;
}
}  // namespace

void GraphWatchers::add(GraphWatcher& watcher) {
  const std::lock_guard lock(list_mutex());
  watcher.next_ = first.load();
  first = &watcher;
}

void GraphWatchers::remove(GraphWatcher& watcher) {
  const std::lock_guard lock(list_mutex());
  for (std::atomic<GraphWatcher*>* at = &first; at->load(); at = &at->load()->next_) {
    if (at->load() != &watcher) continue;
    *at = watcher.next_.load();
    return;
  }
}

}  // namespace hb
