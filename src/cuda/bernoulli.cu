// Zeros and ones that are drawn several for a thread, side by side, as PyTorch draws them: with a probability for each
// element, and the masks of dropout. Both compare floats, whatever the dtype.
#include <cmath>
#include <cstring>

#include "backend/distributions.h"
#include "core/loop.h"
#include "cuda/convert.h"
#include "cuda/generator.h"
#include "cuda/kernel_file.h"
#include "cuda/philox.h"
#include "cuda/walk.h"

namespace hb::cuda {
namespace {

constexpr int kEachThreads = 512, kEachElements = 4;
constexpr uint64_t kEachNumbers = 10;  // that PyTorch takes from the generator, though a thread needs four

/// 1 with the probability that stands at the same place.
template <class T>
__global__ void __launch_bounds__(kEachThreads)
    draw_each(HB_ARGUMENT(Walk) walk, PhiloxStart start, HB_ARGUMENT(Reporter) report) {
  const int64_t thread = grid_thread(), first = thread * kEachElements;
  if (first >= walk.numel) return;
  float u[4];
  unit_floats(philox_at(start, static_cast<uint64_t>(thread)).next(), u);
  for (int k = 0; k < kEachElements && first + k < walk.numel; ++k) {
    int32_t offset[2];
    walk.offsets<2>(static_cast<uint32_t>(first + k), offset);
    const T probability = load_as<T>(walk.data[1] + offset[1], walk.dtype[1]);
    if (!(probability >= T(0) && probability <= T(1))) report.out_of_range(0, 0);
    store_as<T>(walk.data[0] + offset[0], walk.dtype[0], static_cast<T>(u[k]) <= probability ? T(1) : T(0));
  }
}

struct EachCall {
  const MaybeGenerator& generator;
  Reporter report;
};
template <class T>
void launch_each(const Walk& walk, const void* context) {
  const auto& call = *static_cast<const EachCall*>(context);
  HB_LAUNCH(draw_each<T>, (walk.numel - 1) / (kEachThreads * kEachElements) + 1, kEachThreads, 0, current_stream(),
            walk, take_numbers("bernoulli_", call.generator, kEachNumbers), call.report);
}
void bernoulli_each(const Tensor& out, const Tensor& p, const MaybeGenerator& g) {
  const EachCall call{g, reporter("bernoulli_", "Expected p_in >= 0 && p_in <= 1 to be true, but got false.")};
  const auto launch = out.scalar_type() == kDouble ? launch_each<double> : launch_each<float>;
  for_walks("bernoulli_", Loop({&out}, {&p}), launch, &call);
}

template <class Bits, int together>
struct alignas(sizeof(Bits) * together) Neighbours {
  Bits bits[together];
};
/// `yes` for draws below `keep`. A thread draws as many numbers for its neighbours as they are, in fours.
template <int together, class Bits>
__device__ Neighbours<Bits, together> drawn_neighbours(Philox& philox, float keep, Bits yes) {
  constexpr int drawn = together < 4 ? 4 : together;
  float u[drawn];
#pragma unroll
  for (int k = 0; k < drawn; k += 4) unit_floats(philox.next(), u + k);
  Neighbours<Bits, together> values;
#pragma unroll
  for (int k = 0; k < together; ++k) values.bits[k] = u[k] < keep ? yes : Bits(0);
  return values;
}

template <class Bits, int together>
__global__ void __launch_bounds__(DrawGrid::kThreads)
    draw_neighbours(Bits* mask, int64_t n, float keep, Bits yes, PhiloxStart start) {
  Philox philox = philox_at(start, static_cast<uint64_t>(grid_thread()));
  for (int64_t i = grid_thread() * together; i < n; i += grid_threads() * together)
    store_vector(mask + i, drawn_neighbours<together>(philox, keep, yes));
}
/// The same, and the input times the mask, which is not written where it is null.
template <class T, int together>
__global__ void __launch_bounds__(DrawGrid::kThreads)
    drop_neighbours(T* out, T* mask, const T* in, int64_t n, float keep, T yes, PhiloxStart start) {
  using Some = Neighbours<T, together>;
  Philox philox = philox_at(start, static_cast<uint64_t>(grid_thread()));
  for (int64_t i = grid_thread() * together; i < n; i += grid_threads() * together) {
    Some x = load_vector<Some>(in + i);
    const Some factors = drawn_neighbours<together>(philox, keep, yes);
#pragma unroll
    for (int k = 0; k < together; ++k)
      x.bits[k] = convert<T>(widen<compute_t<T>>(x.bits[k]) * widen<compute_t<T>>(factors.bits[k]));
    store_vector(out + i, x);
    if (mask) store_vector(mask + i, factors);
  }
}
/// The same for single elements: a thread's four are a grid apart.
template <class Bits>
__global__ void __launch_bounds__(DrawGrid::kThreads)
    draw_singles(Bits* mask, int64_t n, float keep, Bits yes, PhiloxStart start) {
  const int64_t threads = grid_threads();
  Philox philox = philox_at(start, static_cast<uint64_t>(grid_thread()));
  for (int64_t first = grid_thread(); first < n; first += threads * 4) {
    float u[4];
    unit_floats(philox.next(), u);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (first + threads * k < n) mask[first + threads * k] = u[k] < keep ? yes : Bits(0);
  }
}

struct MaskCall {
  void* mask;
  int64_t n;
  float keep;
  PhiloxStart start;
  unsigned blocks;
};
template <class Bits, class T>
void draw_mask(const MaskCall& c, T yes, int64_t neighbours) {
  static_assert(sizeof(Bits) == sizeof(T));
  Bits bits;
  std::memcpy(&bits, &yes, sizeof(T));
  const auto run = [&](auto kernel) {
    launch("dropout_mask", kernel, dim3(c.blocks), dim3(DrawGrid::kThreads), 0, current_stream(),
           static_cast<Bits*>(c.mask), c.n, c.keep, bits, c.start);
  };
  if (neighbours == 8) return run(draw_neighbours<Bits, 8>);
  if (neighbours == 4) return run(draw_neighbours<Bits, 4>);
  if (neighbours == 2) return run(draw_neighbours<Bits, 2>);
  run(draw_singles<Bits>);
}

/// A float below which just those floats are that are below x.
float bound_of(double x) {
  const auto near = static_cast<float>(x);
  return near < x ? std::nextafter(near, INFINITY) : near;
}

MaskCall mask_call(const char* name, void* mask, int64_t n, ScalarType input, double keep) {
  const DrawGrid grid(n, 4);
  const float bound = input == kDouble ? bound_of(keep) : static_cast<float>(keep);
  return {mask, n, bound, take_numbers(name, std::nullopt, grid.numbers), grid.blocks};
}

void dropout_mask(const Tensor& mask, ScalarType input, double keep, double yes, int64_t neighbours) {
  if (mask.numel() == 0) return;
  const MaskCall call = mask_call("native_dropout", mask.impl().visible_data(), mask.numel(), input, keep);
  const ScalarType t = mask.scalar_type();
  if (t == kDouble) return draw_mask<uint64_t>(call, yes, neighbours);
  if (t == kFloat) return draw_mask<uint32_t>(call, static_cast<float>(yes), neighbours);
  if (t == kHalf) return draw_mask<uint16_t>(call, Half(static_cast<float>(yes)), neighbours);
  if (t == kBFloat16) return draw_mask<uint16_t>(call, BFloat16(static_cast<float>(yes)), neighbours);
  HB_CHECK(t == kBool, "[native_dropout] is not supported for masks of ", t);
  draw_mask<uint8_t>(call, yes != 0, neighbours);
}

template <class T>
void drop(T* out, T* mask, const T* in, const MaskCall& c, T yes, int64_t neighbours) {
  const auto run = [&](auto kernel) {
    launch("dropout", kernel, dim3(c.blocks), dim3(DrawGrid::kThreads), 0, current_stream(), out, mask, in, c.n, c.keep,
           yes, c.start);
  };
  if constexpr (sizeof(T) <= 2)
    if (neighbours == 8) return run(drop_neighbours<T, 8>);
  if constexpr (sizeof(T) <= 4)
    if (neighbours == 4) return run(drop_neighbours<T, 4>);
  run(drop_neighbours<T, 2>);
}

void dropout(const Tensor& out, const Tensor& mask, const Tensor& input, double keep, double yes, int64_t neighbours) {
  void* const factors = mask.defined() ? mask.impl().visible_data() : nullptr;
  const MaskCall call = mask_call("dropout", factors, input.numel(), input.scalar_type(), keep);
  HB_FLOATING_SWITCH("dropout", input.scalar_type(), [&](auto type) {
    using T = decltype(type);
    drop(static_cast<T*>(out.impl().visible_data()), static_cast<T*>(factors),
         static_cast<const T*>(input.impl().visible_data()), call, T(static_cast<compute_t<T>>(yes)), neighbours);
  });
}

HB_REGISTER_CUDA(bernoulli_each_kernel, bernoulli_each);
HB_REGISTER_CUDA(dropout_kernel, dropout);
HB_REGISTER_CUDA(dropout_mask_kernel, dropout_mask);

}  // namespace
}  // namespace hb::cuda
