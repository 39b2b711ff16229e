#pragma once
// torch::fft: the functions of <halfbridge/ops/fft.h> without their prefix.

#include <halfbridge/ops/fft.h>

namespace hb::bridge::fft {

#define HB_FFT_1(name)                                                                              \
  inline Tensor name(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, \
                     FftNorm norm = std::nullopt) {                                                 \
    return fft_##name(self, n, dim, norm);                                                          \
  }
#define HB_FFT_2(name)                                                                                     \
  inline Tensor name(const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, \
                     FftNorm norm = std::nullopt) {                                                        \
    return fft_##name(self, s, dim, norm);                                                                 \
  }
#define HB_FFT_N(name)                                                                                                 \
  inline Tensor name(const Tensor& self, OptionalIntArrayRef s = std::nullopt, OptionalIntArrayRef dim = std::nullopt, \
                     FftNorm norm = std::nullopt) {                                                                    \
    return fft_##name(self, s, dim, norm);                                                                             \
  }
HB_FFT_1(fft)
HB_FFT_1(ifft)
HB_FFT_1(rfft)
HB_FFT_1(irfft)
HB_FFT_1(hfft)
HB_FFT_1(ihfft)
HB_FFT_2(fft2)
HB_FFT_2(ifft2)
HB_FFT_2(rfft2)
HB_FFT_2(irfft2)
HB_FFT_2(hfft2)
HB_FFT_2(ihfft2)
HB_FFT_N(fftn)
HB_FFT_N(ifftn)
HB_FFT_N(rfftn)
HB_FFT_N(irfftn)
HB_FFT_N(hfftn)
HB_FFT_N(ihfftn)
#undef HB_FFT_1
#undef HB_FFT_2
#undef HB_FFT_N

inline Tensor fftfreq(int64_t n, double d, const TensorOptions& options = {}) { return fft_fftfreq(n, d, options); }
inline Tensor fftfreq(int64_t n, const TensorOptions& options = {}) { return fft_fftfreq(n, 1.0, options); }
inline Tensor rfftfreq(int64_t n, double d, const TensorOptions& options = {}) { return fft_rfftfreq(n, d, options); }
inline Tensor rfftfreq(int64_t n, const TensorOptions& options = {}) { return fft_rfftfreq(n, 1.0, options); }
inline Tensor fftshift(const Tensor& x, OptionalIntArrayRef dim = std::nullopt) { return fft_fftshift(x, dim); }
inline Tensor ifftshift(const Tensor& x, OptionalIntArrayRef dim = std::nullopt) { return fft_ifftshift(x, dim); }

}  // namespace hb::bridge::fft
