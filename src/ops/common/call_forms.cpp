// Forms of functions that arrange their arguments and call another form.
#include <halfbridge/ops.h>
#include <halfbridge/ops/call_forms.h>

#include "autocast/autocast.h"
#include "ops/common/inplace.h"
#include "ops/sparse/sparse.h"

namespace hb {

Tensor divide(const Tensor& self, const Tensor& other, std::optional<std::string_view> mode) {
  return div(self, other, mode);
}
Tensor divide(const Tensor& self, const Scalar& other, std::optional<std::string_view> mode) {
  return div(self, other, mode);
}
Tensor& divide_(Tensor& self, const Tensor& other, std::optional<std::string_view> mode) {
  return div_(self, other, mode);
}
Tensor& divide_(Tensor& self, const Scalar& other, std::optional<std::string_view> mode) {
  return div_(self, other, mode);
}
Tensor subtract(const Tensor& self, const Tensor& other, const Scalar& alpha) { return sub(self, other, alpha); }
Tensor subtract(const Tensor& self, const Scalar& other, const Scalar& alpha) { return sub(self, other, alpha); }
Tensor& subtract_(Tensor& self, const Tensor& other, const Scalar& alpha) { return sub_(self, other, alpha); }
Tensor& subtract_(Tensor& self, const Scalar& other, const Scalar& alpha) { return sub_(self, other, alpha); }

#define HB_BIT_OPERATOR(name, inplace_name, function)                                          \
  Tensor name(const Tensor& self, const Tensor& other) { return function(self, other); }       \
  Tensor name(const Tensor& self, const Scalar& other) { return function(self, other); }       \
  Tensor& inplace_name(Tensor& self, const Tensor& other) { return function##_(self, other); } \
  Tensor& inplace_name(Tensor& self, const Scalar& other) { return function##_(self, other); }
HB_BIT_OPERATOR(__and__, __iand__, bitwise_and)
HB_BIT_OPERATOR(__or__, __ior__, bitwise_or)
HB_BIT_OPERATOR(__xor__, __ixor__, bitwise_xor)
HB_BIT_OPERATOR(__lshift__, __ilshift__, bitwise_left_shift)
HB_BIT_OPERATOR(__rshift__, __irshift__, bitwise_right_shift)
#undef HB_BIT_OPERATOR

// A number on the left takes the dtype that it would have on the right.
#define HB_NUMBER_LEFT(function)                                      \
  Tensor function(const Scalar& self, const Tensor& other) {          \
    return function(full({}, self, result_type(other, self)), other); \
  }
HB_NUMBER_LEFT(bitwise_and)
HB_NUMBER_LEFT(bitwise_or)
HB_NUMBER_LEFT(bitwise_xor)
HB_NUMBER_LEFT(bitwise_left_shift)
HB_NUMBER_LEFT(bitwise_right_shift)
HB_NUMBER_LEFT(remainder)
#undef HB_NUMBER_LEFT
ScalarType result_type(const Scalar& a, const Scalar& b) { return result_type(full({}, a), full({}, b)); }

Tensor clip(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  return clamp(self, min, max);
}
Tensor& clip_(Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  return clamp_(self, min, max);
}
Tensor Tensor::clamp(const std::optional<Tensor>& min, const std::optional<Tensor>& max) const {
  return hb::clamp(*this, min, max);
}
Tensor& Tensor::clamp_(const std::optional<Tensor>& min, const std::optional<Tensor>& max) const {
  return hb::clamp_(const_cast<Tensor&>(*this), min, max);
}
Tensor Tensor::clip(const std::optional<Tensor>& min, const std::optional<Tensor>& max) const {
  return hb::clip(*this, min, max);
}
Tensor& Tensor::clip_(const std::optional<Tensor>& min, const std::optional<Tensor>& max) const {
  return hb::clip_(const_cast<Tensor&>(*this), min, max);
}
Tensor Tensor::diff(int64_t n, int64_t dim, const std::optional<Tensor>& prepend,
                    const std::optional<Tensor>& append) const {
  return hb::diff(*this, n, dim, prepend, append);
}
Tensor Tensor::bincount(const std::optional<Tensor>& weights, int64_t minlength) const {
  return hb::bincount(*this, weights, minlength);
}
Tensor& round_(Tensor& self, int64_t decimals) {
  return inplace("round_", self, [&](const Tensor& old) { return round(old, decimals); });
}
Tensor fill(const Tensor& self, const Tensor& value) { return self.clone().fill_(value); }
Tensor bernoulli(const Tensor& self, const Tensor& p, std::optional<Generator> generator) {
  return empty_like(self.detach()).bernoulli_(p, generator);
}

Tensor narrow(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  HB_CHECK(start.dim() == 0 && isIntegralType(start.scalar_type(), false),
           "[narrow] start must be an 0-dim integral Tensor.");
  return narrow(self, dim, start.item<int64_t>(), length);
}
Tensor narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  if (HB_UNLIKELY(self.is_sparse())) return sparse::narrow_copy(self, dim, start, length);
  return narrow(self, dim, start, length).clone(MemoryFormat::Contiguous);
}
std::vector<Tensor> tensor_split(const Tensor& self, const Tensor& indices, int64_t dim) {
  HB_DEFINED(tensor_split, self, indices);
  HB_CHECK(indices.scalar_type() == kLong, "[tensor_split] expected indices of int64, got ",
           toString(indices.scalar_type()));
  HB_CHECK(indices.dim() <= 1, "[tensor_split] expected a tensor of at most one dimension, got ", indices.sizes());
  if (indices.dim() == 0) return tensor_split(self, indices.item<int64_t>(), dim);
  const Tensor places = indices.cpu().contiguous();
  return tensor_split(self, IntArrayRef(places.data_ptr<int64_t>(), places.numel()), dim);
}
Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  HB_CHECK(repeats.dim() == 1, "[repeat_interleave] repeat_interleave only accept 1D vector as repeat, got ",
           repeats.sizes());
  return repeat_interleave(arange(repeats.numel(), repeats.options()), repeats, 0, output_size);
}

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths,
                int64_t blank, int64_t reduction, bool zero_infinity) {
  return ctc_loss(log_probs, targets, tensor(input_lengths, kLong), tensor(target_lengths, kLong), blank, reduction,
                  zero_infinity);
}

#define HB_TENSOR_ENDS(A, B, start_value, end_value)                                          \
  Tensor linspace(A start, B end, int64_t steps, const TensorOptions& options) {              \
    return linspace(start_value, end_value, steps, options);                                  \
  }                                                                                           \
  Tensor logspace(A start, B end, int64_t steps, double base, const TensorOptions& options) { \
    return logspace(start_value, end_value, steps, base, options);                            \
  }
HB_TENSOR_ENDS(const Tensor&, const Tensor&, start.item(), end.item())
HB_TENSOR_ENDS(const Tensor&, const Scalar&, start.item(), end)
HB_TENSOR_ENDS(const Scalar&, const Tensor&, start, end.item())
#undef HB_TENSOR_ENDS

namespace {
// The sizes that upsampling gives: those that the caller names, or the input's times the factors, rounded down.
std::vector<int64_t> upsampled(const char* name, const Tensor& self, OptionalIntArrayRef output_size,
                               const std::optional<ArrayRef<double>>& scales) {
  HB_CHECK(output_size.has_value() != scales.has_value(), "[", name,
           "] expected either output_size or scale_factors, got ", output_size ? "both" : "neither");
  const int64_t dims = self.dim() - 2;
  if (output_size) return output_size->vec();
  HB_CHECK(static_cast<int64_t>(scales->size()) == dims, "[", name, "] expected ", dims, " scale factors, got ",
           scales->size());
  std::vector<int64_t> sizes;
  for (int64_t d = 0; d < dims; ++d)
    sizes.push_back(static_cast<int64_t>(static_cast<double>(self.size(d + 2)) * (*scales)[d]));
  return sizes;
}
std::optional<double> scale(const std::optional<ArrayRef<double>>& scales, size_t d) {
  return scales ? std::optional((*scales)[d]) : std::nullopt;
}
}  // namespace

#define HB_SCALED(name, params, ...)                                                 \
  Tensor name params {                                                               \
    const std::vector<int64_t> sizes = upsampled(#name, self, output_size, factors); \
    return name(self, sizes, __VA_ARGS__);                                           \
  }
#define HB_PARAMS (const Tensor& self, OptionalIntArrayRef output_size, std::optional<ArrayRef<double>> factors)
#define HB_CORNERS \
  (const Tensor& self, OptionalIntArrayRef output_size, bool corners, std::optional<ArrayRef<double>> factors)
HB_SCALED(upsample_nearest1d, HB_PARAMS, scale(factors, 0))
HB_SCALED(upsample_nearest2d, HB_PARAMS, scale(factors, 0), scale(factors, 1))
HB_SCALED(upsample_nearest3d, HB_PARAMS, scale(factors, 0), scale(factors, 1), scale(factors, 2))
HB_SCALED(upsample_linear1d, HB_CORNERS, corners, scale(factors, 0))
HB_SCALED(upsample_bilinear2d, HB_CORNERS, corners, scale(factors, 0), scale(factors, 1))
HB_SCALED(upsample_bicubic2d, HB_CORNERS, corners, scale(factors, 0), scale(factors, 1))
HB_SCALED(upsample_trilinear3d, HB_CORNERS, corners, scale(factors, 0), scale(factors, 1), scale(factors, 2))
HB_SCALED(_upsample_nearest_exact1d, HB_PARAMS, scale(factors, 0))
HB_SCALED(_upsample_nearest_exact2d, HB_PARAMS, scale(factors, 0), scale(factors, 1))
HB_SCALED(_upsample_nearest_exact3d, HB_PARAMS, scale(factors, 0), scale(factors, 1), scale(factors, 2))
HB_SCALED(_upsample_bilinear2d_aa, HB_CORNERS, corners, scale(factors, 0), scale(factors, 1))
HB_SCALED(_upsample_bicubic2d_aa, HB_CORNERS, corners, scale(factors, 0), scale(factors, 1))

namespace ops {
Tensor& write_out(const char* name, Tensor& out, const Tensor& result) { return assign_out(name, out, result); }
OutScope::OutScope() : before_(std::exchange(front::active, uint8_t{0})) {}
OutScope::~OutScope() { front::active = before_; }
}  // namespace ops

}  // namespace hb
