#include "core/watch_call.h"

#include <atomic>

namespace hb::capture {

namespace {
std::atomic<ReplayWatcher*> current{nullptr};
}

ReplayWatcher* replay_watcher() noexcept { return current.load(std::memory_order_acquire); }
void set_replay_watcher(ReplayWatcher* watcher) noexcept { current.store(watcher, std::memory_order_release); }

}  // namespace hb::capture
