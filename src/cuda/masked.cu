// Elements picked by a mask. How many there are is known only when all have been looked at: the host waits for that.
#include "backend/indexing.h"

#include <halfbridge/ops/factories.h>

#include "core/device_backend.h"
#include "cuda/cub.h"
#include "cuda/kernel_file.h"
#include "cuda/search.h"
#include "cuda/walk.h"
#include "cuda/words.h"

namespace hb::cuda {
namespace {

// A block looks at a tile of the mask: it counts what is true there, and when all tiles are counted, knows the rank of
// each: how many are true before it.
constexpr int kPasses = 16, kTile = kThreads * kPasses, kWarps = kThreads / kWarp;

__global__ void count_true(int64_t* counts, const bool* mask, int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * kTile + threadIdx.x;
  int count = 0;
#pragma unroll
  for (int k = 0; k < kPasses; ++k) count += first + k * kThreads < n && mask[first + k * kThreads];
  count = team_sum(count);
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

/// For each tile how many are true up to its end.
class Ranks {
 public:
  explicit Ranks(const Tensor& mask)
      : n(mask.numel()),
        device_(mask.device()),
        mask_(static_cast<const bool*>(mask.impl().visible_data())),
        tiles_((n + kTile - 1) / kTile),
        ends_(tiles_) {
    if (n == 0) return;
    HB_LAUNCH(count_true, blocks(), kThreads, 0, current_stream(), ends_.get(), mask_, n);
    HB_CUB(cub::DeviceScan::InclusiveSum, static_cast<const int64_t*>(ends_.get()), ends_.get(), tiles_);
  }
  const bool* mask() const { return mask_; }
  const int64_t* ends() const { return ends_.get(); }
  unsigned blocks() const { return static_cast<unsigned>(tiles_); }
  /// Waits for the device.
  int64_t total() const {
    int64_t total = 0;
    if (n > 0) copy_memory(&total, kCPU, ends_.get() + tiles_ - 1, device_, sizeof total);
    return total;
  }
  const int64_t n;

 private:
  Device device_;
  const bool* mask_;
  int64_t tiles_;
  Scratch<int64_t> ends_;
};

/// Calls f(place, rank) for what is true in this block's tile. By all threads of a block.
template <class F>
__device__ void for_true(const bool* mask, const int64_t* ends, int64_t n, const F& f) {
  const int64_t first = int64_t{blockIdx.x} * kTile + threadIdx.x;
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  HB_SHARED(int, before, kPasses * kWarps);  // of a warp in a pass
  unsigned truth[kPasses];
#pragma unroll
  for (int k = 0; k < kPasses; ++k) {
    const int64_t i = first + k * kThreads;
    truth[k] = __ballot_sync(kFullWarp, i < n && mask[i]);
    if (lane == 0) before[k * kWarps + static_cast<int>(warp)] = __popc(truth[k]);
  }
  __syncthreads();
  if (warp == 0) {
    int sum = 0;
    for (int at = static_cast<int>(lane); at < kPasses * kWarps; at += kWarp) {
      const int own = before[at];
      int up_to = own;
      for (int d = 1; d < kWarp; d *= 2) {
        const int lower = __shfl_up_sync(kFullWarp, up_to, static_cast<unsigned>(d));
        if (static_cast<int>(lane) >= d) up_to += lower;
      }
      before[at] = sum + up_to - own;
      sum += __shfl_sync(kFullWarp, up_to, kWarp - 1);
    }
  }
  __syncthreads();
  const int64_t begin = blockIdx.x > 0 ? ends[blockIdx.x - 1] : 0;
#pragma unroll
  for (int k = 0; k < kPasses; ++k)
    if (truth[k] >> lane & 1)
      f(first + k * kThreads,
        begin + before[k * kWarps + static_cast<int>(warp)] + __popc(truth[k] & ((1u << lane) - 1)));
}

struct Shape {
  static constexpr int kMost = 32;
  int dims = 0;
  Splitter sizes[kMost];
};

__global__ void put_places(int64_t* out, const bool* mask, const int64_t* ends, int64_t n, int64_t count,
                           HB_ARGUMENT(Shape) shape) {
  for_true(mask, ends, n, [&](int64_t i, int64_t rank) {
    for (int d = shape.dims - 1; d > 0; --d) out[d * count + rank] = shape.sizes[d].split(i);
    out[rank] = i;
  });
}

Tensor nonzero(const Tensor& truth) {
  const int64_t dims = truth.dim();
  HB_CHECK(dims <= Shape::kMost, "[nonzero] expected at most ", int{Shape::kMost}, " dimensions on CUDA, got ", dims);
  const Ranks ranks(truth);
  const int64_t count = ranks.total();
  Tensor out = empty({dims, count}, truth.options().dtype(kLong));
  if (count == 0 || dims == 0) return out;
  Shape shape;
  shape.dims = static_cast<int>(dims);
  for (int64_t d = 0; d < dims; ++d) shape.sizes[d] = Splitter(truth.impl().sizes()[static_cast<size_t>(d)], ranks.n);
  HB_LAUNCH(put_places, ranks.blocks(), kThreads, 0, current_stream(), static_cast<int64_t*>(out.impl().visible_data()),
            ranks.mask(), ranks.ends(), ranks.n, count, shape);
  return out;
}

template <class Word>
__global__ void pick(Word* out, const Word* in, const bool* mask, const int64_t* ends, int64_t n) {
  for_true(mask, ends, n, [&](int64_t i, int64_t rank) { out[rank] = in[i]; });
}
template <class Word>
__global__ void place(Word* out, const Word* source, const bool* mask, const int64_t* ends, int64_t n) {
  for_true(mask, ends, n, [&](int64_t i, int64_t rank) { out[i] = source[rank]; });
}

Tensor masked_select(const Tensor& in, const Tensor& mask) {
  const Ranks ranks(mask);
  Tensor out = empty({ranks.total()}, in.options());
  if (out.numel() == 0) return out;
  with_word(in.itemsize(), [&](auto word) {
    using Word = decltype(word);
    HB_LAUNCH(pick<Word>, ranks.blocks(), kThreads, 0, current_stream(), static_cast<Word*>(out.impl().visible_data()),
              static_cast<const Word*>(in.impl().visible_data()), ranks.mask(), ranks.ends(), ranks.n);
  });
  return out;
}

void masked_scatter(const Tensor& out, const Tensor& mask, const Tensor& source) {
  const Ranks ranks(mask);
  const int64_t wanted = ranks.total();
  HB_CHECK(source.numel() >= wanted,
           "[masked_scatter] Number of elements of source < number of ones in mask: expected at least ", wanted,
           " elements, got ", source.numel());
  if (wanted == 0) return;
  with_word(out.itemsize(), [&](auto word) {
    using Word = decltype(word);
    HB_LAUNCH(place<Word>, ranks.blocks(), kThreads, 0, current_stream(), static_cast<Word*>(out.impl().visible_data()),
              static_cast<const Word*>(source.impl().visible_data()), ranks.mask(), ranks.ends(), ranks.n);
  });
}

__global__ void check_counts(const int64_t* counts, int64_t n, Reporter report) {
  HB_GRID_LOOP(i, n) if (counts[i] < 0) report.out_of_range(counts[i], INT64_MAX);
}
__global__ void spread(int64_t* out, const int64_t* ends, int64_t n, int64_t total) {
  HB_GRID_LOOP(i, total) out[i] = first_beyond(ends, n, i);
}

Tensor repeated_places(const Tensor& counts) {
  const int64_t n = counts.numel();
  int64_t total = 0;
  const Scratch<int64_t> ends(n);
  if (n > 0) {
    const auto* c = static_cast<const int64_t*>(counts.impl().raw_data());
    HB_LAUNCH(check_counts, blocks_for(n), kThreads, 0, current_stream(), c, n,
              reporter("repeat_interleave", "repeats can not be negative, got {value}"));
    HB_CUB(cub::DeviceScan::InclusiveSum, c, ends.get(), n);
    copy_memory(&total, kCPU, ends.get() + n - 1, counts.device(), sizeof total);
  }
  Tensor out = empty({total}, counts.options());
  if (total > 0)
    HB_LAUNCH(spread, blocks_for(total), kThreads, 0, current_stream(), static_cast<int64_t*>(out.impl().raw_data()),
              ends.get(), n, total);
  return out;
}

HB_REGISTER_CUDA(nonzero_kernel, nonzero);
HB_REGISTER_CUDA(masked_select_kernel, masked_select);
HB_REGISTER_CUDA(masked_scatter_kernel, masked_scatter);
HB_REGISTER_CUDA(repeated_places_kernel, repeated_places);

}  // namespace
}  // namespace hb::cuda
