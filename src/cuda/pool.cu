// Pooling over channels-last memory: a thread for each channel of each window.
#include "backend/pool.h"

#include "cuda/kernel_file.h"

namespace hb::cuda {
namespace {

/// The windows as a kernel is given them, by value. `kMost` is the number of windows of all three dimensions together.
template <int kMost>
struct Table {
  int32_t in[3], out[3], step[3], first[3];  // first: where the dimension's windows stand in the lists
  int32_t begin[kMost], end[kMost], extent[kMost];
  double divisor;

  explicit Table(const PoolWindows& w) : divisor(w.divisor) {
    int at = 0;
    for (int d = 0; d < 3; ++d) {
      const PoolWindows::Dim& dim = w.dim[d];
      in[d] = static_cast<int32_t>(dim.in), out[d] = static_cast<int32_t>(dim.out);
      step[d] = static_cast<int32_t>(dim.step), first[d] = at;
      for (int64_t o = 0; o < dim.out; ++o, ++at) {
        begin[at] = static_cast<int32_t>(dim.begin[o]), end[at] = static_cast<int32_t>(dim.end[o]);
        extent[at] = static_cast<int32_t>(dim.extent[o]);
      }
    }
  }
  __device__ int64_t inputs() const { return int64_t{in[0]} * in[1] * in[2]; }
  __device__ int64_t outputs() const { return int64_t{out[0]} * out[1] * out[2]; }
  // Places of window o in the lists.
  __device__ void places(int64_t o, int* at) const {
    at[0] = first[0] + static_cast<int>(o / (int64_t{out[1]} * out[2]));
    at[1] = first[1] + static_cast<int>(o / out[2] % out[1]);
    at[2] = first[2] + static_cast<int>(o % out[2]);
  }
  // Calls f(position in the plane) for each element of window o.
  template <class F>
  __device__ void over_window(int64_t o, const F& f) const {
    int at[3];
    places(o, at);
    for (int i = begin[at[0]]; i < end[at[0]]; i += step[0])
      for (int j = begin[at[1]]; j < end[at[1]]; j += step[1])
        for (int k = begin[at[2]]; k < end[at[2]]; k += step[2]) f((int64_t{i} * in[1] + j) * in[2] + k);
  }
  __device__ double divisor_of(int64_t o) const {
    if (divisor != 0) return divisor;
    int at[3];
    places(o, at);
    return static_cast<double>(extent[at[0]]) * extent[at[1]] * extent[at[2]];
  }
  // Calls f(o) for each window that element p of the plane is in.
  template <class F>
  __device__ void over_windows_of(int64_t p, const F& f) const {
    const int at[3] = {static_cast<int>(p / (int64_t{in[1]} * in[2])), static_cast<int>(p / in[2] % in[1]),
                       static_cast<int>(p % in[2])};
    int from[3], to[3];
    for (int d = 0; d < 3; ++d) {
      from[d] = first_ending_after(d, at[d]);
      to[d] = from[d];
      while (to[d] < out[d] && begin[first[d] + to[d]] <= at[d]) ++to[d];
    }
    for (int i = from[0]; i < to[0]; ++i)
      for (int j = from[1]; j < to[1]; ++j)
        for (int k = from[2]; k < to[2]; ++k)
          if (holds(0, i, at[0]) && holds(1, j, at[1]) && holds(2, k, at[2])) f((int64_t{i} * out[1] + j) * out[2] + k);
  }

 private:
  __device__ bool holds(int d, int o, int p) const {
    const int b = begin[first[d] + o];
    return p >= b && p < end[first[d] + o] && (p - b) % step[d] == 0;
  }
  // Windows begin and end in order.
  __device__ int first_ending_after(int d, int p) const {
    int low = 0, high = out[d];
    while (low < high) {
      const int middle = (low + high) / 2;
      if (end[first[d] + middle] > p)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
};

template <class T, class W>
__global__ void max_pool_windows(T* y, int32_t* index, const T* x, int64_t n, int64_t channels, HB_ARGUMENT(W) w) {
  using C = compute_t<T>;
  HB_GRID_LOOP(i, n) {
    const int64_t c = i % channels, o = i / channels % w.outputs(), image = i / channels / w.outputs();
    const T* plane = x + image * w.inputs() * channels + c;
    C top = 0;
    int64_t place = -1;
    w.over_window(o, [&](int64_t p) {
      const C v = widen<C>(plane[p * channels]);
      if (place >= 0 && !(v > top) && v == v) return;
      top = v, place = p;
    });
    if (place < 0) top = -C(INFINITY), place = 0;  // a window without elements
    y[i] = T(top);
    if (index) index[i] = static_cast<int32_t>(place);
  }
}
template <class T, class W>
__global__ void max_pool_gradient(T* grad_x, const T* grad_y, const int32_t* index, int64_t n, int64_t channels,
                                  HB_ARGUMENT(W) w) {
  using C = compute_t<T>;
  HB_GRID_LOOP(i, n) {
    const int64_t c = i % channels, p = i / channels % w.inputs(), image = i / channels / w.inputs();
    C sum = 0;
    w.over_windows_of(p, [&](int64_t o) {
      const int64_t at = (image * w.outputs() + o) * channels + c;
      if (index[at] == p) sum += widen<C>(grad_y[at]);
    });
    grad_x[i] = T(sum);
  }
}
template <class T, class W>
__global__ void avg_pool_windows(T* y, const T* x, int64_t n, int64_t channels, HB_ARGUMENT(W) w) {
  using C = compute_t<T>;
  HB_GRID_LOOP(i, n) {
    const int64_t c = i % channels, o = i / channels % w.outputs(), image = i / channels / w.outputs();
    const T* plane = x + image * w.inputs() * channels + c;
    C sum = 0;
    w.over_window(o, [&](int64_t p) { sum += widen<C>(plane[p * channels]); });
    y[i] = T(sum / static_cast<C>(w.divisor_of(o)));
  }
}
template <class T, class W>
__global__ void avg_pool_gradient(T* grad_x, const T* grad_y, int64_t n, int64_t channels, HB_ARGUMENT(W) w) {
  using C = compute_t<T>;
  HB_GRID_LOOP(i, n) {
    const int64_t c = i % channels, p = i / channels % w.inputs(), image = i / channels / w.inputs();
    C sum = 0;
    w.over_windows_of(p, [&](int64_t o) {
      sum += widen<C>(grad_y[(image * w.outputs() + o) * channels + c]) * static_cast<C>(1 / w.divisor_of(o));
    });
    grad_x[i] = T(sum);
  }
}

// Calls fn(T(), table) for the dtype and the smallest table that holds the windows.
template <class F>
void with_table(const char* name, ScalarType dtype, const PoolWindows& w, const F& fn) {
  constexpr int kSmall = 256, kLarge = 2500;  // 3 KB and 30 KB: what a launch may carry
  const int64_t windows = w.dim[0].out + w.dim[1].out + w.dim[2].out;
  HB_CHECK(windows <= kLarge, "[", name, "] expected at most ", kLarge, " windows along all dimensions together on ",
           "CUDA, got ", windows);
  HB_FLOATING_SWITCH(name, dtype, [&](auto type) {
    if (windows <= kSmall)
      fn(type, Table<kSmall>(w));
    else
      fn(type, Table<kLarge>(w));
  });
}

template <class T>
T* data(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.impl().raw_data()) : nullptr;
}

void max_pool(const Tensor& y, const Tensor& index, const Tensor& x, const PoolWindows& w) {
  with_table("max_pool", x.scalar_type(), w, [&](auto type, const auto& table) {
    using T = decltype(type);
    using W = std::decay_t<decltype(table)>;
    HB_LAUNCH((max_pool_windows<T, W>), blocks_for(y.numel()), kThreads, 0, current_stream(), data<T>(y),
              data<int32_t>(index), data<T>(x), y.numel(), x.size(1), table);
  });
}
void max_pool_backward(const Tensor& grad_x, const Tensor& grad_y, const Tensor& index, const PoolWindows& w) {
  with_table("max_pool_backward", grad_x.scalar_type(), w, [&](auto type, const auto& table) {
    using T = decltype(type);
    using W = std::decay_t<decltype(table)>;
    HB_LAUNCH((max_pool_gradient<T, W>), blocks_for(grad_x.numel()), kThreads, 0, current_stream(), data<T>(grad_x),
              data<T>(grad_y), data<int32_t>(index), grad_x.numel(), grad_x.size(1), table);
  });
}
void avg_pool(const Tensor& y, const Tensor& x, const PoolWindows& w) {
  with_table("avg_pool", x.scalar_type(), w, [&](auto type, const auto& table) {
    using T = decltype(type);
    using W = std::decay_t<decltype(table)>;
    HB_LAUNCH((avg_pool_windows<T, W>), blocks_for(y.numel()), kThreads, 0, current_stream(), data<T>(y), data<T>(x),
              y.numel(), x.size(1), table);
  });
}
void avg_pool_backward(const Tensor& grad_x, const Tensor& grad_y, const PoolWindows& w) {
  with_table("avg_pool_backward", grad_x.scalar_type(), w, [&](auto type, const auto& table) {
    using T = decltype(type);
    using W = std::decay_t<decltype(table)>;
    HB_LAUNCH((avg_pool_gradient<T, W>), blocks_for(grad_x.numel()), kThreads, 0, current_stream(), data<T>(grad_x),
              data<T>(grad_y), grad_x.numel(), grad_x.size(1), table);
  });
}
HB_REGISTER_CUDA(max_pool_kernel, max_pool);
HB_REGISTER_CUDA(max_pool_backward_kernel, max_pool_backward);
HB_REGISTER_CUDA(avg_pool_kernel, avg_pool);
HB_REGISTER_CUDA(avg_pool_backward_kernel, avg_pool_backward);

}  // namespace
}  // namespace hb::cuda
