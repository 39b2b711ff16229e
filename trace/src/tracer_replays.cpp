// What the tracer sees of steps that graph mode replays: their recording holds its records as calls.
#include <cstdlib>

#include "own_work.h"
#include "plain_bytes.h"
#include "tracer.h"
#include "watched.h"

namespace hb::trace {

bool replays_wished() {
  const char* const wish = std::getenv("HALFBRIDGE_TRACE_REPLAYS");
  if (!wish || !*wish || std::string(wish) == "0") return false;
  HB_CHECK(std::string(wish) == "1", "[HALFBRIDGE_TRACE_REPLAYS] expected 0 or 1, got '", wish, "'");
  return true;
}

// --- while a step is recorded

void Tracer::watch(const Record& record, const Tensor& tensor, const Recorder::Remake& again) {
  if (!replays_ || !capture::records()) return;
  Record about = record;
  about.step -= step_;
  const int64_t first = thread().first_call;
  if (about.call) *about.call -= first;
  if (about.parent) *about.parent -= first;
  const OwnWork own;
  if (again) {
    about.dtype = dtype_of(tensor.scalar_type()), about.shape = tensor.sizes().vec();
    return capture::tell_call(std::make_unique<Watched>(std::move(about), again, session_), kCPU);
  }
  capture::uses(tensor);
  const Tensor plain = ops::to_contiguous(tensor);
  about.dtype = dtype_of(plain.scalar_type()), about.shape = plain.sizes().vec();
  capture::tell_call(std::make_unique<Watched>(std::move(about), plain.impl().raw_data(), session_), plain.device());
}

void Tracer::watch_step() {
  if (replays_ && capture::records()) capture::tell_call(std::make_unique<WatchedStep>(session_), kCPU);
}

void Tracer::recorded() noexcept {
  const Callback callback(*this);
  if (!open_) return;
  guarded([&] {
    gradients_->flush();
    recorder_->forget();
  });
}

// --- while it is replayed

// A graph is used while this is what it was: one whose recording held no records has none to write.
uint64_t Tracer::wish() const noexcept { return 2 * static_cast<uint64_t>(session_) + (recording() ? 1 : 0); }

void Tracer::step_begins(bool replayed) noexcept {
  thread().first_call = calls_;
  if (replayed && recording()) ++replayed_;
}

void Tracer::replayed(const Watched& watched, const void* data) {
  const Callback callback(*this);
  if (!open_ || watched.session != session_) return;
  guarded([&] {
    Record r = watched.about;
    r.step += step_;
    // A loss scale belongs to the step before, which may be the last one that is recorded.
    if (!recorder_->wants_step(r.step)) return;
    const int64_t first = thread().first_call;
    if (r.call) {
      *r.call += first;
      calls_ = std::max<int64_t>(calls_, *r.call + 1);
    }
    if (r.parent) *r.parent += first;
    recorder_->write_bytes(r, data);
  });
}

void Tracer::replayed_step(int64_t session) noexcept {
  const Callback callback(*this);
  if (!open_ || session != session_) return;
  guarded([&] { recorder_->flush(); });
  next_step();
}

void Watched::run() {
  if (!again_) return Tracer::instance().replayed(*this, data_);
  const OwnWork own;
  with_plain_bytes(again_(), [this](const void* data) { Tracer::instance().replayed(*this, data); });
}
void WatchedStep::run() { Tracer::instance().replayed_step(session_); }

}  // namespace hb::trace
