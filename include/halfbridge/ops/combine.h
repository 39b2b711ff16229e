#pragma once
// Functions of several tensors.

#include <halfbridge/tensor.h>

namespace hb {

HB_API Tensor cat(TensorList tensors, int64_t dim = 0);
HB_API Tensor& cat_out(Tensor& out, TensorList tensors, int64_t dim = 0);
inline Tensor concat(TensorList tensors, int64_t dim = 0) { return cat(tensors, dim); }
HB_API Tensor stack(TensorList tensors, int64_t dim = 0);
HB_API Tensor hstack(TensorList tensors);
HB_API Tensor vstack(TensorList tensors);
HB_API Tensor dstack(TensorList tensors);
HB_API Tensor column_stack(TensorList tensors);
HB_API Tensor block_diag(TensorList tensors);
HB_API Tensor cartesian_prod(TensorList tensors);
HB_API std::vector<Tensor> broadcast_tensors(TensorList tensors);
HB_API std::vector<Tensor> meshgrid(TensorList tensors);
HB_API std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing);
HB_API std::vector<int64_t> broadcast_shapes(IntArrayRef a, IntArrayRef b);

HB_API Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
HB_API Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other);
HB_API Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other);
HB_API Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other);
HB_API std::vector<Tensor> where(const Tensor& condition);
HB_API Tensor clamp(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max);
HB_API Tensor pow(const Scalar& self, const Tensor& exponent);
HB_API Tensor isin(const Tensor& elements, const Tensor& test_elements);
HB_API Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength = 0);
HB_API Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32 = false,
                           bool right = false);
HB_API Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32 = false, bool right = false);
HB_API std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim, bool sorted = true,
                                                     bool return_inverse = false, bool return_counts = false);
HB_API std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted = true, bool return_inverse = false);
HB_API std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool sorted = true, bool return_inverse = false,
                                                   bool return_counts = false);
HB_API std::tuple<Tensor, Tensor> var_mean(const Tensor& self, OptionalIntArrayRef dim = std::nullopt,
                                           const std::optional<Scalar>& correction = std::nullopt,
                                           bool keepdim = false);
HB_API std::tuple<Tensor, Tensor> std_mean(const Tensor& self, OptionalIntArrayRef dim = std::nullopt,
                                           const std::optional<Scalar>& correction = std::nullopt,
                                           bool keepdim = false);
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, int dim) {
  return var_mean(self, IntArrayRef(int64_t{dim}));
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, int dim) {
  return std_mean(self, IntArrayRef(int64_t{dim}));
}
HB_API Tensor& add_out(Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
HB_API Tensor& sub_out(Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
HB_API Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2);
HB_API Tensor& matmul_out(Tensor& out, const Tensor& self, const Tensor& other);
HB_API Tensor& sum_out(Tensor& out, const Tensor& self, OptionalIntArrayRef dim, bool keepdim = false,
                       std::optional<ScalarType> dtype = std::nullopt);
HB_API Tensor& clamp_out(Tensor& out, const Tensor& self, const std::optional<Scalar>& min,
                         const std::optional<Scalar>& max = std::nullopt);

HB_API Tensor einsum(std::string_view equation, TensorList operands);
HB_API Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other);
HB_API Tensor chain_matmul(TensorList matrices);
HB_API Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2);
HB_API Tensor vander(const Tensor& x, std::optional<int64_t> n = std::nullopt, bool increasing = false);
/// Sums `self` over the dimensions in which `shape` was broadcast.
HB_API Tensor sum_to(const Tensor& self, IntArrayRef shape);
HB_API bool is_floating_point(const Tensor& self);
HB_API ScalarType result_type(const Tensor& a, const Tensor& b);
HB_API ScalarType result_type(const Tensor& a, const Scalar& b);
HB_API bool can_cast(ScalarType from, ScalarType to);

inline Tensor multiply(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor multiply(const Tensor& a, const Scalar& b) { return mul(a, b); }
inline Tensor divide(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor divide(const Tensor& a, const Scalar& b) { return div(a, b); }
inline Tensor subtract(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor true_divide(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor negative(const Tensor& a) { return neg(a); }
inline Tensor absolute(const Tensor& a) { return abs(a); }
inline Tensor greater(const Tensor& a, const Tensor& b) { return gt(a, b); }
inline Tensor greater(const Tensor& a, const Scalar& b) { return gt(a, b); }
inline Tensor less(const Tensor& a, const Tensor& b) { return lt(a, b); }
inline Tensor less(const Tensor& a, const Scalar& b) { return lt(a, b); }
inline Tensor arccos(const Tensor& a) { return acos(a); }
inline Tensor arcsin(const Tensor& a) { return asin(a); }
inline Tensor arctan(const Tensor& a) { return atan(a); }
inline Tensor fix(const Tensor& a) { return trunc(a); }

}  // namespace hb
