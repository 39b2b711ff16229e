#pragma once
// Operands and results of a product that are images (batch, h, w, channels), a pixel a row.

#include "cpu/amx/matrix.h"

namespace hb::cpu::amx {
namespace {

struct Size {
  int64_t h, w;
  int64_t area() const { return h * w; }
};

/// Where the patches of one image's pixels come from in another: row r of a patch's row i at r * step.h + i * each.h +
/// first.h, and so for columns.
struct Patches {
  const BFloat16* image;
  Size in, out, step, first, each, kernel;
  int64_t channels;

  /// Walks over the pixels in memory's order.
  class Pixel {
   public:
    Pixel(const Patches& p, int64_t m)
        : p_(p), w_(m % p.out.w), h_(m / p.out.w % p.out.h), image_(m / p.out.area() * p.in.area()) {}
    void next() {
      if (++w_ < p_.out.w) return;
      w_ = 0;
      if (++h_ < p_.out.h) return;
      h_ = 0;
      image_ += p_.in.area();
    }
    /// The channels at a position of its patch; null outside of the image.
    const BFloat16* at(Size position) const {
      const int64_t h = h_ * p_.step.h + p_.first.h + position.h * p_.each.h;
      const int64_t w = w_ * p_.step.w + p_.first.w + position.w * p_.each.w;
      const bool inside = static_cast<uint64_t>(h) < static_cast<uint64_t>(p_.in.h) &&
                          static_cast<uint64_t>(w) < static_cast<uint64_t>(p_.in.w);
      return inside ? p_.image + (image_ + h * p_.in.w + w) * p_.channels : nullptr;
    }

   private:
    const Patches& p_;
    int64_t w_, h_, image_;
  };
};

/// The left operand: a row for each pixel, (position, channel) deep, gathered.
struct PatchRows : Patches {
  Rows rows(int64_t m, int64_t rows, int64_t k, int64_t depth, BFloat16* buffer) const {
    Pixel pixel(*this, m);
    for (int64_t i = 0; i < rows; ++i, pixel.next()) copy(pixel, k, k + depth, buffer + i * kRowPitch);
    for (int64_t i = rows; i < round_up(rows, kTile); ++i)
      std::memset(static_cast<void*>(buffer + i * kRowPitch), 0, depth * sizeof(BFloat16));
    return Rows(buffer, kRowPitch, depth / kDepth);
  }

 private:
  // The part [from, to) of a row.
  void copy(const Pixel& pixel, int64_t from, int64_t to, BFloat16* out) const {
    int64_t begin = 0;
    for (Size at{0, 0}; at.h < kernel.h; ++at.h)
      for (at.w = 0; at.w < kernel.w; ++at.w, begin += channels) {
        const int64_t low = std::max(from, begin), high = std::min(to, begin + channels);
        if (low >= high) continue;
        const BFloat16* in = pixel.at(at);
        for (int64_t k = low; k < high; k += kDepth)
          _mm512_storeu_si512(out + k - from, in ? _mm512_loadu_si512(in + k - begin) : _mm512_setzero_si512());
      }
  }
};

/// The left operand for a stride of 1, read where it lies: the image has a margin of zeros, and a row of pixels goes on
/// through it, so that neighbours in a tile are neighbours in memory. `pixels` of each image, a multiple of 32.
struct MarginRows {
  const BFloat16* image;
  Size in, each, kernel;  // `in` with the margin; `each` is the dilation, negative where patches are read backwards
  int64_t pixels, channels, start;  // start: of the first pixel's patch

  Rows rows(int64_t m, int64_t /*rows*/, int64_t k, int64_t depth, BFloat16* /*buffer*/) const {
    const BFloat16* pixel = image + (m / pixels * in.area() + m % pixels + start) * channels;
    Rows r(channels);
    each_stretch(channels, k, depth, [&](int64_t position, int64_t channel, int64_t count) {
      const int64_t shift = position / kernel.w * each.h * in.w + position % kernel.w * each.w;
      r.add(pixel + shift * channels + channel, count / kDepth);
    });
    return r;
  }
};

/// The right operand: a column for each (position, channel), as deep as there are pixels.
struct PatchColumns : Patches {
  void columns(int64_t n, int64_t /*cols*/, int64_t k, int64_t depth, BFloat16* out) const {
    const int64_t channel = n % channels;
    const Size position{n / channels / kernel.w, n / channels % kernel.w};
    Pixel pixel(*this, k);
    int64_t left = depth;
    const auto next = [&] {
      const BFloat16* in = left > 0 ? pixel.at(position) : nullptr;
      if (--left > 0) pixel.next();
      return in ? _mm512_loadu_si512(in + channel) : _mm512_setzero_si512();
    };
    interleave_columns(depth, out, next);
  }
};

/// The right operand of the gradient of an image: weights (out, kernel, in) as columns of `in`, (position, out) deep,
/// of every step-th position from `first` on.
struct TurnedWeights {
  const BFloat16* data;
  Size kernel, first, step, count;
  int64_t outputs, inputs;

  void columns(int64_t n, int64_t cols, int64_t k, int64_t depth, BFloat16* out) const {
    for (int64_t from = k; from < k + depth; from += kDepth, out += kStep) {
      const int64_t position = from / outputs, output = from % outputs;
      const int64_t h = first.h + position / count.w * step.h, w = first.w + position % count.w * step.w;
      interleave_columns(data + ((output * kernel.h + h) * kernel.w + w) * inputs + n, kernel.area() * inputs, cols,
                         kDepth, out);
    }
  }
};

/// Pixels to an image, every step-th from `first` on. They come as `pixels` of each image, in rows of which only the
/// first `part` stand for pixels: the others are dropped.
struct ImageStore {
  BFloat16* image;
  Size out, step, first;
  int64_t channels;
  const BFloat16* bias = nullptr;
  Size part{0, 0};
  int64_t row = 0, pixels = 0;

  void operator()(int64_t m, int64_t n, int64_t rows, int64_t cols, const float* values, int64_t pitch) const {
    int64_t h = m % pixels / row, w = m % pixels % row, batch = m / pixels, left = pixels - m % pixels;
    for (int64_t i = 0; i < rows; ++i) {
      if (h < part.h && w < part.w) {
        const int64_t pixel = batch * out.area() + (h * step.h + first.h) * out.w + w * step.w + first.w;
        MatrixStore{image + pixel * channels, channels, bias}(0, n, 1, cols, values + i * pitch, pitch);
      }
      if (++w == row) w = 0, ++h;
      if (--left == 0) h = w = 0, ++batch, left = pixels;
    }
  }
};

}  // namespace
}  // namespace hb::cpu::amx
