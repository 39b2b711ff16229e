// Convolution as a matrix product over unfolded patches; rows are output positions, columns (kernel position, channel).
#include <vector>

#include "backend/gemm.h"
#include "cpu/conv.h"
#include "cpu/isa/channel_conv.h"

namespace hb::cpu::HB_ISA {
namespace {

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

void conv_forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvParams& p) {
  const Geometry g(x, y, weight, p);
  if (x.scalar_type() == kDouble) return forward(g, at<double>(y), at<double>(x), at<double>(weight), at<double>(bias));
  forward(g, at<float>(y), at<float>(x), at<float>(weight), at<float>(bias));
}
void conv_backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p) {
  const Geometry g(grad_x, grad_y, weight, p);
  if (grad_x.scalar_type() == kDouble)
    return backward_data(g, at<double>(grad_x), at<double>(grad_y), at<double>(weight));
  backward_data(g, at<float>(grad_x), at<float>(grad_y), at<float>(weight));
}
void conv_backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x, const Tensor& grad_y,
                          const ConvParams& p) {
  const Geometry g(x, grad_y, grad_weight, p);
  if (x.scalar_type() == kDouble)
    return backward_weight(g, at<double>(grad_weight), at<double>(grad_bias), at<double>(x), at<double>(grad_y));
  backward_weight(g, at<float>(grad_weight), at<float>(grad_bias), at<float>(x), at<float>(grad_y));
}

}  // namespace

extern const UnfoldConv unfold_conv = {conv_forward, conv_backward_data, conv_backward_weight};

}  // namespace hb::cpu::HB_ISA
