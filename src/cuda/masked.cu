// Elements picked by a mask. How many there are is known only when all have been looked at: the host waits for that.
#include "backend/indexing.h"

#include <halfbridge/ops/factories.h>

#include "core/device_backend.h"
#include "cuda/cub.h"
#include "cuda/kernel_file.h"
#include "cuda/search.h"
#include "cuda/words.h"

namespace hb::cuda {
namespace {

__global__ void widen_mask(int64_t* to, const bool* mask, int64_t n) { HB_GRID_LOOP(i, n) to[i] = mask[i] ? 1 : 0; }

/// For each place how many are true up to it, itself included.
class Ranks {
 public:
  explicit Ranks(const Tensor& mask) : n_(mask.numel()), device_(mask.device()), ranks_(n_) {
    if (n_ == 0) return;
    const auto* truth = static_cast<const bool*>(mask.impl().visible_data());
    HB_LAUNCH(widen_mask, blocks_for(n_), kThreads, 0, current_stream(), ranks_.get(), truth, n_);
    HB_CUB(cub::DeviceScan::InclusiveSum, static_cast<const int64_t*>(ranks_.get()), ranks_.get(), n_);
  }
  const int64_t* get() const { return ranks_.get(); }
  /// Waits for the device.
  int64_t total() const {
    int64_t total = 0;
    if (n_ > 0) copy_memory(&total, kCPU, ranks_.get() + n_ - 1, device_, sizeof total);
    return total;
  }

 private:
  int64_t n_;
  Device device_;
  Scratch<int64_t> ranks_;
};

struct Shape {
  static constexpr int kMost = 32;
  int dims;
  int64_t sizes[kMost];
};

__global__ void put_places(int64_t* out, const bool* mask, const int64_t* ranks, int64_t n, int64_t count,
                           __grid_constant__ const Shape shape) {
  HB_GRID_LOOP(i, n) {
    if (!mask[i]) continue;
    int64_t* const place = out + ranks[i] - 1;
    int64_t rest = i;
    for (int d = shape.dims - 1; d >= 0; --d) {
      place[d * count] = rest % shape.sizes[d];
      rest /= shape.sizes[d];
    }
  }
}

Tensor nonzero(const Tensor& truth) {
  const int64_t n = truth.numel(), dims = truth.dim();
  HB_CHECK(dims <= Shape::kMost, "[nonzero] expected at most ", int{Shape::kMost}, " dimensions on CUDA, got ", dims);
  const Ranks ranks(truth);
  const int64_t count = ranks.total();
  Tensor out = empty({dims, count}, truth.options().dtype(kLong));
  if (count == 0 || dims == 0) return out;
  Shape shape{static_cast<int>(dims), {}};
  for (int64_t d = 0; d < dims; ++d) shape.sizes[d] = truth.impl().sizes()[static_cast<size_t>(d)];
  HB_LAUNCH(put_places, blocks_for(n), kThreads, 0, current_stream(), static_cast<int64_t*>(out.impl().visible_data()),
            static_cast<const bool*>(truth.impl().visible_data()), ranks.get(), n, count, shape);
  return out;
}

template <class Word>
__global__ void pick(Word* out, const Word* in, const bool* mask, const int64_t* ranks, int64_t n) {
  HB_GRID_LOOP(i, n) if (mask[i]) out[ranks[i] - 1] = in[i];
}
template <class Word>
__global__ void place(Word* out, const Word* source, const bool* mask, const int64_t* ranks, int64_t n) {
  HB_GRID_LOOP(i, n) if (mask[i]) out[i] = source[ranks[i] - 1];
}

Tensor masked_select(const Tensor& in, const Tensor& mask) {
  const int64_t n = in.numel();
  const Ranks ranks(mask);
  Tensor out = empty({ranks.total()}, in.options());
  if (out.numel() == 0) return out;
  with_word(in.itemsize(), [&](auto word) {
    using Word = decltype(word);
    HB_LAUNCH(pick<Word>, blocks_for(n), kThreads, 0, current_stream(), static_cast<Word*>(out.impl().visible_data()),
              static_cast<const Word*>(in.impl().visible_data()), static_cast<const bool*>(mask.impl().visible_data()),
              ranks.get(), n);
  });
  return out;
}

void masked_scatter(const Tensor& out, const Tensor& mask, const Tensor& source) {
  const int64_t n = out.numel();
  const Ranks ranks(mask);
  const int64_t wanted = ranks.total();
  HB_CHECK(source.numel() >= wanted,
           "[masked_scatter] Number of elements of source < number of ones in mask: expected at least ", wanted,
           " elements, got ", source.numel());
  if (wanted == 0) return;
  with_word(out.itemsize(), [&](auto word) {
    using Word = decltype(word);
    HB_LAUNCH(place<Word>, blocks_for(n), kThreads, 0, current_stream(), static_cast<Word*>(out.impl().visible_data()),
              static_cast<const Word*>(source.impl().visible_data()),
              static_cast<const bool*>(mask.impl().visible_data()), ranks.get(), n);
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
