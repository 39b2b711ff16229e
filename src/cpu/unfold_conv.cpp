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

template <class T>
void forward(const Geometry& g, T* y, const T* x, const T* weight, const T* bias) {
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
void backward_weight(const Geometry& g, T* grad_weight, T* grad_bias, const T* x, const T* grad_y) {
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
