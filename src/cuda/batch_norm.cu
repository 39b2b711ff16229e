// Batch norm in two launches each way: sums per channel (reduce_parts.h), of which the last block makes what there is
// once per channel, and the pass over all elements, which may do an addition and a relu besides (ops/nn/late_pass.h).
#include "backend/channel_pass.h"
#include "formulas/batch_norm.h"

#include "cuda/aligned.h"
#include "cuda/kernel_file.h"
#include "cuda/moments.h"
#include "cuda/reduce_columns.h"
#include "cuda/reduce_rows.h"
#include "cuda/row_pieces.h"

namespace hb::cuda {
namespace {

using per_channel::GradChannels;

/// Launches R for each channel of what begins at `x`, a multiple of 16 bytes where R reads two tensors.
template <class R>
void reduce_channels(const NormShape& s, const typename R::X* x, const typename R::Results& results) {
  constexpr int64_t kSize = sizeof(typename R::X);
  const char* const from = reinterpret_cast<const char*>(x);
  if (s.inner == 1) return launch_columns<R>(contiguous_columns(from, {1, s.outer, s.channels}, kSize), results);
  Rows rows{from};
  rows.outputs = s.channels, rows.n = s.inner, rows.runs = s.outer;
  rows.kept.stride[0] = s.inner * kSize, rows.run.stride[0] = s.channels * s.inner * kSize;
  share_rows(rows, 16 / kSize);
  launch_rows<R>(rows, results);
}

template <class C>
struct Statistics {
  BatchNormChannels p;
  __device__ void store(int64_t c, const Moments& m) const {
    static_cast<C*>(p.mean)[c] = static_cast<C>(m.mean);
    static_cast<C*>(p.rstd)[c] = static_cast<C>(m.m2 / m.n);
    per_channel::channel(p, c);
    if (c == 0 && p.batches) ++*p.batches;
  }
};
__global__ void from_running(BatchNormChannels p) { HB_GRID_LOOP(i, p.channels) per_channel::channel(p, i); }

/// Which channel an element of memory is of, and whether the next element is of the next channel.
struct ChannelPlaces {
  Divisor inner, channels;
  int64_t vectors;
  int step;
  ChannelPlaces(const NormShape& s, int each)
      : inner(s.inner, s.count() * s.channels),
        channels(s.channels, s.count() * s.channels),
        vectors(s.count() * s.channels / each),
        step(s.inner == 1 ? 1 : 0) {}
  __device__ int64_t operator()(int64_t element) const { return element / inner % channels; }
};
template <class T, int kEach>
struct alignas(kEach * sizeof(T)) Elements {
  T x[kEach];
};

/// `kEach` elements from number i on.
template <class T, int kEach>
__device__ Elements<T, kEach> pass_values(const ChannelPass& p, const ChannelPlaces& places, int64_t i) {
  using C = compute_t<T>;
  using V = Elements<T, kEach>;
  const auto load = [&](const void* from) { return load_vector<V>(static_cast<const T*>(from) + i); };
  V v = load(p.x);
  if (p.scale) {
    const int64_t c = places(i);
    for (int e = 0; e < kEach; ++e)
      v.x[e] = T(widen<C>(v.x[e]) * static_cast<const C*>(p.scale)[c + e * places.step] +
                 static_cast<const C*>(p.shift)[c + e * places.step]);
  }
  if (p.added) {
    const V added = load(p.added);
    for (int e = 0; e < kEach; ++e) v.x[e] = T(widen<C>(v.x[e]) + widen<C>(added.x[e]));
  }
  for (int e = 0; e < kEach; ++e)
    if (p.relu && widen<C>(v.x[e]) < C(0)) v.x[e] = T(C(0));
  if (p.mask) {
    const V mask = load(p.mask);
    for (int e = 0; e < kEach; ++e)
      if (widen<C>(mask.x[e]) <= C(0)) v.x[e] = T(C(0));
  }
  return v;
}
template <class T, int kEach>
__global__ void __launch_bounds__(kThreads) channel_pass(ChannelPass p, HB_ARGUMENT(ChannelPlaces) places, T* y) {
  HB_GRID_LOOP(k, places.vectors) store_vector(y + k * kEach, pass_values<T, kEach>(p, places, k * kEach));
}

/// Sums of g and of g * x.
struct Pair {
  double a, b;
};
template <class C>
struct GradientResults {
  BatchNormChannels p;
  GradChannels grad;
  int64_t other;  // elements from x to g
  __device__ void store(int64_t c, const Pair& sum) const {
    const double centred = sum.b - sum.a * static_cast<double>(static_cast<const C*>(p.mean)[c]);
    static_cast<C*>(grad.sum_g)[c] = static_cast<C>(sum.a), static_cast<C*>(grad.sum_gx)[c] = static_cast<C>(centred);
    per_channel::grad_channel(p, c, grad);
  }
};
template <class T>
struct GradientSums : TwoInputs<T> {
  using Part = Pair;
  using Results = GradientResults<compute_t<T>>;
  static constexpr int kBlocks = 2;
  template <int kChains>
  struct Mine : Chains<GradientSums, kChains> {
    template <int k>
    __device__ void take(const Both<T>& v, int64_t) {
      const double g = v.b;
      this->chain[k].a += g, this->chain[k].b += g * static_cast<double>(v.a);
    }
    __device__ void edge(const Both<T>& v, int64_t index) { take<0>(v, index); }
  };
  __device__ static Pair none() { return {0, 0}; }
  __device__ static Pair merged(const Pair& a, const Pair& b) { return {a.a + b.a, a.b + b.b}; }
  __device__ static Pair from_lane(const Pair& v, int lanes) {
    return {__shfl_xor_sync(kFullWarp, v.a, lanes), __shfl_xor_sync(kFullWarp, v.b, lanes)};
  }
  __device__ static Pair from_other(const Pair* at) { return {written_by_others(&at->a), written_by_others(&at->b)}; }
};

/// The gradient that comes in is what a pass gives, which is put into memory.
template <class C>
struct PassResults : GradientResults<C> {
  ChannelPass pass;
  ChannelPlaces places;
  const void* x;
};
template <class T>
struct PassSums : GradientSums<T> {
  using Results = PassResults<compute_t<T>>;
  template <int kEach>
  struct Loads {
    Chunk<T, kEach> x;
    Elements<T, kEach> g;
    template <int e>
    __device__ Both<T> get() const {
      return {x.template get<e>(), static_cast<Loaded<T>>(g.x[e])};
    }
  };
  template <int kEach>
  __device__ static void load(Loads<kEach>& v, const T* at, const Results& results) {
    const int64_t i = at - static_cast<const T*>(results.x);
    v.x.load(at);
    v.g = pass_values<T, kEach>(results.pass, results.places, i);
    store_vector(const_cast<T*>(at) + results.other, v.g);
  }
};

template <class T, int kEach>
__global__ void __launch_bounds__(kThreads) gradient(HB_ARGUMENT(ChannelPlaces) places, GradChannels grad, T* grad_x,
                                                     const T* g, const T* x, const compute_t<T>* mean) {
  using C = compute_t<T>;
  using V = Elements<T, kEach>;
  const C *const a = static_cast<const C*>(grad.a), *const b = static_cast<const C*>(grad.b),
                 *const c = static_cast<const C*>(grad.c);
  HB_GRID_LOOP(at, places.vectors) {
    const int64_t i = at * kEach, first = places(i);
    V v = load_vector<V>(g + i);
    const V value = load_vector<V>(x + i);
    for (int e = 0; e < kEach; ++e) {
      const int64_t k = first + e * places.step;
      v.x[e] = T(widen<C>(v.x[e]) * a[k] + (widen<C>(value.x[e]) - mean[k]) * b[k] + c[k]);
    }
    store_vector(grad_x + i, v);
  }
}

/// Calls f with the elements of a vector of 16 bytes, or 1 where neighbours are not such vectors.
template <class T, class F, class... P>
void with_elements(const NormShape& s, const F& f, const P*... at) {
  if ((s.inner == 1 ? s.channels : s.inner) % kRowEach<T> == 0 && begin_vectors(at...))
    f(std::integral_constant<int, kRowEach<T>>());
  else
    f(std::integral_constant<int, 1>());
}

template <class T>
void launch_pass(const ChannelPass& p, T* y) {
  const auto launch = [&](auto each) {
    const ChannelPlaces places(p.shape, each);
    HB_LAUNCH((channel_pass<T, each.value>), blocks_for(places.vectors), kThreads, 0, current_stream(), p, places, y);
  };
  with_elements<T>(p.shape, launch, static_cast<const char*>(p.x), static_cast<const char*>(p.added),
                   static_cast<const char*>(p.mask), y);
}

template <class T>
void forward(const NormShape& s, const BatchNormChannels& p, T* y, const T* x) {
  if (p.training)
    reduce_channels<SpreadOf<T, Statistics<compute_t<T>>>>(s, x, {p});
  else
    HB_LAUNCH(from_running, blocks_for(p.channels, 64), 64, 0, current_stream(), p);
  if (!y) return;
  ChannelPass pass;
  pass.shape = s, pass.x = x, pass.scale = p.scale, pass.shift = p.shift;
  launch_pass<T>(pass, y);
}

template <class T>
void gradient_of_x(const NormShape& s, const BatchNormChannels& p, const BatchNormGradients& wanted, const T* g,
                   const T* x) {
  T* const grad_x = static_cast<T*>(wanted.x);
  const auto launch = [&](auto each) {
    const ChannelPlaces places(s, each);
    HB_LAUNCH((gradient<T, each.value>), blocks_for(places.vectors), kThreads, 0, current_stream(), places,
              GradChannels(p, wanted), grad_x, g, x, static_cast<const compute_t<T>*>(p.mean));
  };
  if (grad_x) with_elements<T>(s, launch, grad_x, g, x);
}

/// Of no elements.
void zero_gradients(const BatchNormChannels& p, const BatchNormGradients& wanted) {
  for (void* const of : {wanted.weight, wanted.bias})
    if (of)
      check(cudaMemsetAsync(of, 0, static_cast<size_t>(p.channels) * element_size(p.affine_dtype), current_stream()),
            "batch_norm_backward");
}

void batch_norm(ScalarType dtype, const NormShape& s, const BatchNormChannels& p, void* y, const void* x) {
  HB_FLOATING_SWITCH("batch_norm", dtype, [&](auto type) {
    using T = decltype(type);
    forward<T>(s, p, static_cast<T*>(y), static_cast<const T*>(x));
  });
}
void batch_norm_backward(ScalarType dtype, const NormShape& s, const BatchNormChannels& p,
                         const BatchNormGradients& wanted, const void* g, const void* x) {
  HB_FLOATING_SWITCH("batch_norm_backward", dtype, [&](auto type) {
    using T = decltype(type);
    const int64_t n = s.count() * s.channels;
    if (n == 0) return zero_gradients(p, wanted);
    const Aligned<T> of_g(g, n), of_x(x, n);
    reduce_channels<GradientSums<T>>(s, of_x.at, {p, GradChannels(p, wanted), of_g.at - of_x.at});
    gradient_of_x<T>(s, p, wanted, of_g.at, of_x.at);
  });
}
void run_pass(const ChannelPass& p, void* y) {
  HB_FLOATING_SWITCH("batch_norm", p.dtype,
                     [&](auto type) { launch_pass<decltype(type)>(p, static_cast<decltype(type)*>(y)); });
}
void backward_of_pass(const ChannelPass& incoming, const BatchNormChannels& p, const BatchNormGradients& wanted,
                      void* g, const void* x) {
  HB_FLOATING_SWITCH("batch_norm_backward", incoming.dtype, [&](auto type) {
    using T = decltype(type);
    const NormShape& s = incoming.shape;
    const T *const of_g = static_cast<T*>(g), *const of_x = static_cast<const T*>(x);
    const bool aligned =
        begin_vectors(of_g, of_x, static_cast<const char*>(incoming.x), static_cast<const char*>(incoming.added),
                      static_cast<const char*>(incoming.mask));
    launch_columns<PassSums<T>>(
        contiguous_columns(static_cast<const char*>(x), {1, s.outer, s.channels}, sizeof(T), aligned),
        {{p, GradChannels(p, wanted), of_g - of_x}, incoming, ChannelPlaces(s, 1), of_x});
    gradient_of_x<T>(s, p, wanted, of_g, of_x);
  });
}
HB_REGISTER_CUDA(batch_norm_kernel, batch_norm);
HB_REGISTER_CUDA(batch_norm_backward_kernel, batch_norm_backward);
HB_REGISTER_CUDA(channel_pass_kernel, run_pass);
HB_REGISTER_CUDA(batch_norm_backward_of_pass_kernel, backward_of_pass);

}  // namespace
}  // namespace hb::cuda
