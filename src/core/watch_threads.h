#pragma once
// How a watcher sees the functions of every thread: those that have called none yet ask at their first.

#include "core/function_watch.h"

namespace hb {

/// Whether `watcher` sees the functions of threads that call their first one from now on. It has to be attached, too.
void watch_new_threads(const FunctionWatcher& watcher, bool on);
/// Settles who sees a thread that has called no function yet, so that functions_watched() tells it.
void settle_watchers_of_thread();

}  // namespace hb
