#pragma once
// How a trace sees replays. What it would record of a step is a call of the recorded graph: it reads a value where the
// step had it, so that passes keep the value and its place among the other calls.

#include <cstdint>

#include "core/recorder.h"

namespace hb::capture {

/// A call that computes nothing and reads its operands. No pass leaves it out.
class WatchCall : public Call {
 public:
  using Call::Call;
};

class ReplayWatcher {
 public:
  /// A step is about to be recorded, or a graph to be replayed, by this thread.
  virtual void step_begins(bool replayed) noexcept = 0;
  /// The step was made while it is still recorded: what the watcher holds of the step's values goes.
  virtual void recorded() noexcept = 0;
  /// The same number while graphs hold what the watcher wants to see now, and never again.
  virtual uint64_t wish() const noexcept = 0;

 protected:
  ~ReplayWatcher() = default;
};

/// Null where none is set, as most of the time; else calls are recorded and replayed though tools watch.
ReplayWatcher* replay_watcher() noexcept;
void set_replay_watcher(ReplayWatcher* watcher) noexcept;

}  // namespace hb::capture
