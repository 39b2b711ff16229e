// The short-time Fourier transform and its inverse.
#include <cmath>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "core/warnings.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/fft/fft.h"

namespace hb {
namespace {

/// The window in the middle of a frame; undefined where none is given and it would be ones.
Tensor framed_window(const char* name, const std::optional<Tensor>& window, const Tensor& like, int64_t length,
                     int64_t n_fft) {
  HB_CHECK(length > 0 && length <= n_fft, "[", name, "] expected 0 < win_length <= n_fft, but got win_length=", length);
  const bool given = window && window->defined();
  HB_CHECK(!given || (window->dim() == 1 && window->size(0) == length), "[", name,
           "] expected a 1D window tensor of size equal to win_length=", length, ", but got window with size ",
           given ? window->sizes() : IntArrayRef());
  HB_CHECK(!given || window->device() == like.device(), "[", name, "] expected a window on ", like.device());
  if (length == n_fft) return given ? *window : Tensor();
  const int64_t before = (n_fft - length) / 2;
  return constant_pad_nd(given ? *window : ones({length}, like.options()), {before, n_fft - length - before}, 0);
}

/// (batch, samples) with (frames) windows of n_fft samples, every hop samples.
Tensor spectra(const Tensor& frames, bool onesided, double scale) {
  if (!frames.is_complex() && onesided) return ops::fft_r2c(frames, 2, scale);
  return ops::fft_c2c(frames.to(to_complex_type(frames.scalar_type())), DimVector(1, 2), scale, true);
}

}  // namespace

Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
            const std::optional<Tensor>& window, bool center, std::string_view pad_mode, bool normalized,
            std::optional<bool> onesided, std::optional<bool> return_complex, std::optional<bool> align_to_window) {
  HB_AUTOCAST(stft, fp32, as_is, self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
              return_complex, align_to_window);
  const bool complex_operand = self.is_complex() || (window && window->defined() && window->is_complex());
  const bool half = onesided.value_or(!complex_operand);
  HB_CHECK(return_complex || complex_operand,
           "[stft] stft requires the return_complex parameter be given for real inputs, and will further require that "
           "return_complex=True in a future PyTorch release.");
  HB_CHECK(!half || !complex_operand, "[stft] Cannot have onesided output if window or input is complex");
  HB_CHECK(!(center && align_to_window), "[stft] align_to_window should only be set when center = false.");
  if (!window || !window->defined())
    HB_WARN_ONCE(
        "A window was not provided. A rectangular window will be applied, which is known to cause spectral "
        "leakage; give window=ones(n_fft) to say that this is meant.");
  HB_CHECK(self.is_floating_point() || self.is_complex(),
           "[stft] expected a tensor of floating point or complex values, got ", self.scalar_type());
  HB_CHECK(!is_half_type(self.scalar_type()), "[stft] Unsupported dtype ", self.scalar_type());
  HB_CHECK(self.dim() == 1 || self.dim() == 2, "[stft] expected a 1D or 2D tensor, got ", self.sizes());
  Tensor x = self.dim() == 1 ? self.unsqueeze(0) : self;
  HB_CHECK(n_fft > 0, "[stft] expected n_fft > 0, got n_fft=", n_fft);
  if (center) {
    const Tensor padded = pad(x.unsqueeze(1), {n_fft / 2, n_fft / 2}, pad_mode);
    x = padded.squeeze(1);
  }
  const int64_t hop = hop_length.value_or(n_fft / 4);
  HB_CHECK(hop > 0, "[stft] expected hop_length > 0, but got hop_length=", hop);
  HB_CHECK(n_fft <= x.size(1), "[stft] expected 0 < n_fft < ", x.size(1), ", but got n_fft=", n_fft);
  const Tensor shape = framed_window("stft", window, x, win_length.value_or(n_fft), n_fft);
  const double scale = normalized ? 1 / std::sqrt(static_cast<double>(n_fft)) : 1;
  const Tensor frames = x.unfold(1, n_fft, hop);
  Tensor out = spectra(shape.defined() ? frames * shape : frames, half, scale).transpose(1, 2);
  if (self.dim() == 1) out = out.squeeze(0);
  return return_complex.value_or(true) ? out : view_as_real(out.contiguous());
}

Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
            const std::optional<Tensor>& window, bool normalized, std::optional<bool> onesided,
            std::optional<bool> return_complex, std::optional<bool> align_to_window) {
  return stft(self, n_fft, hop_length, win_length, window, false, "constant", normalized, onesided, return_complex,
              align_to_window);
}

namespace {

/// Frames (batch, count, n) added where they overlap: (batch, n + hop (count - 1)).
Tensor overlap_add(const Tensor& frames, int64_t hop) {
  const int64_t count = frames.size(1), n = frames.size(2);
  const TensorOptions integers = frames.options().dtype(kLong);
  const Tensor start = arange(count, integers).mul_(hop).unsqueeze(1);
  const Tensor at = (start + arange(n, integers)).flatten();
  const Tensor silence = zeros({frames.size(0), n + hop * (count - 1)}, frames.options());
  return silence.index_add(1, at, frames.flatten(1));
}

}  // namespace

Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
             const std::optional<Tensor>& window, bool center, bool normalized, std::optional<bool> onesided,
             std::optional<int64_t> length, bool return_complex) {
  HB_AUTOCAST(istft, as_is, as_is, self, n_fft, hop_length, win_length, window, center, normalized, onesided, length,
              return_complex);
  HB_CHECK(self.is_complex(),
           "[istft] istft requires a complex-valued input tensor matching the output from stft with "
           "return_complex=True.");
  if (!window || !window->defined())
    HB_WARN_ONCE("A window was not provided. A rectangular window will be applied. Give the window that stft had.");
  HB_CHECK(self.dim() == 2 || self.dim() == 3, "[istft] expected a tensor with 2 or 3 dimensions, but got ",
           self.dim());
  HB_CHECK(self.numel() > 0, "[istft] input tensor cannot be empty.");
  const int64_t hop = hop_length.value_or(n_fft / 4), width = win_length.value_or(n_fft);
  const bool half = onesided.value_or(self.size(-2) != n_fft);
  HB_CHECK(self.size(-2) == (half ? n_fft / 2 + 1 : n_fft),
           "[istft] expected the frequency dimension (3rd to the last) "
           "of the input tensor to match n_fft (",
           n_fft, "), but got ", self.size(-2));
  HB_CHECK(0 < hop && hop <= width, "[istft] expected 0 < hop_length <= win_length, got ", hop, " and ", width);
  HB_CHECK(!half || !return_complex, "[istft] complex output is incompatible with onesided=True");
  const Tensor frames = (self.dim() == 2 ? self.unsqueeze(0) : self).transpose(1, 2);
  const double scale = normalized ? 1 / std::sqrt(static_cast<double>(n_fft)) : 1 / static_cast<double>(n_fft);
  Tensor pieces = half ? ops::fft_c2r(frames, 2, n_fft, scale) : ops::fft_c2c(frames, DimVector(1, 2), scale, false);
  if (!half && !return_complex) pieces = real(pieces);
  const TensorOptions parts = self.options().dtype(to_real_type(self.scalar_type()));
  Tensor shape = framed_window("istft", window, empty({0}, parts), width, n_fft);
  if (!shape.defined()) shape = ones({n_fft}, parts);
  Tensor signal = overlap_add(pieces * shape, hop);
  Tensor envelope = overlap_add((shape * shape).expand({1, frames.size(1), n_fft}).contiguous(), hop);
  const int64_t whole = signal.size(1), start = center ? n_fft / 2 : 0;
  const int64_t end = length ? start + *length : center ? whole - n_fft / 2 : whole;
  signal = signal.narrow(1, start, std::min(end, whole) - start);
  envelope = envelope.narrow(1, start, std::min(end, whole) - start);
  HB_CHECK(envelope.abs().min().item().toDouble() > 1e-11,
           "[istft] window overlap add min: ", envelope.abs().min().item(),
           "; every sample needs a window that is not zero there");
  signal = signal / envelope;
  if (end > whole) signal = constant_pad_nd(signal, {0, end - whole}, 0);
  return self.dim() == 2 ? signal.squeeze(0) : signal;
}

Tensor Tensor::stft(int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
                    const std::optional<Tensor>& window, bool normalized, std::optional<bool> onesided,
                    std::optional<bool> return_complex, std::optional<bool> align_to_window) const {
  return hb::stft(*this, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window);
}
Tensor Tensor::stft(int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
                    const std::optional<Tensor>& window, bool center, std::string_view pad_mode, bool normalized,
                    std::optional<bool> onesided, std::optional<bool> return_complex,
                    std::optional<bool> align_to_window) const {
  return hb::stft(*this, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex,
                  align_to_window);
}
Tensor Tensor::istft(int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
                     const std::optional<Tensor>& window, bool center, bool normalized, std::optional<bool> onesided,
                     std::optional<int64_t> length, bool return_complex) const {
  return hb::istft(*this, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex);
}

}  // namespace hb
