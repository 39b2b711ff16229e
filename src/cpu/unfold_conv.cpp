// Convolution as a matrix product over unfolded patches; rows are output positions, columns (kernel position, channel).
#include <vector>

#include "backend/gemm.h"
#include "cpu/conv.h"
#include "cpu/parallel.h"

namespace hb::cpu {
namespace {

struct Geometry {
  int64_t batch, cin, cout, group_in, group_out, groups;
  int64_t x[3] = {1, 1, 1}, y[3] = {1, 1, 1}, k[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};
  int64_t kernel = 1, outputs = 1, inputs = 1;

  Geometry(const Tensor& tx, const Tensor& ty, const Tensor& tw, const ConvParams& p) {
    batch = tx.size(0), cin = tx.size(1), cout = ty.size(1), groups = p.groups;
    group_in = cin / groups, group_out = cout / groups;
    for (int d = 0; d < p.dims; ++d) {
      const int at = 3 - p.dims + d;
      x[at] = tx.size(2 + d), y[at] = ty.size(2 + d), k[at] = tw.size(2 + d);
      stride[at] = p.stride[d], padding[at] = p.padding[d], dilation[at] = p.dilation[d];
    }
    for (int d = 0; d < 3; ++d) kernel *= k[d], outputs *= y[d], inputs *= x[d];
  }
  int64_t columns() const { return kernel * group_in; }
  // Each channel has a filter of its own.
  bool by_channel() const { return group_in == 1 && group_out == 1 && groups > 1; }
  // The patches are the image.
  bool is_pointwise() const {
    bool same = kernel == 1 && outputs == inputs;
    for (int d = 0; d < 3; ++d) same &= stride[d] == 1 && padding[d] == 0;
    return same;
  }

  // Calls f(column block, input position or -1) for each output row and kernel position.
  template <class F>
  void patches(int64_t row, const F& f) const {
    const int64_t o[3] = {row / (y[1] * y[2]), row / y[2] % y[1], row % y[2]};
    int64_t block = 0;
    for (int64_t a = 0; a < k[0]; ++a)
      for (int64_t b = 0; b < k[1]; ++b)
        for (int64_t c = 0; c < k[2]; ++c, ++block) {
          const int64_t i = o[0] * stride[0] - padding[0] + a * dilation[0];
          const int64_t j = o[1] * stride[1] - padding[1] + b * dilation[1];
          const int64_t l = o[2] * stride[2] - padding[2] + c * dilation[2];
          const bool inside = i >= 0 && i < x[0] && j >= 0 && j < x[1] && l >= 0 && l < x[2];
          f(block, inside ? (i * x[1] + j) * x[2] + l : -1);
        }
  }
};

template <class T>
void unfold(const Geometry& g, const T* image, int64_t group, T* columns) {
  for (int64_t row = 0; row < g.outputs; ++row) {
    T* out = columns + row * g.columns();
    g.patches(row, [&](int64_t block, int64_t at) {
      T* to = out + block * g.group_in;
      if (at < 0) return std::fill(to, to + g.group_in, T(0));
      const T* from = image + at * g.cin + group * g.group_in;
      std::copy(from, from + g.group_in, to);
    });
  }
}

template <class T>
void fold_add(const Geometry& g, const T* columns, int64_t group, T* image) {
  for (int64_t row = 0; row < g.outputs; ++row) {
    const T* in = columns + row * g.columns();
    g.patches(row, [&](int64_t block, int64_t at) {
      if (at < 0) return;
      const T* from = in + block * g.group_in;
      T* to = image + at * g.cin + group * g.group_in;
      for (int64_t c = 0; c < g.group_in; ++c) to[c] += from[c];
    });
  }
}

// (Cout, group_in, kernel) to (Cout, kernel, group_in) or back.
template <class T>
std::vector<T> weights_by_position(const Geometry& g, const T* w) {
  std::vector<T> out(g.cout * g.columns());
  for (int64_t o = 0; o < g.cout; ++o)
    for (int64_t c = 0; c < g.group_in; ++c)
      for (int64_t p = 0; p < g.kernel; ++p)
        out[(o * g.kernel + p) * g.group_in + c] = w[(o * g.group_in + c) * g.kernel + p];
  return out;
}

// (channels, kernel) to (kernel, channels), of filters of one channel each.
template <class T>
std::vector<T> positions_first(const Geometry& g, const T* w) {
  std::vector<T> out(g.kernel * g.cin);
  for (int64_t c = 0; c < g.cin; ++c)
    for (int64_t p = 0; p < g.kernel; ++p) out[p * g.cin + c] = w[c * g.kernel + p];
  return out;
}

GemmMatrix matrix(const void* data, int64_t row, int64_t col) {
  GemmMatrix m;
  m.data = const_cast<void*>(data), m.row = row, m.col = col;
  return m;
}

template <class T>
Gemm product(int64_t m, int64_t n, int64_t k, GemmMatrix a, GemmMatrix b, GemmMatrix c, double beta) {
  Gemm g;
  g.dtype = dtype_of<T>::value;
  g.m = m, g.n = n, g.k = k, g.a = a, g.b = b, g.c = c, g.beta = beta;
  return g;
}

// ---- a filter for each channel: what gemm would do with columns of one, done for all channels at once. Filters and
// their gradients are (kernel, channels).

template <class T>
void forward_by_channel(const Geometry& g, T* y, const T* x, const T* weight, const T* bias) {
  const std::vector<T> w = positions_first(g, weight);
  parallel_for(0, g.batch * g.outputs, std::max<int64_t>(1, kGrain / (g.kernel * g.cin)),
               [&](int64_t from, int64_t to) {
                 for (int64_t i = from; i < to; ++i) {
                   const T* image = x + i / g.outputs * g.inputs * g.cin;
                   T* __restrict out = y + i * g.cin;
                   for (int64_t c = 0; c < g.cin; ++c) out[c] = bias ? bias[c] : T(0);
                   g.patches(i % g.outputs, [&](int64_t block, int64_t at) {
                     if (at < 0) return;
                     const T *in = image + at * g.cin, *filter = w.data() + block * g.cin;
                     for (int64_t c = 0; c < g.cin; ++c) out[c] += in[c] * filter[c];
                   });
                 }
               });
}

template <class T>
void backward_data_by_channel(const Geometry& g, T* grad_x, const T* grad_y, const T* weight) {
  const std::vector<T> w = positions_first(g, weight);
  parallel_for(0, g.batch, 1, [&](int64_t from, int64_t to) {
    std::fill(grad_x + from * g.inputs * g.cin, grad_x + to * g.inputs * g.cin, T(0));
    for (int64_t i = from * g.outputs; i < to * g.outputs; ++i) {
      T* image = grad_x + i / g.outputs * g.inputs * g.cin;
      const T* grad = grad_y + i * g.cin;
      g.patches(i % g.outputs, [&](int64_t block, int64_t at) {
        if (at < 0) return;
        T* __restrict sum = image + at * g.cin;
        const T* filter = w.data() + block * g.cin;
        for (int64_t c = 0; c < g.cin; ++c) sum[c] += grad[c] * filter[c];
      });
    }
  });
}

template <class T>
void backward_weight_by_channel(const Geometry& g, T* grad_weight, const T* x, const T* grad_y) {
  const int threads = threads_for(g.batch, 1);
  std::vector<T> sums(threads * g.kernel * g.cin, T(0));
  parallel_ranges(0, g.batch, threads, [&](int64_t from, int64_t to, int thread) {
    T* mine = sums.data() + thread * g.kernel * g.cin;
    for (int64_t i = from * g.outputs; i < to * g.outputs; ++i) {
      const T *image = x + i / g.outputs * g.inputs * g.cin, *grad = grad_y + i * g.cin;
      g.patches(i % g.outputs, [&](int64_t block, int64_t at) {
        if (at < 0) return;
        T* __restrict sum = mine + block * g.cin;
        const T* in = image + at * g.cin;
        for (int64_t c = 0; c < g.cin; ++c) sum[c] += grad[c] * in[c];
      });
    }
  });
  for (int64_t c = 0; c < g.cin; ++c)
    for (int64_t p = 0; p < g.kernel; ++p) {
      T sum = 0;
      for (int t = 0; t < threads; ++t) sum += sums[(t * g.kernel + p) * g.cin + c];
      grad_weight[c * g.kernel + p] = sum;
    }
}

// The patches of a pointwise convolution are the images, all of them one matrix.
template <class T>
void forward_pointwise(const Geometry& g, T* y, const T* x, const T* weight, const T* bias) {
  for (int64_t group = 0; group < g.groups; ++group) {
    auto p = product<T>(g.batch * g.outputs, g.group_out, g.group_in, matrix(x + group * g.group_in, g.cin, 1),
                        matrix(weight + group * g.group_out * g.group_in, 1, g.group_in),
                        matrix(y + group * g.group_out, g.cout, 1), 0);
    if (bias) p.bias = bias + group * g.group_out;
    gemm_kernel(kCPU)(p);
  }
}
template <class T>
void backward_data_pointwise(const Geometry& g, T* grad_x, const T* grad_y, const T* weight) {
  for (int64_t group = 0; group < g.groups; ++group)
    gemm_kernel(kCPU)(product<T>(g.batch * g.outputs, g.group_in, g.group_out,
                                 matrix(grad_y + group * g.group_out, g.cout, 1),
                                 matrix(weight + group * g.group_out * g.group_in, g.group_in, 1),
                                 matrix(grad_x + group * g.group_in, g.cin, 1), 0));
}
template <class T>
void backward_weight_pointwise(const Geometry& g, T* grad_weight, const T* x, const T* grad_y) {
  for (int64_t group = 0; group < g.groups; ++group)
    gemm_kernel(kCPU)(product<T>(g.group_out, g.group_in, g.batch * g.outputs,
                                 matrix(grad_y + group * g.group_out, 1, g.cout),
                                 matrix(x + group * g.group_in, g.cin, 1),
                                 matrix(grad_weight + group * g.group_out * g.group_in, g.group_in, 1), 0));
}

template <class T>
void forward(const Geometry& g, T* y, const T* x, const T* weight, const T* bias) {
  if (g.by_channel()) return forward_by_channel(g, y, x, weight, bias);
  if (g.is_pointwise()) return forward_pointwise(g, y, x, weight, bias);
  const auto w = weights_by_position(g, weight);
  parallel_for(0, g.batch * g.groups, 1, [&](int64_t from, int64_t to) {
    std::vector<T> columns(g.outputs * g.columns());
    for (int64_t i = from; i < to; ++i) {
      const int64_t n = i / g.groups, group = i % g.groups;
      unfold(g, x + n * g.inputs * g.cin, group, columns.data());
      auto p = product<T>(g.outputs, g.group_out, g.columns(), matrix(columns.data(), g.columns(), 1),
                          matrix(w.data() + group * g.group_out * g.columns(), 1, g.columns()),
                          matrix(y + n * g.outputs * g.cout + group * g.group_out, g.cout, 1), 0);
      if (bias) p.bias = bias + group * g.group_out;
      gemm_kernel(kCPU)(p);
    }
  });
}

template <class T>
void backward_data(const Geometry& g, T* grad_x, const T* grad_y, const T* weight) {
  if (g.by_channel()) return backward_data_by_channel(g, grad_x, grad_y, weight);
  if (g.is_pointwise()) return backward_data_pointwise(g, grad_x, grad_y, weight);
  const auto w = weights_by_position(g, weight);
  std::fill(grad_x, grad_x + g.batch * g.inputs * g.cin, T(0));
  parallel_for(0, g.batch * g.groups, 1, [&](int64_t from, int64_t to) {
    std::vector<T> columns(g.outputs * g.columns());
    for (int64_t i = from; i < to; ++i) {
      const int64_t n = i / g.groups, group = i % g.groups;
      gemm_kernel(kCPU)(product<T>(g.outputs, g.columns(), g.group_out,
                                   matrix(grad_y + n * g.outputs * g.cout + group * g.group_out, g.cout, 1),
                                   matrix(w.data() + group * g.group_out * g.columns(), g.columns(), 1),
                                   matrix(columns.data(), g.columns(), 1), 0));
      fold_add(g, columns.data(), group, grad_x + n * g.inputs * g.cin);
    }
  });
}

template <class T>
void backward_weight_by_patches(const Geometry& g, T* grad_weight, const T* x, const T* grad_y) {
  std::vector<T> w(g.cout * g.columns(), T(0)), columns(g.outputs * g.columns());
  for (int64_t n = 0; n < g.batch; ++n)
    for (int64_t group = 0; group < g.groups; ++group) {
      unfold(g, x + n * g.inputs * g.cin, group, columns.data());
      gemm_kernel(kCPU)(product<T>(g.group_out, g.columns(), g.outputs,
                                   matrix(grad_y + n * g.outputs * g.cout + group * g.group_out, 1, g.cout),
                                   matrix(columns.data(), g.columns(), 1),
                                   matrix(w.data() + group * g.group_out * g.columns(), g.columns(), 1), 1));
    }
  for (int64_t o = 0; o < g.cout; ++o)
    for (int64_t c = 0; c < g.group_in; ++c)
      for (int64_t p = 0; p < g.kernel; ++p)
        grad_weight[(o * g.group_in + c) * g.kernel + p] = w[(o * g.kernel + p) * g.group_in + c];
}
template <class T>
void backward_weight(const Geometry& g, T* grad_weight, T* grad_bias, const T* x, const T* grad_y) {
  if (g.by_channel())
    backward_weight_by_channel(g, grad_weight, x, grad_y);
  else if (g.is_pointwise())
    backward_weight_pointwise(g, grad_weight, x, grad_y);
  else
    backward_weight_by_patches(g, grad_weight, x, grad_y);
  if (grad_bias) column_sum_kernel(kCPU)(dtype_of<T>::value, grad_bias, grad_y, g.batch * g.outputs, g.cout, g.cout);
}

template <class T>
T* at(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.impl().raw_data()) : nullptr;
}

}  // namespace

void unfold_conv_forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias,
                         const ConvParams& p) {
  const Geometry g(x, y, weight, p);
  if (x.scalar_type() == kDouble) return forward(g, at<double>(y), at<double>(x), at<double>(weight), at<double>(bias));
  forward(g, at<float>(y), at<float>(x), at<float>(weight), at<float>(bias));
}
void unfold_conv_backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p) {
  const Geometry g(grad_x, grad_y, weight, p);
  if (grad_x.scalar_type() == kDouble)
    return backward_data(g, at<double>(grad_x), at<double>(grad_y), at<double>(weight));
  backward_data(g, at<float>(grad_x), at<float>(grad_y), at<float>(weight));
}
void unfold_conv_backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x,
                                 const Tensor& grad_y, const ConvParams& p) {
  const Geometry g(x, grad_y, grad_weight, p);
  if (x.scalar_type() == kDouble)
    return backward_weight(g, at<double>(grad_weight), at<double>(grad_bias), at<double>(x), at<double>(grad_y));
  backward_weight(g, at<float>(grad_weight), at<float>(grad_bias), at<float>(x), at<float>(grad_y));
}

}  // namespace hb::cpu
