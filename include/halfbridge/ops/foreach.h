#pragma once
// Functions of lists of tensors, one call for all of them, as optimizers of one's own use them. Each does to tensor i
// of `self` what the function of the same name does to a tensor: the same dtypes, shapes, gradients and errors. An
// operand is
//   const Scalar&       one number for all
//   TensorList          a tensor for each
//   ArrayRef<Scalar>    a number for each
//   const Tensor&       one tensor for all, of no dimensions
// A name that ends in _ changes the tensors of `self`. Empty lists, and lists of different lengths, are errors.

#include <vector>

#include <halfbridge/tensor.h>

namespace hb {

#define HB_FOREACH_UNARY(name)                                 \
  HB_API std::vector<Tensor> _foreach_##name(TensorList self); \
  HB_API void _foreach_##name##_(TensorList self);
#define HB_FOREACH_BINARY(name, of_number)                                               \
  HB_API std::vector<Tensor> _foreach_##name(TensorList self, const Scalar& scalar);     \
  HB_API std::vector<Tensor> _foreach_##name(TensorList self, TensorList other);         \
  HB_API std::vector<Tensor> _foreach_##name(TensorList self, ArrayRef<Scalar> scalars); \
  HB_API void _foreach_##name##_(TensorList self, const Scalar& scalar);                 \
  HB_API void _foreach_##name##_(TensorList self, TensorList other);                     \
  HB_API void _foreach_##name##_(TensorList self, ArrayRef<Scalar> scalars);
#define HB_FOREACH_SUM(name)                                                                              \
  HB_API std::vector<Tensor> _foreach_##name(TensorList self, const Scalar& scalar);                      \
  HB_API std::vector<Tensor> _foreach_##name(TensorList self, TensorList other, const Scalar& alpha = 1); \
  HB_API std::vector<Tensor> _foreach_##name(TensorList self, ArrayRef<Scalar> scalars);                  \
  HB_API void _foreach_##name##_(TensorList self, const Scalar& scalar);                                  \
  HB_API void _foreach_##name##_(TensorList self, TensorList other, const Scalar& alpha = 1);             \
  HB_API void _foreach_##name##_(TensorList self, ArrayRef<Scalar> scalars);
/// self + value * tensor1 * tensor2, or tensor1 / tensor2; a tensor of factors has one dimension, and lies on the CPU.
#define HB_FOREACH_TERNARY(name)                                                                                     \
  HB_API std::vector<Tensor> _foreach_##name(TensorList self, TensorList tensor1, TensorList tensor2,                \
                                             const Scalar& value = 1);                                               \
  HB_API std::vector<Tensor> _foreach_##name(TensorList self, TensorList tensor1, TensorList tensor2,                \
                                             ArrayRef<Scalar> scalars);                                              \
  HB_API std::vector<Tensor> _foreach_##name(TensorList self, TensorList tensor1, TensorList tensor2,                \
                                             const Tensor& scalars);                                                 \
  HB_API void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2, const Scalar& value = 1);  \
  HB_API void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2, ArrayRef<Scalar> scalars); \
  HB_API void _foreach_##name##_(TensorList self, TensorList tensor1, TensorList tensor2, const Tensor& scalars);
#include <halfbridge/ops/foreach.def>

HB_API std::vector<Tensor> _foreach_add(TensorList self, const Tensor& other, const Scalar& alpha = 1);
HB_API void _foreach_add_(TensorList self, const Tensor& other, const Scalar& alpha = 1);
HB_API std::vector<Tensor> _foreach_mul(TensorList self, const Tensor& other);
HB_API void _foreach_mul_(TensorList self, const Tensor& other);
HB_API std::vector<Tensor> _foreach_div(TensorList self, const Tensor& other);
HB_API void _foreach_div_(TensorList self, const Tensor& other);
HB_API std::vector<Tensor> _foreach_pow(const Scalar& self, TensorList exponent);

/// self + weight * (tensors1 - self).
HB_API std::vector<Tensor> _foreach_lerp(TensorList self, TensorList tensors1, TensorList weights);
HB_API std::vector<Tensor> _foreach_lerp(TensorList self, TensorList tensors1, const Scalar& weight);
HB_API std::vector<Tensor> _foreach_lerp(TensorList self, TensorList tensors1, ArrayRef<Scalar> weight);
HB_API void _foreach_lerp_(TensorList self, TensorList tensors1, TensorList weights);
HB_API void _foreach_lerp_(TensorList self, TensorList tensors1, const Scalar& weight);
HB_API void _foreach_lerp_(TensorList self, TensorList tensors1, ArrayRef<Scalar> weight);

/// Tensors like those of self, with the values of src.
HB_API std::vector<Tensor> _foreach_copy(TensorList self, TensorList src, bool non_blocking = false);
HB_API void _foreach_copy_(TensorList self, TensorList src, bool non_blocking = false);
HB_API std::vector<Tensor> _foreach_zero(TensorList self);
HB_API void _foreach_zero_(TensorList self);

// --- of each tensor a result of no dimensions
HB_API std::vector<Tensor> _foreach_max(TensorList self);
/// linalg_vector_norm of all elements.
HB_API std::vector<Tensor> _foreach_norm(TensorList self, const Scalar& ord = 2,
                                         std::optional<ScalarType> dtype = std::nullopt);
/// The sum of |x|^ord.
HB_API std::vector<Tensor> _foreach_powsum(TensorList self, const Scalar& ord = 2,
                                           std::optional<ScalarType> dtype = std::nullopt);

}  // namespace hb
