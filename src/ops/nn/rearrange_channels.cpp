// pixel_shuffle and its kin, unfolding into columns and back.
#include <halfbridge/ops.h>

#include <halfbridge/grad_mode.h>

#include "autograd/named.h"
#include "autograd/record.h"
#include "backend/elementwise.h"
#include "backend/fold.h"
#include "core/function_watch.h"
#include "core/loop.h"
#include "ops/common/layout.h"
#include "ops/common/refused_dtypes.h"

namespace hb {

namespace {
/// `result` as the function `node` gives it: in self's layout and in memory of its own.
Tensor rearranged(const char* node, const Tensor& self, const Tensor& result) {
  const Tensor own = result.is_alias_of(self) ? result.clone(MemoryFormat::Contiguous) : result;
  return named(node, ops::in_layout_of(self, own), self);
}
}  // namespace

Tensor pixel_shuffle(const Tensor& self, int64_t r) {
  HB_FUNCTION(pixel_shuffle, self, r);
  HB_CHECK(r < int64_t{1} << 31, "[pixel_shuffle] upscale factor is too large, (upscale_factor)^2 overflowed: ", r);
  HB_CHECK(self.dim() >= 3,
           "[pixel_shuffle] pixel_shuffle expects input to have at least 3 dimensions, but got input with ", self.dim(),
           " dimension(s)");
  HB_CHECK(r > 0, "[pixel_shuffle] pixel_shuffle expects a positive upscale_factor, but got ", r);
  HB_CHECK(self.size(-3) % (r * r) == 0,
           "[pixel_shuffle] pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
           "upscale_factor, but input.size(-3)=",
           self.size(-3), " is not divisible by ", r * r);
  DimVector split(self.sizes().data(), self.sizes().data() + self.dim() - 3), out = split;
  const int64_t c = self.size(-3) / (r * r), h = self.size(-2), w = self.size(-1), n = self.dim() - 3;
  for (int64_t s : {c, r, r, h, w}) split.push_back(s);
  for (int64_t s : {c, h * r, w * r}) out.push_back(s);
  std::vector<int64_t> order;
  for (int64_t d = 0; d < n; ++d) order.push_back(d);
  for (int64_t d : {0, 3, 1, 4, 2}) order.push_back(n + d);
  return rearranged("PixelShuffleBackward0", self, self.reshape(split).permute(order).reshape(out));
}

Tensor pixel_unshuffle(const Tensor& self, int64_t r) {
  HB_FUNCTION(pixel_unshuffle, self, r);
  HB_CHECK(self.dim() >= 3, "[pixel_unshuffle] pixel_unshuffle expects input to have at least 3 dimensions, but got ",
           self.sizes());
  HB_CHECK(r > 0, "[pixel_unshuffle] pixel_unshuffle expects a positive downscale_factor, but got ", r);
  for (const int64_t d : {-2, -1})
    HB_CHECK(self.size(d) % r == 0, "[pixel_unshuffle] pixel_unshuffle expects ", d == -2 ? "height" : "width",
             " to be divisible by downscale_factor, but input.size(", d, ")=", self.size(d), " is not divisible by ",
             r);
  DimVector split(self.sizes().data(), self.sizes().data() + self.dim() - 3), out = split;
  const int64_t c = self.size(-3), h = self.size(-2) / r, w = self.size(-1) / r, n = self.dim() - 3;
  for (int64_t s : {c, h, r, w, r}) split.push_back(s);
  for (int64_t s : {c * r * r, h, w}) out.push_back(s);
  std::vector<int64_t> order;
  for (int64_t d = 0; d < n; ++d) order.push_back(d);
  for (int64_t d : {0, 2, 4, 1, 3}) order.push_back(n + d);
  return rearranged("PixelUnshuffleBackward0", self, self.reshape(split).permute(order).reshape(out));
}

namespace {
/// A view without history in which dimension 1 is split into two, which trade places if `turned`.
Tensor channels_split(const Tensor& t, int64_t first, int64_t second, bool turned) {
  DimVector sizes(t.sizes()), strides(t.strides());
  sizes[1] = first, sizes.insert(2, second);
  strides.insert(1, strides[1] * second);
  if (turned) std::swap(sizes[1], sizes[2]), std::swap(strides[1], strides[2]);
  return detail::make_view_tensor(t, t.scalar_type(), std::move(sizes), std::move(strides), t.storage_offset());
}
}  // namespace

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  HB_FUNCTION(channel_shuffle, self, groups);
  HB_CHECK(self.dim() >= 3, "[channel_shuffle] channel_shuffle expects input with > 2 dims, but got input with sizes ",
           self.sizes());
  HB_CHECK(groups > 0,
           "[channel_shuffle] Number of groups to divide channels in must be positive. Value of groups:", groups);
  HB_CHECK(self.size(1) % groups == 0, "[channel_shuffle] Number of channels must be divisible by groups. Got ",
           self.size(1), " channels and ", groups, " groups.");
  const int64_t members = self.size(1) / groups;
  Tensor out = ops::empty_in_layout_of(self, self.sizes());
  const Tensor from = channels_split(self, groups, members, true), to = channels_split(out, members, groups, false);
  copy_kernel(self.device())(Loop({&to}, {&from}));
  if (needs_grad(self))
    record("ChannelShuffleBackward0", out, {&self}, [members](Backward& b) -> variable_list {
      return {channel_shuffle(b.grad(), std::max<int64_t>(1, members))};  // 0: no channels
    });
  return out;
}

namespace {

int64_t nth(IntArrayRef list, int d) {
  HB_CHECK(list.size() == 2, "[im2col] expected parameters of 2 values, got ", list);
  return list[d];
}

Windows windows(const char* name, int64_t size, int d, IntArrayRef kernel, IntArrayRef dilation, IntArrayRef padding,
                IntArrayRef stride) {
  Windows w{nth(kernel, d), nth(dilation, d), nth(padding, d), nth(stride, d), 0};
  const auto check_positive = [name](const char* whole, const char* what, IntArrayRef given, int64_t value) {
    HB_CHECK(value > 0, "[", name, "] ", whole, " should be greater than zero, but got ", what, "_height: ", given[0],
             " ", what, "_width: ", given[1]);
  };
  check_positive("kernel size", "kernel", kernel, w.kernel);
  check_positive("dilation", "dilation", dilation, w.step);
  HB_CHECK(w.padding >= 0, "[", name, "] padding should be non-negative, but got ", padding);
  check_positive("stride", "stride", stride, w.stride);
  const int64_t extent = w.step * (w.kernel - 1) + 1, padded = size + 2 * w.padding;
  HB_CHECK(padded >= extent, "[", name, "] expected kernel_size=", kernel, " to fit into the padded size ", padded,
           ": the shape of the array of sliding blocks is calculated as ", (padded - extent) / w.stride + 1,
           ", but its components must be at least one.");
  w.out = (padded - extent) / w.stride + 1;
  return w;
}

// Element (i, j) of all windows of the padded image: (N, C, h.out, w.out).
Tensor windows_element(const Tensor& image, const Windows& h, const Windows& w, int64_t i, int64_t j) {
  return image.slice(2, i * h.step, i * h.step + (h.out - 1) * h.stride + 1, h.stride)
      .slice(3, j * w.step, j * w.step + (w.out - 1) * w.stride + 1, w.stride);
}

// The images (N, C, height, width) of which `columns` are the windows; without history.
Tensor folded(const Tensor& columns, const Fold& f, IntArrayRef sizes) {
  NoGradGuard no_history;
  if (fold_kernel.available(columns.device()) && columns.is_floating_point()) {
    const Tensor in = ops::to_contiguous(columns);
    Tensor out = empty(sizes, columns.options());
    fold_kernel(columns.device())(columns.scalar_type(), f, out.impl().visible_data(), in.impl().raw_data());
    return out;
  }
  const int64_t n = sizes[0], c = sizes[1];
  const Tensor image = zeros({n, c, f.height + 2 * f.h.padding, f.width + 2 * f.w.padding}, columns.options());
  const Tensor split = columns.reshape({n, c, f.h.kernel, f.w.kernel, f.h.out, f.w.out});
  for (int64_t i = 0; i < f.h.kernel; ++i)
    for (int64_t j = 0; j < f.w.kernel; ++j)
      windows_element(image, f.h, f.w, i, j).add_(split.select(2, i).select(2, j));
  return image.narrow(2, f.h.padding, f.height).narrow(3, f.w.padding, f.width).contiguous();
}

}  // namespace

Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
              IntArrayRef stride) {
  HB_FUNCTION(im2col, self, kernel_size, dilation, padding, stride);
  if (self.scalar_type() != kBool) ops::refuse_integers("im2col", self.scalar_type());
  HB_CHECK(self.dim() == 3 || self.dim() == 4, "[im2col] expected an input (N, C, H, W) or (C, H, W), got ",
           self.sizes());
  if (self.dim() == 3) return im2col(self.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0);
  const auto h = windows("im2col", self.size(2), 0, kernel_size, dilation, padding, stride);
  const auto w = windows("im2col", self.size(3), 1, kernel_size, dilation, padding, stride);
  const int64_t n = self.size(0), c = self.size(1);
  Tensor out = empty({n, c * h.kernel * w.kernel, h.out * w.out}, self.options());
  {
    NoGradGuard no_history;
    const Tensor x =
        h.padding || w.padding ? constant_pad_nd(self, {w.padding, w.padding, h.padding, h.padding}) : self;
    const DimVector at(x.strides());  // of an image, a channel, a row, a pixel
    out.view({n, c, h.kernel, w.kernel, h.out, w.out})
        .copy_(x.as_strided({n, c, h.kernel, w.kernel, h.out, w.out},
                            {at[0], at[1], h.step * at[2], w.step * at[3], h.stride * at[2], w.stride * at[3]},
                            x.storage_offset()));
  }
  if (needs_grad(self))
    record("Im2ColBackward0", out, {&self},
           [size = DimVector(IntArrayRef({self.size(2), self.size(3)})), kernel = DimVector(kernel_size),
            by = DimVector(dilation), pad = DimVector(padding), step = DimVector(stride)](
               Backward& b) -> variable_list { return {col2im(b.grad(), size, kernel, by, pad, step)}; });
  return out;
}

Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
              IntArrayRef padding, IntArrayRef stride) {
  HB_FUNCTION(col2im, self, output_size, kernel_size, dilation, padding, stride);
  if (self.scalar_type() != kBool) ops::refuse_integers("col2im", self.scalar_type());
  HB_CHECK(self.dim() == 2 || self.dim() == 3, "[col2im] expected an input (N, C * kernel, L) or (C * kernel, L), got ",
           self.sizes());
  if (self.dim() == 2) return col2im(self.unsqueeze(0), output_size, kernel_size, dilation, padding, stride).squeeze(0);
  const int64_t height = nth(output_size, 0), width = nth(output_size, 1);
  const auto h = windows("col2im", height, 0, kernel_size, dilation, padding, stride);
  const auto w = windows("col2im", width, 1, kernel_size, dilation, padding, stride);
  HB_CHECK(self.size(1) % (h.kernel * w.kernel) == 0,
           "[col2im] Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
           "input.size(1)=",
           self.size(1), " and kernel_size=", kernel_size);
  HB_CHECK(self.size(2) == h.out * w.out,
           "[col2im] expected size of input's dimension 2 to match the calculated number of sliding blocks ", h.out,
           " * ", w.out, " = ", h.out * w.out, ", but got input.size(2)=", self.size(2));
  const int64_t n = self.size(0), c = self.size(1) / (h.kernel * w.kernel);
  Tensor out = folded(self, Fold{n * c, height, width, h, w}, {n, c, height, width});
  if (needs_grad(self))
    record(
        "Col2ImBackward0", out, {&self},
        [kernel = DimVector(kernel_size), by = DimVector(dilation), pad = DimVector(padding),
         step = DimVector(stride)](Backward& b) -> variable_list { return {im2col(b.grad(), kernel, by, pad, step)}; });
  return out;
}

}  // namespace hb
