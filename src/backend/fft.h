#pragma once

#include <halfbridge/tensor.h>

#include "backend/kernel.h"
#include "backend/reduce.h"

namespace hb {

// Discrete Fourier transforms of lines, multiplied by `scale`. All tensors are contiguous.
/// Complex to complex, in place; forward: exp(-2 pi i j k / n).
HB_API inline Kernel<void(const Tensor& data, Lines lines, bool forward, double scale)> fft_c2c_kernel{"fft"};
/// Real rows of n elements (the last dimension) to the first n / 2 + 1 of their spectrum.
HB_API inline Kernel<void(const Tensor& out, const Tensor& in, double scale)> fft_r2c_kernel{"rfft"};
/// Rows of n / 2 + 1 elements of a Hermitian spectrum, backward, to real rows of n. Imaginary parts that such a
/// spectrum has not are not read.
HB_API inline Kernel<void(const Tensor& out, const Tensor& in, double scale)> fft_c2r_kernel{"irfft"};

}  // namespace hb
