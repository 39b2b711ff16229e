// The gradient of many weights from few pixels, as one matrix product over the pixels of all images. oneDNN's kernel
// adds to the gradient image by image, and so takes it through the caches once for each.
#include <algorithm>

#include "backend/gemm.h"
#include "cpu/conv.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"

namespace hb::cpu {
namespace {

constexpr int64_t kChannels = 64;  // of the input at a time: their patches and product stay in the second cache
constexpr int64_t kRows = 1024;    // pixels at a time, for the same reason

struct Shape {
  int64_t batch, in_h, in_w, in_channels, out_h, out_w, out_channels, kernel_h, kernel_w;
  const ConvParams& p;

  Shape(const Tensor& x, const Tensor& y, const Tensor& weight, const ConvParams& params)
      : batch(x.size(0)),
        in_h(x.size(2)),
        in_w(x.size(3)),
        in_channels(x.size(1)),
        out_h(y.size(2)),
        out_w(y.size(3)),
        out_channels(y.size(1)),
        kernel_h(weight.size(2)),
        kernel_w(weight.size(3)),
        p(params) {}
  int64_t kernel() const { return kernel_h * kernel_w; }
  int64_t outputs() const { return out_h * out_w; }
};

/// A row for each pixel of the results of some images, a column for each position in the kernel and each of n channels.
void unfold(const Shape& s, const float* images, int64_t count, int64_t n, float* columns) {
  for (int64_t i = 0; i < count * s.outputs(); ++i) {
    const float* image = images + i / s.outputs() * s.in_h * s.in_w * s.in_channels;
    const int64_t top = i % s.outputs() / s.out_w * s.p.stride[0] - s.p.padding[0];
    const int64_t left = i % s.out_w * s.p.stride[1] - s.p.padding[1];
    for (int64_t a = 0; a < s.kernel_h; ++a)
      for (int64_t b = 0; b < s.kernel_w; ++b, columns += n) {
        const int64_t h = top + a * s.p.dilation[0], w = left + b * s.p.dilation[1];
        if (h < 0 || h >= s.in_h || w < 0 || w >= s.in_w)
          std::fill_n(columns, n, 0.0f);
        else
          std::copy_n(image + (h * s.in_w + w) * s.in_channels, n, columns);
      }
  }
}

/// (kernel, n) to (n, kernel); kKernel: how many, where that is known.
template <int64_t kKernel>
void channels_first(const float* in, int64_t n, int64_t kernel, float* out) {
  for (int64_t c = 0; c < n; ++c)
    for (int64_t k = 0; k < (kKernel ? kKernel : kernel); ++k) *out++ = in[k * n + c];
}

/// The gradient of the weights of n input channels from `first`, all output channels.
void weight_gradient_of(const Shape& s, const float* x, const float* grad_y, int64_t first, int64_t n,
                        float* grad_weight) {
  const int64_t width = s.kernel() * n, images = std::max<int64_t>(kRows / s.outputs(), 1);
  auto* columns = static_cast<float*>(
      scratch_buffer(Scratch::patches, std::min(images, s.batch) * s.outputs() * width * sizeof(float)));
  auto* product = static_cast<float*>(scratch_buffer(Scratch::tiles, s.out_channels * width * sizeof(float)));
  for (int64_t from = 0; from < s.batch; from += images) {
    const int64_t count = std::min(images, s.batch - from);
    unfold(s, x + from * s.in_h * s.in_w * s.in_channels + first, count, n, columns);
    Gemm g;
    g.m = s.out_channels, g.n = width, g.k = count * s.outputs(), g.beta = from == 0 ? 0 : 1;
    g.a.data = const_cast<float*>(grad_y + from * s.outputs() * s.out_channels), g.a.row = 1, g.a.col = s.out_channels;
    g.b.data = columns, g.b.row = width, g.b.col = 1;
    g.c.data = product, g.c.row = width, g.c.col = 1;
    gemm_kernel(kCPU)(g);
  }
  for (int64_t o = 0; o < s.out_channels; ++o) {
    float* out = grad_weight + (o * s.in_channels + first) * s.kernel();
    if (s.kernel() == 9)
      channels_first<9>(product + o * width, n, 9, out);
    else
      channels_first<0>(product + o * width, n, s.kernel(), out);
  }
}

/// Adds (pixels of some images, n channels, kernel) to the channels of the pixels that each came from.
template <int64_t kKernel>
void fold_add(const Shape& s, const float* product, int64_t count, int64_t n, float* images) {
  const int64_t kernel = kKernel ? kKernel : s.kernel();
  for (int64_t i = 0; i < count * s.outputs(); ++i, product += n * kernel) {
    float* image = images + i / s.outputs() * s.in_h * s.in_w * s.in_channels;
    const int64_t top = i % s.outputs() / s.out_w * s.p.stride[0] - s.p.padding[0];
    const int64_t left = i % s.out_w * s.p.stride[1] - s.p.padding[1];
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t h = top + k / s.kernel_w * s.p.dilation[0], w = left + k % s.kernel_w * s.p.dilation[1];
      if (h < 0 || h >= s.in_h || w < 0 || w >= s.in_w) continue;
      float* __restrict to = image + (h * s.in_w + w) * s.in_channels;
      for (int64_t c = 0; c < n; ++c) to[c] += product[c * kernel + k];
    }
  }
}

/// The gradient of n input channels from `first`.
void input_gradient_of(const Shape& s, const float* weight, const float* grad_y, int64_t first, int64_t n,
                       float* grad_x) {
  const int64_t width = s.kernel() * n, images = std::max<int64_t>(kRows / s.outputs(), 1);
  auto* product = static_cast<float*>(
      scratch_buffer(Scratch::tiles, std::min(images, s.batch) * s.outputs() * width * sizeof(float)));
  const int64_t inputs = s.in_h * s.in_w;
  for (int64_t from = 0; from < s.batch; from += images) {
    const int64_t count = std::min(images, s.batch - from);
    Gemm g;
    g.m = count * s.outputs(), g.n = width, g.k = s.out_channels;
    g.a.data = const_cast<float*>(grad_y + from * s.outputs() * s.out_channels), g.a.row = s.out_channels, g.a.col = 1;
    g.b.data = const_cast<float*>(weight + first * s.kernel()), g.b.row = s.in_channels * s.kernel(), g.b.col = 1;
    g.c.data = product, g.c.row = width, g.c.col = 1;
    gemm_kernel(kCPU)(g);
    float* out = grad_x + from * inputs * s.in_channels + first;
    for (int64_t i = 0; i < count * inputs; ++i) std::fill_n(out + i * s.in_channels, n, 0.0f);
    s.kernel() == 9 ? fold_add<9>(s, product, count, n, out) : fold_add<0>(s, product, count, n, out);
  }
}

// The weights do not fit the second cache, and an image has too few pixels for the work on it to hide that.
bool pays(const Shape& s, const Tensor& weight, int64_t few_pixels) {
  constexpr int64_t kCache = 1 << 20;
  return weight.numel() * static_cast<int64_t>(sizeof(float)) >= kCache && s.outputs() <= few_pixels &&
         s.kernel() > 1 && s.batch > 1;
}

bool applies(const Tensor& x, const ConvParams& p) { return x.scalar_type() == kFloat && p.dims == 2 && p.groups == 1; }

/// fn(first, n) for blocks of input channels, on all threads.
template <class F>
void over_channels(const Shape& s, const F& fn) {
  parallel_for(0, (s.in_channels + kChannels - 1) / kChannels, 1, [&](int64_t from, int64_t to) {
    for (int64_t block = from; block < to; ++block)
      fn(block * kChannels, std::min(kChannels, s.in_channels - block * kChannels));
  });
}

const float* floats(const Tensor& t) { return static_cast<const float*>(t.impl().raw_data()); }
float* writable(const Tensor& t) { return static_cast<float*>(t.impl().raw_data()); }

}  // namespace

bool product_conv_backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p) {
  if (!applies(grad_x, p)) return false;
  const Shape s(grad_x, grad_y, weight, p);
  if (!pays(s, weight, 32)) return false;
  over_channels(s, [&](int64_t first, int64_t n) {
    input_gradient_of(s, floats(weight), floats(grad_y), first, n, writable(grad_x));
  });
  return true;
}

bool product_conv_backward_weight(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& x,
                                  const Tensor& grad_y, const ConvParams& p) {
  if (!applies(x, p)) return false;
  const Shape s(x, grad_y, grad_weight, p);
  if (!pays(s, grad_weight, 64)) return false;
  over_channels(s, [&](int64_t first, int64_t n) {
    weight_gradient_of(s, floats(x), floats(grad_y), first, n, writable(grad_weight));
  });
  if (grad_bias.defined())
    column_sum_kernel(kCPU)(kFloat, writable(grad_bias), floats(grad_y), s.batch * s.outputs(), s.out_channels,
                            s.out_channels);
  return true;
}

}  // namespace hb::cpu
