#pragma once
// A record of a captured step: replays write it again with the values that they computed.

#include "core/watch_call.h"
#include "recorder.h"

namespace hb::trace {

class Watched final : public capture::WatchCall {
 public:
  /// `data`: contiguous, of the record's dtype and shape. `call` and `step` of the record count from where the step
  /// began.
  Watched(Record about, const void* data, int64_t session)
      : WatchCall("trace"), about(std::move(about)), session(session), data_(data) {}
  Watched(Record about, Recorder::Remake again, int64_t session)
      : WatchCall("trace"), about(std::move(about)), session(session), again_(std::move(again)) {}
  void run() override;
  void show(capture::Operands& v) override { v.reads(data_); }

  const Record about;
  const int64_t session;

 private:
  const void* data_ = nullptr;
  const Recorder::Remake again_;
};

/// The end of an optimizer's step.
class WatchedStep final : public capture::WatchCall {
 public:
  explicit WatchedStep(int64_t session) : WatchCall("trace_step"), session_(session) {}
  void run() override;
  void show(capture::Operands&) override {}

 private:
  const int64_t session_;
};

}  // namespace hb::trace
