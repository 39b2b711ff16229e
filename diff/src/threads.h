#pragma once

#include <cstddef>

#include <halfbridge/parallel.h>

namespace hb::layer_diff {

/// Calls work(i) for 0 to n - 1 on all threads. An exception of one reaches the caller.
template <class F>
void on_all_threads(size_t n, const F& work) {
  run_chunks(static_cast<int>(n), [&](int i) { work(static_cast<size_t>(i)); });
}

}  // namespace hb::layer_diff
