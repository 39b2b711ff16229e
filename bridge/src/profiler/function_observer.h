#pragma once
// What the callbacks of record_function.h see of the library: its functions and the steps of its backward passes.

#include <halfbridge/bridge/record_function.h>

namespace hb::bridge::recording {

/// The callbacks that see a range of the library's own: the profiler, which watches by itself, is none of them.
StepCallbacks callbacks_of(RecordScope scope);

/// Whether functions and steps of the backward pass are told: those of the calling thread, and those of all threads.
void see_this_thread(bool on);
void see_all_threads(bool on);

}  // namespace hb::bridge::recording
