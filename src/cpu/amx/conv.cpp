// Convolutions and the gradients of their inputs: products of patches with weights.
#include <halfbridge/ops.h>

#include "cpu/amx/convolution.h"

namespace hb::cpu::amx {
namespace {

// A copy of a batch of images with zeros around each and some behind the last.
const BFloat16* with_margin(const BFloat16* in, int64_t batch, Size size, Size margin, int64_t channels) {
  const Size wide{size.h + 2 * margin.h, size.w + 2 * margin.w};
  const int64_t behind = (2 * kBlock + wide.w) * channels;
  auto* out = scratch<BFloat16>(Scratch::patches, batch * wide.area() * channels + behind);
  const auto zero = [&](BFloat16* at, int64_t pixels) {
    std::memset(static_cast<void*>(at), 0, pixels * channels * sizeof(BFloat16));
  };
  parallel_for(0, batch, std::max<int64_t>(1, kGrain / (size.area() * channels)), [&](int64_t from, int64_t to) {
    for (int64_t n = from; n < to; ++n) {
      BFloat16* image = out + n * wide.area() * channels;
      zero(image, margin.h * wide.w);
      for (int64_t h = 0; h < size.h; ++h) {
        BFloat16* row = image + (h + margin.h) * wide.w * channels;
        zero(row, margin.w);
        std::memcpy(static_cast<void*>(row + margin.w * channels), in + (n * size.h + h) * size.w * channels,
                    size.w * channels * sizeof(BFloat16));
        zero(row + (margin.w + size.w) * channels, margin.w);
      }
      zero(image + (margin.h + size.h) * wide.w * channels, margin.h * wide.w);
    }
  });
  zero(out + batch * wide.area() * channels, behind / channels);
  return out;
}

// The margin that the patches reach into, on each side.
Size margin_of(const Patches& p) {
  const auto reach = [](int64_t first, int64_t each, int64_t kernel, int64_t in, int64_t out) {
    const int64_t last = first + (kernel - 1) * each;
    return std::max<int64_t>({0, -std::min(first, last), out - 1 + std::max(first, last) - (in - 1)});
  };
  return {reach(p.first.h, p.each.h, p.kernel.h, p.in.h, p.out.h),
          reach(p.first.w, p.each.w, p.kernel.w, p.in.w, p.out.w)};
}

// Whether patches are read where they lie: the pixels of the margins, whose results nobody uses, must be few.
bool reads_in_place(const Patches& p) {
  if (p.step.h != 1 || p.step.w != 1 || p.kernel.area() == 1) return false;
  return 7 * (p.in.w + 2 * margin_of(p).w) <= 8 * p.out.w;
}

template <class Columns>
void multiply_in_place(Patches p, int64_t batch, int64_t outputs, const Columns& columns, ImageStore store) {
  constexpr int64_t kCopied = 1 << 22;  // values of images with margins that are held at a time
  const Size margin = margin_of(p), wide{p.in.h + 2 * margin.h, p.in.w + 2 * margin.w};
  store.part = p.out, store.row = wide.w, store.pixels = round_up(p.out.h * wide.w, kBlock);
  const int64_t at_once = std::max<int64_t>(1, kCopied / (wide.area() * p.channels));
  for (int64_t done = 0; done < batch; done += at_once) {
    const int64_t images = std::min(at_once, batch - done);
    const MarginRows rows{
        with_margin(p.image, images, p.in, margin, p.channels), wide, p.each, p.kernel, store.pixels, p.channels,
        (margin.h + p.first.h) * wide.w + margin.w + p.first.w};
    multiply(images * store.pixels, outputs, p.kernel.area() * p.channels, rows, columns, store);
    p.image += images * p.in.area() * p.channels, store.image += images * store.out.area() * store.channels;
  }
}

template <class Columns>
void multiply_patches(const Patches& p, int64_t batch, int64_t outputs, const Columns& columns, ImageStore store) {
  if (reads_in_place(p)) return multiply_in_place(p, batch, outputs, columns, store);
  store.part = p.out, store.row = p.out.w, store.pixels = p.out.area();
  const int64_t pixels = batch * p.out.area(), depth = p.kernel.area() * p.channels;
  const bool whole = p.kernel.area() == 1 && p.in.h == p.out.h && p.in.w == p.out.w && p.first.h == 0 &&
                     p.first.w == 0 && p.step.h == 1 && p.step.w == 1;
  if (whole) return multiply(pixels, outputs, depth, MatrixRows{p.image, p.channels, 1}, columns, store);
  multiply(pixels, outputs, depth, PatchRows{p}, columns, store);
}

// The pixels of an input that stand at `offset` modulo the stride: which positions of the kernel reached them, and from
// where.
struct Phase {
  int64_t pixels, first_position, positions, first_output;

  Phase(int64_t offset, int64_t size, int64_t kernel, int64_t step, int64_t pad) {
    pixels = (size - offset + step - 1) / step;
    first_position = (offset + pad) % step;
    positions = kernel > first_position ? (kernel - first_position + step - 1) / step : 0;
    first_output = (offset + pad - first_position) / step;
  }
};

// The gradient of one phase of the input's pixels.
void phase_gradient(const Convolution& c, const BFloat16* weights, const Tensor& grad_x, const Tensor& grad_y,
                    Size offset) {
  const Phase h(offset.h, c.x.h, c.kernel.h, c.step.h, c.pad.h), w(offset.w, c.x.w, c.kernel.w, c.step.w, c.pad.w);
  if (std::min({h.pixels, w.pixels, h.positions, w.positions}) <= 0) return;
  const Size positions{h.positions, w.positions}, first{h.first_position, w.first_position};
  const Patches patches{data(grad_y),
                        c.y,
                        {h.pixels, w.pixels},
                        {1, 1},
                        {h.first_output, w.first_output},
                        {-c.dilation.h, -c.dilation.w},
                        positions,
                        c.outputs};
  const TurnedWeights columns{weights, c.kernel, first, c.step, positions, c.outputs, c.inputs};
  multiply_patches(patches, c.batch, c.inputs, columns, ImageStore{data(grad_x), c.x, c.step, offset, c.inputs});
}

}  // namespace

bool conv_forward(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvParams& p) {
  if (!can_be_tiled(weight, p)) return false;
  const Convolution c(x, y, weight, p);
  const MatrixColumns columns{by_position(c, weight), 1, c.columns()};
  multiply_patches(c.of_input(data(x)), c.batch, c.outputs, columns,
                   ImageStore{data(y), c.y, {1, 1}, {0, 0}, c.outputs, data(bias)});
  return true;
}

bool conv_backward_data(const Tensor& grad_x, const Tensor& grad_y, const Tensor& weight, const ConvParams& p) {
  const Convolution c(grad_x, grad_y, weight, p);
  const bool plain = c.step.h == 1 && c.step.w == 1;
  if (!can_be_tiled(weight, p) || (!plain && (c.dilation.h != 1 || c.dilation.w != 1))) return false;
  const BFloat16* weights = by_position(c, weight);
  if (c.kernel.h < c.step.h || c.kernel.w < c.step.w)  // some pixels were not read
    std::memset(grad_x.impl().raw_data(), 0, grad_x.nbytes());
  for (Size offset{0, 0}; offset.h < c.step.h; ++offset.h)
    for (offset.w = 0; offset.w < c.step.w; ++offset.w) phase_gradient(c, weights, grad_x, grad_y, offset);
  return true;
}

}  // namespace hb::cpu::amx
