#pragma once

#include <halfbridge/macros.h>

namespace hb {

/// Threads that one operation may use: at first OpenMP's number (OMP_NUM_THREADS, else the cores).
HB_API int get_num_threads();
/// Throws for n < 1.
HB_API void set_num_threads(int n);

}  // namespace hb
