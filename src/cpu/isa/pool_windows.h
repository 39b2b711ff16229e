#pragma once
// What pooling by maxima and by averages share. Both go over channels-last memory: every step handles a run of
// channels.

#include <algorithm>

#include <halfbridge/tensor.h>

#include "backend/pool.h"
#include "cpu/isa/isa.h"
#include "cpu/isa/transpose.h"
#include "cpu/isa/vec.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"

namespace hb::cpu::HB_ISA {
namespace {

/// Calls f(position in the plane) for each element of the window of output `o`.
template <class F>
inline void over_window(const PoolWindows& w, int64_t o, const F& f) {
  const auto &d = w.dim[0], &h = w.dim[1], &v = w.dim[2];
  const int64_t od = o / (h.out * v.out), oh = o / v.out % h.out, ov = o % v.out;
  for (int64_t i = d.begin[od]; i < d.end[od]; i += d.step)
    for (int64_t j = h.begin[oh]; j < h.end[oh]; j += h.step)
      for (int64_t k = v.begin[ov]; k < v.end[ov]; k += v.step) f((i * h.in + j) * v.in + k);
}

inline int64_t grain_for(int64_t channels) { return std::max<int64_t>(1, kGrain / 8 / std::max<int64_t>(channels, 1)); }

/// Whether each element is in one window.
inline bool tiled(const PoolWindows& w) {
  for (const auto& d : w.dim) {
    if (d.out == 0 || d.step != 1 || d.begin[0] != 0 || d.end[d.out - 1] != d.in) return false;
    for (int64_t o = 1; o < d.out; ++o)
      if (d.begin[o] != d.end[o - 1] || d.end[o] <= d.begin[o]) return false;
  }
  return true;
}

template <class T>
T* at(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.impl().raw_data()) : nullptr;
}

/// What pooling reads: images whose memory is channels-last, or contiguous.
template <class T>
struct Images {
  const T* data;
  int64_t batch, channels, size;  // size: elements of an image
  bool last;                      // how they lie
  explicit Images(const Tensor& x)
      : data(at<const T>(x)),
        batch(x.size(0)),
        channels(x.size(1)),
        size(x.numel() / batch),
        last(channels == 1 || channels == size || !x.impl().physically_contiguous()) {}
};

/// One image after the other as channels-last, for one thread: the last one that was turned stays.
template <class T>
class ImageReader {
 public:
  explicit ImageReader(const Images<T>& images) : images_(images) {
    if (!images.last) turned_ = static_cast<T*>(scratch_buffer(Scratch::convert_a, images.size * sizeof(T)));
  }
  const T* operator[](int64_t n) {
    const T* image = images_.data + n * images_.size;
    if (images_.last) return image;
    if (n != here_) turn(image);
    here_ = n;
    return turned_;
  }

 private:
  void turn(const T* image) {
    using Bits = BitsOf<T>;
    const int64_t places = images_.size / images_.channels;
    for (int64_t at = 0; at < places; at += kTransposeTile)
      transpose_band(reinterpret_cast<Bits*>(turned_), reinterpret_cast<const Bits*>(image), images_.channels, places,
                     at);
  }

  const Images<T>& images_;
  T* turned_ = nullptr;
  int64_t here_ = -1;
};

}  // namespace
}  // namespace hb::cpu::HB_ISA
