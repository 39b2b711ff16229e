// pixel_shuffle and its kin, unfolding into columns and back.
#include <halfbridge/ops.h>

#include "autocast/function_watch.h"

namespace hb {

Tensor pixel_shuffle(const Tensor& self, int64_t r) {
  HB_FUNCTION(pixel_shuffle, self, r);
  HB_CHECK(self.dim() >= 3 && r > 0 && self.size(-3) % (r * r) == 0, "[pixel_shuffle] expected (…, C * ", r,
           "^2, H, W), got ", self.sizes());
  DimVector split(self.sizes().data(), self.sizes().data() + self.dim() - 3), out = split;
  const int64_t c = self.size(-3) / (r * r), h = self.size(-2), w = self.size(-1), n = self.dim() - 3;
  for (int64_t s : {c, r, r, h, w}) split.push_back(s);
  for (int64_t s : {c, h * r, w * r}) out.push_back(s);
  std::vector<int64_t> order;
  for (int64_t d = 0; d < n; ++d) order.push_back(d);
  for (int64_t d : {0, 3, 1, 4, 2}) order.push_back(n + d);
  return self.reshape(split).permute(order).reshape(out);
}

Tensor pixel_unshuffle(const Tensor& self, int64_t r) {
  HB_FUNCTION(pixel_unshuffle, self, r);
  HB_CHECK(self.dim() >= 3 && r > 0 && self.size(-2) % r == 0 && self.size(-1) % r == 0,
           "[pixel_unshuffle] expected height and width to be multiples of ", r, ", got ", self.sizes());
  DimVector split(self.sizes().data(), self.sizes().data() + self.dim() - 3), out = split;
  const int64_t c = self.size(-3), h = self.size(-2) / r, w = self.size(-1) / r, n = self.dim() - 3;
  for (int64_t s : {c, h, r, w, r}) split.push_back(s);
  for (int64_t s : {c * r * r, h, w}) out.push_back(s);
  std::vector<int64_t> order;
  for (int64_t d = 0; d < n; ++d) order.push_back(d);
  for (int64_t d : {0, 2, 4, 1, 3}) order.push_back(n + d);
  return self.reshape(split).permute(order).reshape(out);
}

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  HB_FUNCTION(channel_shuffle, self, groups);
  HB_CHECK(self.dim() >= 3 && groups > 0 && self.size(1) % groups == 0,
           "[channel_shuffle] expected (N, C, …) with C a multiple of ", groups, ", got ", self.sizes());
  DimVector split(self.sizes());
  split[1] = groups;
  split.insert(2, self.size(1) / groups);
  return self.reshape(split).transpose(1, 2).reshape(self.sizes());
}

namespace {

struct Unfolding {
  int64_t out;   // windows along the dimension
  Tensor index;  // (kernel * out): padded position of each kernel element of each window
};

int64_t nth(IntArrayRef list, int d) {
  HB_CHECK(list.size() == 2, "[im2col] expected parameters of 2 values, got ", list);
  return list[d];
}

Unfolding unfolding(const char* name, int64_t size, int d, IntArrayRef kernel, IntArrayRef dilation,
                    IntArrayRef padding, IntArrayRef stride) {
  const int64_t k = nth(kernel, d), step = nth(dilation, d), pad = nth(padding, d), stride_d = nth(stride, d);
  HB_CHECK(k > 0 && step > 0 && stride_d > 0 && pad >= 0, "[", name,
           "] expected kernel_size, dilation and stride above 0 and padding of at least 0, got ", kernel, ", ",
           dilation, ", ", stride, " and ", padding);
  const int64_t out = (size + 2 * pad - step * (k - 1) - 1) / stride_d + 1;
  HB_CHECK(size + 2 * pad >= step * (k - 1) + 1, "[", name, "] expected a kernel that fits in the padded size ",
           size + 2 * pad, ", got ", kernel);
  std::vector<int64_t> at;
  for (int64_t i = 0; i < k; ++i)
    for (int64_t o = 0; o < out; ++o) at.push_back(o * stride_d + i * step);
  return {out, tensor(at, kLong)};
}

}  // namespace

Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
              IntArrayRef stride) {
  HB_FUNCTION(im2col, self, kernel_size, dilation, padding, stride);
  HB_CHECK(self.dim() == 3 || self.dim() == 4, "[im2col] expected an input (N, C, H, W) or (C, H, W), got ",
           self.sizes());
  if (self.dim() == 3) return im2col(self.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0);
  const auto h = unfolding("im2col", self.size(2), 0, kernel_size, dilation, padding, stride);
  const auto w = unfolding("im2col", self.size(3), 1, kernel_size, dilation, padding, stride);
  const int64_t kh = nth(kernel_size, 0), kw = nth(kernel_size, 1), ph = nth(padding, 0), pw = nth(padding, 1);
  const Tensor x = ph || pw ? constant_pad_nd(self, {pw, pw, ph, ph}) : self;
  return x.index_select(2, h.index)
      .index_select(3, w.index)
      .reshape({self.size(0), self.size(1), kh, h.out, kw, w.out})
      .permute({0, 1, 2, 4, 3, 5})
      .reshape({self.size(0), self.size(1) * kh * kw, h.out * w.out});
}

Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
              IntArrayRef padding, IntArrayRef stride) {
  HB_FUNCTION(col2im, self, output_size, kernel_size, dilation, padding, stride);
  HB_CHECK(self.dim() == 2 || self.dim() == 3, "[col2im] expected an input (N, C * kernel, L) or (C * kernel, L), got ",
           self.sizes());
  if (self.dim() == 2) return col2im(self.unsqueeze(0), output_size, kernel_size, dilation, padding, stride).squeeze(0);
  const int64_t height = nth(output_size, 0), width = nth(output_size, 1), kh = nth(kernel_size, 0),
                kw = nth(kernel_size, 1);
  const auto h = unfolding("col2im", height, 0, kernel_size, dilation, padding, stride);
  const auto w = unfolding("col2im", width, 1, kernel_size, dilation, padding, stride);
  HB_CHECK(self.size(1) % (kh * kw) == 0 && self.size(2) == h.out * w.out, "[col2im] expected (N, C * ", kh * kw, ", ",
           h.out * w.out, "), got ", self.sizes());
  const int64_t n = self.size(0), c = self.size(1) / (kh * kw), ph = nth(padding, 0), pw = nth(padding, 1);
  const Tensor windows =
      self.reshape({n, c, kh, kw, h.out, w.out}).permute({0, 1, 2, 4, 3, 5}).reshape({n, c, kh * h.out, kw * w.out});
  const Tensor columns = zeros({n, c, kh * h.out, width + 2 * pw}, self.options()).index_add(3, w.index, windows);
  const Tensor image = zeros({n, c, height + 2 * ph, width + 2 * pw}, self.options()).index_add(2, h.index, columns);
  return image.narrow(2, ph, height).narrow(3, pw, width).contiguous();
}

}  // namespace hb
