#pragma once

#include "distributed/shm/engine.h"
#include "distributed/shm/waiting.h"

namespace hb::distributed::shm {

/// One phase: `write` fills this rank's slot, `read` reads the others'. The first of a collective compares what the
/// ranks called.
template <class Write, class Read>
void ShmEngine::phase(const Call& call, bool first, const Write& write, const Read& read, const Place& place) {
  if (first) put_record(call, place);
  write();
  ++phase_;
  segment_->block(rank_).core.store(current_core(), std::memory_order_relaxed);
  advance(segment_->block(rank_).posted);
  await_all(call);
  if (first) compare_records(call);
  read();
}

}  // namespace hb::distributed::shm
