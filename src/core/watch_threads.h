#pragma once
// How a watcher sees the functions of every thread.

#include "core/function_watch.h"

namespace hb {

/// Whether `watcher` sees the functions that all threads call from now on. It has to be attached, too.
void watch_all_threads(const FunctionWatcher& watcher, bool on);

}  // namespace hb
