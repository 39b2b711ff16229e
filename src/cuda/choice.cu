// Counts (Poisson, binomial), permutations, and draws of one of several.
#include <algorithm>
#include <cmath>

#include <halfbridge/ops/factories.h>

#include "backend/distributions.h"
#include "backend/sort.h"
#include "cuda/cub.h"
#include "cuda/generator.h"
#include "cuda/kernel_file.h"
#include "cuda/philox.h"
#include "cuda/search.h"
#include "formulas/compared.h"
#include "formulas/random.h"

namespace hb::cuda {
namespace {

template <class T>
T* data(const Tensor& t) {
  return static_cast<T*>(t.impl().visible_data());
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    draw_poisson(T* out, const T* rate, int64_t n, PhiloxStart start, Reporter report) {
  HB_GRID_LOOP(i, n) {
    const auto r = static_cast<double>(rate[i]);
    if (!(r >= 0)) report.out_of_range(0, 0);
    Bits bits(start, i);
    out[i] = T(static_cast<compute_t<T>>(r >= 0 ? kernels::poisson(bits, r) : 0));
  }
}
void poisson(const Tensor& out, const Tensor& rate, const MaybeGenerator& generator) {
  const int64_t n = out.numel();
  const PhiloxStart start = take_numbers("poisson", generator, kPerSample);
  HB_FLOATING_SWITCH("poisson", out.scalar_type(), [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(draw_poisson<T>, blocks_for(n), kThreads, 0, current_stream(), data<T>(out), data<const T>(rate), n,
              start, reporter("poisson", "invalid Poisson rate, expected rate to be non-negative"));
  });
}

template <class T>
__global__ void __launch_bounds__(kThreads, 1)  // so that it may have the registers that it wants
    draw_binomial(T* out, const T* count, const T* prob, int64_t n, PhiloxStart start) {
  HB_GRID_LOOP(i, n) {
    Bits bits(start, i);
    const double drawn = kernels::binomial(bits, static_cast<double>(count[i]), static_cast<double>(prob[i]));
    out[i] = T(static_cast<compute_t<T>>(drawn));
  }
}
void binomial(const Tensor& out, const Tensor& count, const Tensor& prob, const MaybeGenerator& generator) {
  const int64_t n = out.numel();
  const PhiloxStart start = take_numbers("binomial", generator, kPerSample);
  HB_FLOATING_SWITCH("binomial", out.scalar_type(), [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(draw_binomial<T>, blocks_for(n), kThreads, 0, current_stream(), data<T>(out), data<const T>(count),
              data<const T>(prob), n, start);
  });
}

__global__ void number_keys(uint64_t* keys, int32_t* places, const int64_t* drawn, int64_t n, uint64_t mask,
                            uint64_t sign) {
  HB_GRID_LOOP(i, n) {
    keys[i] = (static_cast<uint64_t>(drawn[i]) & mask) ^ sign;
    places[i] = static_cast<int32_t>(i);
  }
}
/// Where keys are equal, their places are shuffled: else they would stay in order.
__global__ void shuffle_equal(int32_t* places, const uint64_t* keys, int64_t n, PhiloxStart start) {
  HB_GRID_LOOP(i, n - 1) {
    if (keys[i] != keys[i + 1] || (i > 0 && keys[i] == keys[i - 1])) continue;
    int64_t count = 2;
    while (i + count < n && keys[i + count] == keys[i]) ++count;
    Philox philox = philox_at(start, static_cast<uint64_t>(i));
    Draw4 four{};
    for (int64_t last = count - 1, drawn = 0; last > 0; --last, ++drawn) {
      if (drawn % 4 == 0) four = philox.next();
      const uint32_t number = drawn % 4 == 0 ? four.x : drawn % 4 == 1 ? four.y : drawn % 4 == 2 ? four.z : four.w;
      const auto other = static_cast<int64_t>(number % static_cast<uint64_t>(last + 1));
      const int32_t kept = places[i + last];
      places[i + last] = places[i + other], places[i + other] = kept;
    }
  }
}
template <class T>
__global__ void put_numbers(T* out, const int32_t* places, int64_t n) {
  HB_GRID_LOOP(i, n) {
    if constexpr (is_half_v<T>)
      out[i] = T(static_cast<float>(places[i]));
    else
      out[i] = static_cast<T>(places[i]);
  }
}

/// Keys of so many bits that two of n are equal in one of ten calls at most, and how they are drawn: as PyTorch draws
/// and sorts int32 where that suffices, else int64.
struct Keys {
  int bits;
  bool wide;
  explicit Keys(int64_t n) {
    const auto size = static_cast<double>(n);
    bits = std::min(static_cast<int>(std::ceil(std::log2(size - (6 * size * size + 1) / (12 * std::log(0.9))))), 64);
    wide = bits > 32;
  }
  uint64_t range() const { return wide ? UINT64_MAX : UINT32_MAX; }
  int64_t least() const { return wide ? INT64_MIN : INT32_MIN; }
  uint64_t mask() const { return bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1; }
  /// The sign, where it counts: negative keys come first.
  uint64_t sign() const { return bits == (wide ? 64 : 32) ? uint64_t{1} << (bits - 1) : 0; }
};

/// The order of random keys.
void randperm(const Tensor& out, const MaybeGenerator& generator) {
  const int64_t n = out.numel();
  if (n == 0) return;
  HB_CHECK(n < INT32_MAX, "[randperm] expected fewer than 2^31 elements on CUDA, got ", n);
  const Keys key(n);
  const Tensor drawn = empty({n}, out.options().dtype(kLong));
  random_from_to_kernel(out.device())(drawn, key.range(), key.least(), generator);
  const Scratch<uint64_t> keys(2 * n);
  const Scratch<int32_t> places(2 * n);
  uint64_t* const sorted = keys.get() + n;
  int32_t* const order = places.get() + n;
  HB_LAUNCH(number_keys, blocks_for(n), kThreads, 0, current_stream(), keys.get(), places.get(),
            data<const int64_t>(drawn), n, key.mask(), key.sign());
  HB_CUB(cub::DeviceRadixSort::SortPairs, static_cast<const uint64_t*>(keys.get()), sorted,
         static_cast<const int32_t*>(places.get()), order, static_cast<int>(n), 0, key.bits);
  HB_LAUNCH(shuffle_equal, blocks_for(n), kThreads, 0, current_stream(), order, sorted, n,
            take_numbers("randperm", generator, static_cast<uint64_t>(n)));
  switch (out.scalar_type()) {
#define HB_CASE(T, Name)                                                                             \
  case ScalarType::Name:                                                                             \
    HB_LAUNCH(put_numbers<T>, blocks_for(n), kThreads, 0, current_stream(), data<T>(out), order, n); \
    return;
    HB_FORALL_REAL_DTYPES(HB_CASE)
#undef HB_CASE
    default:
      HB_NOT_SUPPORTED("[randperm] is not supported for dtype ", out.scalar_type());
  }
}

template <class T>
__global__ void check_weights(double* sums, const T* weights, int64_t n, int64_t categories, Reporter negative,
                              Reporter endless) {
  HB_GRID_LOOP(i, n) {
    const auto w = static_cast<double>(weights[i]);
    if (!(w >= 0)) negative.out_of_range(0, 0);
    if (w - w != 0) endless.out_of_range(0, 0);
    sums[i] = w;
  }
}
/// How PyTorch draws `samples` of each row: blocks of 128 threads, as many beside each other as the samples need, and
/// rows of blocks, which take row after row where there are more of those.
struct ChoiceGrid {
  static constexpr int64_t kThreads = 128, kMostRows = 65535;
  int64_t width, height;
  ChoiceGrid(int64_t rows, int64_t samples)
      : width(((samples - 1) / kThreads + 1) * kThreads), height(std::min(rows, kMostRows)) {}
  uint64_t numbers(int64_t rows) const { return static_cast<uint64_t>((rows - 1) / height + 1) * 4; }
};

/// The first category whose running sum reaches a random part of the row's total.
__global__ void draw_categories(int64_t* out, const double* sums, int64_t rows, int64_t categories, int64_t samples,
                                ChoiceGrid grid, PhiloxStart start, Reporter empty_row) {
  HB_GRID_LOOP(i, rows * samples) {
    const int64_t at = i / samples;
    const double* const row = sums + at * categories;
    const double total = row[categories - 1];
    if (!(total > 0)) empty_row.out_of_range(0, 0);
    PhiloxStart turn = start;
    turn.offset += static_cast<uint64_t>(at / grid.height * 4);
    Philox philox = philox_at(turn, static_cast<uint64_t>(at % grid.height * grid.width + i % samples));
    // What is beyond the number before reaches the number.
    out[i] = first_beyond(row, categories, ::nextafter(unit_float(philox.next().x) * total, 0.0));
  }
}
void multinomial(const Tensor& out, const Tensor& weights, const MaybeGenerator& generator) {
  const int64_t rows = weights.size(0), categories = weights.size(1), n = weights.numel();
  const Tensor sums = empty({rows, categories}, weights.options().dtype(kDouble));
  HB_FLOATING_SWITCH("multinomial", weights.scalar_type(), [&](auto type) {
    using T = decltype(type);
    HB_LAUNCH(
        check_weights<T>, blocks_for(n), kThreads, 0, current_stream(), data<double>(sums), data<const T>(weights), n,
        categories, reporter("multinomial", "invalid multinomial distribution (encountering probability entry < 0)"),
        reporter("multinomial", "invalid multinomial distribution (encountering probability entry = infinity or NaN)"));
  });
  scan_kernel(out.device())(sums, Tensor(), sums, Lines{rows, categories, 1}, ScanOp::sum);
  const ChoiceGrid grid(rows, out.size(1));
  HB_LAUNCH(draw_categories, blocks_for(out.numel()), kThreads, 0, current_stream(), data<int64_t>(out),
            data<const double>(sums), rows, categories, out.size(1), grid,
            take_numbers("multinomial", generator, grid.numbers(rows)),
            reporter("multinomial", "invalid multinomial distribution (sum of probabilities <= 0)"));
}

HB_REGISTER_CUDA(poisson_kernel, poisson);
HB_REGISTER_CUDA(binomial_kernel, binomial);
HB_REGISTER_CUDA(randperm_kernel, randperm);
HB_REGISTER_CUDA(multinomial_kernel, multinomial);

}  // namespace
}  // namespace hb::cuda
