#pragma once
// Discrete Fourier transforms (torch::fft). `norm` is "backward" (the default: the inverse is divided by n), "forward"
// (the forward transform is) or "ortho" (both are divided by the root of n). `n` and `s` cut or zero-pad the dimensions
// first. Integers are computed in the default floating dtype; half types are refused. Formulas and errors are
// PyTorch's.

#include <optional>
#include <string_view>

#include <halfbridge/tensor.h>

namespace hb {

using FftNorm = std::optional<std::string_view>;

#define HB_FFT_1(name)                                                                                    \
  HB_API Tensor fft_##name(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1, \
                           FftNorm norm = std::nullopt);
#define HB_FFT_2(name)                                                                                           \
  HB_API Tensor fft_##name(const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1}, \
                           FftNorm norm = std::nullopt);
#define HB_FFT_N(name)                                                               \
  HB_API Tensor fft_##name(const Tensor& self, OptionalIntArrayRef s = std::nullopt, \
                           OptionalIntArrayRef dim = std::nullopt, FftNorm norm = std::nullopt);
/// Complex to complex; real input is taken as complex.
HB_FFT_1(fft)
HB_FFT_1(ifft)
HB_FFT_2(fft2)
HB_FFT_2(ifft2)
HB_FFT_N(fftn)
HB_FFT_N(ifftn)
/// Real to the half of the spectrum that determines it: n / 2 + 1 in the last dimension.
HB_FFT_1(rfft)
HB_FFT_2(rfft2)
HB_FFT_N(rfftn)
/// The reverse; n of the last dimension is 2 (size - 1) unless given.
HB_FFT_1(irfft)
HB_FFT_2(irfft2)
HB_FFT_N(irfftn)
/// Half of a Hermitian signal to its real spectrum, and the reverse.
HB_FFT_1(hfft)
HB_FFT_1(ihfft)
HB_FFT_2(hfft2)
HB_FFT_2(ihfft2)
HB_FFT_N(hfftn)
HB_FFT_N(ihfftn)
#undef HB_FFT_1
#undef HB_FFT_2
#undef HB_FFT_N

/// The frequencies of the elements of fft (n) and rfft (n / 2 + 1) of a signal with distance d between samples.
HB_API Tensor fft_fftfreq(int64_t n, double d = 1.0, const TensorOptions& options = {});
HB_API Tensor fft_rfftfreq(int64_t n, double d = 1.0, const TensorOptions& options = {});
/// Moves the frequency 0 to the middle of the dimensions (all by default), and back.
HB_API Tensor fft_fftshift(const Tensor& self, OptionalIntArrayRef dim = std::nullopt);
HB_API Tensor fft_ifftshift(const Tensor& self, OptionalIntArrayRef dim = std::nullopt);

/// The short-time Fourier transform of (samples) or (batch, samples): (frequencies, frames), with the batch in front. A
/// frame starts every hop_length (n_fft / 4) samples and is multiplied by `window` (win_length values, in its middle;
/// ones by default); `center` pads the signal by n_fft / 2. Real input gives n_fft / 2 + 1 frequencies unless
/// `onesided` is false. return_complex must be given for real input; false: real and imaginary part stand in a last
/// dimension of 2.
HB_API Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
                   std::optional<int64_t> win_length, const std::optional<Tensor>& window, bool normalized,
                   std::optional<bool> onesided = std::nullopt, std::optional<bool> return_complex = std::nullopt,
                   std::optional<bool> align_to_window = std::nullopt);
HB_API Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length = std::nullopt,
                   std::optional<int64_t> win_length = std::nullopt, const std::optional<Tensor>& window = std::nullopt,
                   bool center = true, std::string_view pad_mode = "reflect", bool normalized = false,
                   std::optional<bool> onesided = std::nullopt, std::optional<bool> return_complex = std::nullopt,
                   std::optional<bool> align_to_window = std::nullopt);
/// Its inverse by adding the frames' inverses where they overlap. Throws where the windows leave a sample uncovered.
HB_API Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length = std::nullopt,
                    std::optional<int64_t> win_length = std::nullopt,
                    const std::optional<Tensor>& window = std::nullopt, bool center = true, bool normalized = false,
                    std::optional<bool> onesided = std::nullopt, std::optional<int64_t> length = std::nullopt,
                    bool return_complex = false);

}  // namespace hb
