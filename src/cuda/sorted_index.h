#pragma once
// An index in the order of the rows that it points to, for sums in a fixed order: what goes to a row stands together,
// in the order of its places.

#include "cuda/cub.h"
#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

// What is bad goes to the row after the last.
__global__ void number_keys(uint32_t* keys, int32_t* places, const int64_t* index, int64_t n, int64_t rows,
                            Reporter report) {
  HB_GRID_LOOP(i, n) {
    keys[i] = static_cast<uint32_t>(index_is_good(index[i], rows, report) ? index[i] : rows);
    places[i] = static_cast<int32_t>(i);
  }
}

/// rows[i] ascends; places[i] is where in the index it stood. A bad index is reported, and counts as `limit`.
class SortedIndex {
 public:
  SortedIndex(const char* name, const int64_t* index, int64_t n, int64_t limit, Reporter report)
      : n_(n), keys_(2 * n), places_(2 * n) {
    HB_CHECK(n < INT32_MAX && limit < UINT32_MAX, "[", name, "] expected fewer than 2^31 indices, got ", n);
    HB_LAUNCH(number_keys, blocks_for(n), kThreads, 0, current_stream(), keys_.get(), places_.get(), index, n, limit,
              report);
    int bits = 1;
    while (bits < 32 && (int64_t{1} << bits) <= limit) ++bits;
    HB_CUB(cub::DeviceRadixSort::SortPairs, static_cast<const uint32_t*>(keys_.get()), keys_.get() + n,
           static_cast<const int32_t*>(places_.get()), places_.get() + n, static_cast<int>(n), 0, bits);
  }
  const uint32_t* rows() const { return keys_.get() + n_; }
  const int32_t* places() const { return places_.get() + n_; }

 private:
  int64_t n_;
  Scratch<uint32_t> keys_;
  Scratch<int32_t> places_;
};

}  // namespace
}  // namespace hb::cuda
