#include <halfbridge/ops.h>

#include "autocast/autocast.h"

#include "autograd/record.h"
#include "core/geometry.h"
#include "ops/common/layout.h"
#include "ops/common/refused_dtypes.h"
#include "ops/nn/separable.h"

namespace hb {
namespace {

// Pairs count from the last dimension: (last front, last back, …).
void check_pairs(const char* name, const Tensor& x, IntArrayRef pad) {
  HB_CHECK(pad.size() % 2 == 0, "[", name,
           "] Length of pad must be even (Padding length must be divisible by 2) but instead it equals ", pad.size());
  HB_CHECK(
      static_cast<int64_t>(pad.size()) <= 2 * x.dim(), "[", name,
      "] Length of pad should be no more than twice the number of dimensions of the input (Padding length should be "
      "less than or equal to two times the input dimension but got padding length ",
      pad.size(), " and input of dimension ", x.dim(), ")");
}

// The padded size of the i-th dimension from the last; throws where the sum overflows.
int64_t padded_size(const Tensor& x, int64_t i, IntArrayRef pad) {
  int64_t size = x.size(x.dim() - 1 - i);
  const bool overflow =
      __builtin_add_overflow(size, pad[2 * i], &size) | __builtin_add_overflow(size, pad[2 * i + 1], &size);
  HB_CHECK(!overflow, "[pad] Storage size calculation overflowed with sizes=", x.sizes(), " and padding ", pad);
  return size;
}

Tensor constant_values(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  DimVector sizes(self.impl().sizes());
  Tensor source = self.detach();
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t d = self.dim() - 1 - static_cast<int64_t>(i);
    sizes[d] = padded_size(self, static_cast<int64_t>(i), pad);
    HB_CHECK(sizes[d] >= 0, "[constant_pad_nd] narrow(): length must be non-negative, but the result of padding ", pad,
             " for ", self.sizes());
    const int64_t front = std::max<int64_t>(0, -pad[2 * i]), back = std::max<int64_t>(0, -pad[2 * i + 1]);
    if (front || back) source = source.narrow(d, front, std::max<int64_t>(0, self.size(d) - front - back));
  }
  if (source.impl().sizes() == sizes) return source.clone();  // nothing but cut
  Tensor out = ops::empty_in_layout_of(self, sizes);
  out.fill_(value);
  Tensor inside = out;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t d = self.dim() - 1 - static_cast<int64_t>(i);
    inside = inside.narrow(d, std::max<int64_t>(0, pad[2 * i]), source.size(d));
  }
  inside.copy_(source);
  return out;
}

// Which element each element of the padded dimension repeats; negative paddings cut.
std::vector<int64_t> padded_index(const char* name, const Tensor& x, int64_t d, int64_t front, int64_t back,
                                  std::string_view mode) {
  const int64_t whole = x.size(d);
  const int64_t cut = std::max<int64_t>(0, -front), n = whole - cut - std::max<int64_t>(0, -back);
  HB_CHECK(n >= 0, "[", name, "] expected a result of no negative size, got paddings ", front, " and ", back,
           " for size ", whole);
  std::vector<int64_t> at;
  if (mode == "reflect") {  // also what is cut off
    HB_CHECK((front <= 0 && back <= 0) || (front < whole && back < whole), "[", name,
             "] Padding size should be less than the corresponding input dimension, but got: padding (", front, ", ",
             back, ") at dimension ", d, " of input ", x.sizes());
    for (int64_t i = -front; i < whole + back; ++i) at.push_back(i < 0 ? -i : i >= whole ? 2 * (whole - 1) - i : i);
    return at;
  }
  front = std::max<int64_t>(0, front), back = std::max<int64_t>(0, back);
  if (mode == "circular")
    HB_CHECK(front <= n && back <= n, "[", name, "] Padding value causes wrapping around more than once: ", front,
             " and ", back, " for size ", n);
  else
    HB_CHECK(n > 0 || (front == 0 && back == 0), "[", name, "] expected no empty dimension to pad");
  for (int64_t i = -front; i < n + back; ++i)
    at.push_back(cut + (mode == "circular" ? (i + n) % n : std::clamp<int64_t>(i, 0, n - 1)));
  return at;
}

Tensor pad_by_index(const char* name, const char* node, const Tensor& self, IntArrayRef pad, std::string_view mode) {
  check_pairs(name, self, pad);
  const int64_t dims = static_cast<int64_t>(pad.size()) / 2;
  DimVector sizes(self.impl().sizes());
  for (int64_t i = 0; i < dims; ++i) sizes[self.dim() - 1 - i] = padded_size(self, i, pad);
  geometry::bytes(geometry::numel(sizes), self.impl().itemsize());  // before the lists below
  std::vector<std::vector<int64_t>> index(dims);
  for (int64_t i = 0; i < dims; ++i)
    index[dims - 1 - i] = padded_index(name, self, self.dim() - 1 - i, pad[2 * i], pad[2 * i + 1], mode);
  return ops::select_separable(node, self, std::move(index));
}

Tensor pad_spatial(const char* name, const char* node, int dims, const Tensor& self, IntArrayRef padding,
                   std::string_view mode) {
  HB_CHECK(padding.size() == 2 * static_cast<size_t>(dims), "[", name, "] padding size is expected to be ", 2 * dims,
           ", but got: ", padding.size());
  bool fits = self.dim() == dims + 1 || self.dim() == dims + 2;
  for (int64_t d = self.dim() - dims - 1; fits && d < self.dim(); ++d) fits = self.size(d) != 0;  // not of the batch
  HB_CHECK(fits, "[", name, "] Expected ", dims + 1, "D or ", dims + 2,
           "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ",
           self.sizes());
  for (int64_t k = 0; k < dims; ++k) {
    const int64_t length = padded_size(self, k, padding);
    HB_CHECK(length >= 1, "[", name, "] input (", "WHD"[k], ": ", self.size(self.dim() - 1 - k),
             ") is too small. Calculated output ", "WHD"[k], ": ", length);
  }
  ops::refuse_bool(name, self.scalar_type());
  return pad_by_index(name, node, self, padding, mode);
}

}  // namespace

Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  HB_FUNCTION(constant_pad_nd, self, pad, value);
  check_pairs("constant_pad_nd", self, pad);
  Tensor out;
  {
    NoGradGuard guard;
    out = constant_values(self, pad, value);
  }
  if (needs_grad(self)) {
    std::vector<int64_t> back = pad.vec();
    for (int64_t& p : back) p = -p;
    record("ConstantPadNdBackward0", out, {&self},
           [back](Backward& b) -> variable_list { return {constant_pad_nd(b.grad(), back, 0)}; });
  }
  return out;
}

Tensor pad(const Tensor& self, IntArrayRef pad, std::string_view mode, std::optional<double> value) {
  HB_FUNCTION(hb::pad, self, pad, mode, value);
  if (mode == "constant") return constant_pad_nd(self, pad, value.value_or(0));
  HB_CHECK(mode == "reflect" || mode == "replicate" || mode == "circular", "[pad] Unrecognised padding mode ", mode);
  HB_CHECK(!value || *value == 0, "[pad] expected no value in mode \"", mode, "\", got ", value.value_or(0));
  check_pairs("pad", self, pad);
  const int64_t dims = static_cast<int64_t>(pad.size()) / 2;
  HB_CHECK_SUPPORTED(
      pad.size() % 2 == 0 && dims >= 1 && dims <= 3 && (self.dim() == dims + 1 || self.dim() == dims + 2),
      "[pad] Padding size ", pad.size(), " is not supported for ", self.dim(),
      "D input tensor.\nSupported: paddings of the last 1 to 3 dimensions of a batched or unbatched input");
  if (mode == "reflect")
    return dims == 1   ? reflection_pad1d(self, pad)
           : dims == 2 ? reflection_pad2d(self, pad)
                       : reflection_pad3d(self, pad);
  if (mode == "replicate")
    return dims == 1   ? replication_pad1d(self, pad)
           : dims == 2 ? replication_pad2d(self, pad)
                       : replication_pad3d(self, pad);
  // In LibTorch a circular padding alone does not keep the channels-last format.
  return pad_by_index("pad", "CircularPadBackward0", ops::is_visibly_channels_last(self) ? self.contiguous() : self,
                      pad, mode);
}

#define HB_PAD(n, reflection_class)                                                                                \
  Tensor reflection_pad##n##d(const Tensor& self, IntArrayRef padding) {                                           \
    HB_AUTOCAST(reflection_pad##n##d, reflection_class, as_is, self, padding);                                     \
    return pad_spatial("reflection_pad" #n "d", "ReflectionPad" #n "DBackward0", n, self, padding, "reflect");     \
  }                                                                                                                \
  Tensor replication_pad##n##d(const Tensor& self, IntArrayRef padding) {                                          \
    HB_AUTOCAST(replication_pad##n##d, fp32, as_is, self, padding);                                                \
    return pad_spatial("replication_pad" #n "d", "ReplicationPad" #n "DBackward0", n, self, padding, "replicate"); \
  }
HB_PAD(1, fp32)
HB_PAD(2, fp32)
HB_PAD(3, as_is)

}  // namespace hb
