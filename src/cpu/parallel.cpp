#include "cpu/parallel.h"

#include <halfbridge/error.h>

namespace hb {
namespace {
std::atomic<int> threads{0};  // 0: not asked yet
}  // namespace

int get_num_threads() {
  int n = threads.load(std::memory_order_relaxed);
  if (HB_UNLIKELY(n == 0)) {
    n = omp_get_max_threads();
    threads.store(n, std::memory_order_relaxed);
  }
  return n;
}

void set_num_threads(int n) {
  HB_CHECK(n >= 1, "[set_num_threads] expected at least one thread, got ", n);
  threads.store(n, std::memory_order_relaxed);
  omp_set_num_threads(n);  // for the libraries below us
}

}  // namespace hb
