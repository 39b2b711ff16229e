// The functions of torch::fft, made of three transforms that have gradients.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/record.h"
#include "backend/fft.h"
#include "core/geometry.h"
#include "ops/elementwise/elementwise_op.h"
#include "ops/fft/fft.h"
#include "ops/reduction/reduce_op.h"

namespace hb {
namespace ops {

namespace {

IntArrayRef ref(const DimVector& v) { return {v.data(), v.size()}; }

Tensor padded_to(const Tensor& x, int64_t dim, int64_t size) {
  std::vector<int64_t> pad(2 * (x.dim() - dim), 0);
  pad.back() = size - x.size(dim);
  return constant_pad_nd(x, pad, 0);
}

/// `lines`, whose dimensions are those of `order`, with the dimensions in their own places; no view to the program.
Tensor back(const Tensor& lines, const DimVector& order) {
  DimVector place(order.size());
  for (size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<int64_t>(k);
  return lines.permute(ref(place)).detach();
}

}  // namespace

DimVector fft_order(const Tensor& self, const DimVector& dims, bool one_sided) {
  const DimVector strides(self.strides());
  const auto outer = [&](int64_t a, int64_t b) { return strides[a] > strides[b]; };
  DimVector order(strides.size()), inside = dims;
  std::iota(order.begin(), order.end(), 0);
  const auto batch = std::partition(order.begin(), order.end(),
                                    [&](int64_t d) { return std::find(dims.begin(), dims.end(), d) == dims.end(); });
  std::sort(order.begin(), batch, outer);
  std::sort(inside.begin(), inside.end() - one_sided, outer);
  std::copy(inside.begin(), inside.end(), batch);
  return order;
}

Tensor fft_c2c(const Tensor& self, const DimVector& dims, double scale, bool forward, DimVector order) {
  if (order.empty()) order = fft_order(self, dims, false);
  const Tensor lines = self.detach().permute(ref(order)).clone(MemoryFormat::Contiguous);
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t place = std::find(order.begin(), order.end(), dims[i]) - order.begin();
    fft_c2c_kernel(self.device())(lines, lines_of(lines, place), forward, i + 1 == dims.size() ? scale : 1);
  }
  Tensor out = back(lines, order);
  if (needs_grad(self))
    record("FftC2CBackward0", out, {&self},
           [dims, scale, forward](Backward& b) { return gradients(fft_c2c(b.grad(), dims, scale, !forward)); });
  return out;
}

Tensor fft_r2c(const Tensor& self, int64_t dim, double scale) {
  const DimVector order = fft_order(self, DimVector(1, dim), true);
  const Tensor x = self.detach().permute(ref(order)).contiguous();
  const int64_t n = self.size(dim);
  DimVector sizes = x.impl().sizes();
  sizes.back() = n / 2 + 1;
  Tensor rows = empty(ref(sizes), x.options().dtype(to_complex_type(x.scalar_type())));
  fft_r2c_kernel(self.device())(rows, x, scale);
  Tensor out = back(rows, order);
  if (needs_grad(self))
    record("FftR2CBackward0", out, {&self}, [dim, n, scale](Backward& b) {
      // Of the numbers that c2r takes for two, the gradient has one.
      Tensor spectrum = b.grad().clone();
      spectrum.select(dim, 0).mul_(2);
      if (n % 2 == 0) spectrum.select(dim, -1).mul_(2);
      return gradients(fft_c2r(spectrum, dim, n, scale / 2));
    });
  return out;
}

Tensor fft_c2r(const Tensor& self, int64_t dim, int64_t n, double scale) {
  const DimVector order = fft_order(self, DimVector(1, dim), true);
  const Tensor x = self.detach().permute(ref(order)).contiguous();
  DimVector sizes = x.impl().sizes();
  sizes.back() = n;
  Tensor rows = empty(ref(sizes), x.options().dtype(to_real_type(x.scalar_type())));
  fft_c2r_kernel(self.device())(rows, x, scale);
  Tensor out = back(rows, order);
  if (needs_grad(self))
    record("FftC2RBackward0", out, {&self}, [dim, n, scale](Backward& b) {
      const Tensor spectrum = fft_r2c(b.grad(), dim, scale);
      // What stands for its mirror image too counts twice.
      Tensor count = full({spectrum.size(dim)}, 2.0, b.grad().options());
      count.select(0, 0).fill_(1);
      if (n % 2 == 0) count.select(0, -1).fill_(1);
      DimVector shape(spectrum.dim(), 1);
      shape[dim] = spectrum.size(dim);
      return gradients(spectrum * count.view(ref(shape)));
    });
  return out;
}

}  // namespace ops

namespace {

/// Dimensions and the sizes to which they are cut or padded.
struct Extent {
  DimVector dims, sizes;
  bool one = false;  // of a function of one dimension
  int64_t count() const {
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    return n;
  }
};

double scale_of(const FftNorm& norm, bool forward, int64_t n) {
  const auto count = static_cast<double>(n);
  if (!norm || *norm == "backward") return forward ? 1 : 1 / count;
  if (*norm == "forward") return forward ? 1 / count : 1;
  HB_CHECK(*norm == "ortho", "Invalid normalization mode: \"", *norm, "\"");
  return 1 / std::sqrt(count);
}

Tensor as_floating(const char* name, const Tensor& self) {
  const ScalarType t = ops::floating_result(self.scalar_type());
  HB_CHECK(!is_half_type(t), "[", name, "] Unsupported dtype ", t, "; convert to float32 first");
  return self.to(t);
}
Tensor as_complex(const char* name, const Tensor& self) {
  const Tensor x = as_floating(name, self);
  return x.to(to_complex_type(x.scalar_type()));
}
void check_real(const char* name, const Tensor& self) {
  HB_CHECK(!self.is_complex(), "[", name, "] ", name, " expects a real input tensor, but got ", self.scalar_type());
}

Tensor resized(Tensor x, const Extent& e) {
  for (size_t i = 0; i < e.dims.size(); ++i) {
    const int64_t size = x.size(e.dims[i]), wanted = e.sizes[i];
    if (wanted < size) x = x.narrow(e.dims[i], 0, wanted);
    if (wanted > size) x = ops::padded_to(x, e.dims[i], wanted);
  }
  return x;
}

void check_points(const char* name, int64_t n) {
  HB_CHECK(n >= 1, "[", name, "] Invalid number of data points (", n, ") specified");
}

Extent one_dim(const char* name, const Tensor& self, std::optional<int64_t> n, int64_t dim) {
  const int64_t d = geometry::wrap_dim(name, dim, self.dim(), false);
  const int64_t size = n.value_or(self.size(d));
  check_points(name, size);
  return {DimVector(1, d), DimVector(1, size), true};
}

Extent many_dims(const char* name, const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim) {
  Extent e;
  if (dim) {
    for (int64_t d : *dim) e.dims.push_back(geometry::wrap_dim(name, d, self.dim(), false));
    for (size_t i = 0; i < e.dims.size(); ++i)
      for (size_t j = 0; j < i; ++j) HB_CHECK(e.dims[i] != e.dims[j], "[", name, "] FFT dims must be unique");
    HB_CHECK(!s || s->size() == e.dims.size(), "[", name,
             "] When given, dim and shape arguments must have the same length");
  } else {
    const int64_t first = s ? self.dim() - static_cast<int64_t>(s->size()) : 0;
    HB_CHECK(first >= 0, "[", name, "] Got shape with ", s ? s->size() : 0, " values but input tensor only has ",
             self.dim(), " dimensions.");
    for (int64_t d = first; d < self.dim(); ++d) e.dims.push_back(d);
  }
  for (size_t i = 0; i < e.dims.size(); ++i) {
    const int64_t wanted = s ? (*s)[i] : -1;
    e.sizes.push_back(wanted == -1 ? self.size(e.dims[i]) : wanted);
    check_points(name, e.sizes.back());
  }
  return e;
}

Tensor c2c(const char* name, const Tensor& self, const Extent& e, const FftNorm& norm, bool forward) {
  if (e.dims.empty()) return as_complex(name, self).clone();
  const Tensor x = resized(as_floating(name, self), e), z = x.to(to_complex_type(x.scalar_type()));
  const bool of_real = e.one && !x.is_complex();  // LibTorch computes those from half the spectrum
  const DimVector order = ops::fft_order(of_real ? x : z, e.dims, false);
  const Tensor out = ops::fft_c2c(z, e.dims, scale_of(norm, forward, e.count()), forward, order);
  return of_real ? named(forward ? "FftR2CBackward0" : "ConjBackward0", out, self) : out;
}

/// Forward; a backward one (of ihfft) is its conjugate.
Tensor r2c(const char* name, const Tensor& self, const Extent& e, const FftNorm& norm, bool forward) {
  check_real(name, self);
  HB_CHECK(!e.dims.empty(), "[", name, "] ", name, " must transform at least one axis");
  const double scale = scale_of(norm, forward, e.count());
  const Tensor x = resized(as_floating(name, self), e);
  Tensor out = ops::fft_r2c(x, e.dims.back(), scale);
  if (e.dims.size() > 1) {
    out = ops::fft_c2c(out, DimVector(e.dims.begin(), e.dims.end() - 1), 1, true, ops::fft_order(x, e.dims, true));
    out = named("FftR2CBackward0", out, self);
  }
  return forward ? out : conj(out);
}

/// Backward, from half a spectrum; a forward one (of hfft) is that of the conjugate. e.sizes.back() is the result's.
Tensor c2r(const char* name, const Tensor& self, Extent e, const FftNorm& norm, bool forward) {
  HB_CHECK(!e.dims.empty(), "[", name, "] ", name, " must transform at least one axis");
  const double scale = scale_of(norm, forward, e.count());
  const int64_t n = e.sizes.back();
  e.sizes.back() = n / 2 + 1;
  Tensor x = resized(as_complex(name, self), e);
  if (forward) x = conj(x);
  if (e.dims.size() > 1) x = ops::fft_c2c(x, DimVector(e.dims.begin(), e.dims.end() - 1), 1, false);
  return ops::fft_c2r(x, e.dims.back(), n, scale);
}

/// Where the last size is not given, the one that a real signal of even length has.
Extent real_extent(const char* name, const Tensor& self, Extent e, bool given) {
  if (!given && !e.dims.empty()) e.sizes.back() = 2 * (self.size(e.dims.back()) - 1);
  if (!e.sizes.empty()) check_points(name, e.sizes.back());
  return e;
}
bool last_given(OptionalIntArrayRef s) { return s && !s->empty() && s->back() != -1; }

}  // namespace

// `many`: the class under autocast on the CPU of the forms of several dimensions.
#define HB_FFTS(name, name2, namen, many, transform, forward)                                            \
  Tensor fft_##name(const Tensor& self, std::optional<int64_t> n, int64_t dim, FftNorm norm) {           \
    HB_AUTOCAST(fft_##name, fp32, as_is, self, n, dim, norm);                                            \
    return transform(#name, self, one_dim(#name, self, n, dim), norm, forward);                          \
  }                                                                                                      \
  Tensor fft_##name2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, FftNorm norm) {         \
    HB_AUTOCAST(fft_##name2, many, as_is, self, s, dim, norm);                                           \
    return transform(#name2, self, many_dims(#name2, self, s, dim), norm, forward);                      \
  }                                                                                                      \
  Tensor fft_##namen(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, FftNorm norm) { \
    HB_AUTOCAST(fft_##namen, many, as_is, self, s, dim, norm);                                           \
    return transform(#namen, self, many_dims(#namen, self, s, dim), norm, forward);                      \
  }
HB_FFTS(fft, fft2, fftn, fp32, c2c, true)
HB_FFTS(ifft, ifft2, ifftn, fp32, c2c, false)
HB_FFTS(rfft, rfft2, rfftn, fp32, r2c, true)
HB_FFTS(ihfft, ihfft2, ihfftn, as_is, r2c, false)
#undef HB_FFTS

#define HB_REAL_FFTS(name, name2, namen, many, forward)                                                       \
  Tensor fft_##name(const Tensor& self, std::optional<int64_t> n, int64_t dim, FftNorm norm) {                \
    HB_AUTOCAST(fft_##name, fp32, as_is, self, n, dim, norm);                                                 \
    const Extent e = real_extent(#name, self, one_dim(#name, self, n, dim), n.has_value());                   \
    return c2r(#name, self, e, norm, forward);                                                                \
  }                                                                                                           \
  Tensor fft_##name2(const Tensor& self, OptionalIntArrayRef s, IntArrayRef dim, FftNorm norm) {              \
    HB_AUTOCAST(fft_##name2, many, as_is, self, s, dim, norm);                                                \
    return c2r(#name2, self, real_extent(#name2, self, many_dims(#name2, self, s, dim), last_given(s)), norm, \
               forward);                                                                                      \
  }                                                                                                           \
  Tensor fft_##namen(const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim, FftNorm norm) {      \
    HB_AUTOCAST(fft_##namen, many, as_is, self, s, dim, norm);                                                \
    return c2r(#namen, self, real_extent(#namen, self, many_dims(#namen, self, s, dim), last_given(s)), norm, \
               forward);                                                                                      \
  }
HB_REAL_FFTS(irfft, irfft2, irfftn, fp32, false)
HB_REAL_FFTS(hfft, hfft2, hfftn, as_is, true)
#undef HB_REAL_FFTS

namespace {
// 0, 1, …, n - 1 and, from `turn` on, less `wrapped`, each over n d. A gradient is asked for when all stands there.
Tensor frequencies(int64_t count, int64_t turn, double n, double d, const TensorOptions& options, int64_t wrapped) {
  const TensorOptions plain = options.requires_grad(false);
  Tensor out = arange(count, plain.has_dtype() ? plain : plain.dtype(get_default_dtype()));
  if (turn < count) out.narrow(0, turn, count - turn).sub_(wrapped);
  return out.mul_(1.0 / (n * d)).requires_grad_(options.requires_grad());
}
}  // namespace

Tensor fft_fftfreq(int64_t n, double d, const TensorOptions& options) {
  return frequencies(n, n - n / 2, static_cast<double>(n), d, options, n);
}
Tensor fft_rfftfreq(int64_t n, double d, const TensorOptions& options) {
  return frequencies(n / 2 + 1, n / 2 + 1, static_cast<double>(n), d, options, 0);
}

namespace {
Tensor shifted(const char* name, const Tensor& self, OptionalIntArrayRef dim, bool up) {
  DimVector dims, shifts;
  for (int64_t d = 0; d < (dim ? static_cast<int64_t>(dim->size()) : self.dim()); ++d) {
    dims.push_back(dim ? geometry::wrap_dim(name, (*dim)[d], self.dim()) : d);
    const int64_t size = self.size(dims.back());
    shifts.push_back(up ? size / 2 : (size + 1) / 2);
  }
  return roll(self, ops::ref(shifts), ops::ref(dims));
}
}  // namespace

Tensor fft_fftshift(const Tensor& self, OptionalIntArrayRef dim) { return shifted("fftshift", self, dim, true); }
Tensor fft_ifftshift(const Tensor& self, OptionalIntArrayRef dim) { return shifted("ifftshift", self, dim, false); }

}  // namespace hb
