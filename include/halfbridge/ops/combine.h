#pragma once
// Functions of several tensors.

#include <halfbridge/ops/factories.h>
#include <halfbridge/tensor.h>

namespace hb {

HB_API Tensor cat(TensorList tensors, int64_t dim = 0);
HB_API Tensor vstack(TensorList tensors);
HB_API Tensor& cat_out(Tensor& out, TensorList tensors, int64_t dim = 0);
inline Tensor row_stack(TensorList tensors) { return vstack(tensors); }
inline Tensor concat(TensorList tensors, int64_t dim = 0) { return cat(tensors, dim); }
inline Tensor concatenate(TensorList tensors, int64_t dim = 0) { return cat(tensors, dim); }
HB_API Tensor stack(TensorList tensors, int64_t dim = 0);
HB_API Tensor hstack(TensorList tensors);
HB_API Tensor dstack(TensorList tensors);
HB_API Tensor column_stack(TensorList tensors);
HB_API Tensor block_diag(TensorList tensors);
/// Views with at least one, two, three dimensions.
HB_API Tensor atleast_1d(const Tensor& self);
HB_API Tensor atleast_2d(const Tensor& self);
HB_API Tensor atleast_3d(const Tensor& self);
HB_API std::vector<Tensor> atleast_1d(TensorList tensors);
HB_API std::vector<Tensor> atleast_2d(TensorList tensors);
HB_API std::vector<Tensor> atleast_3d(TensorList tensors);
/// All values of tensors of one dtype in one 1-d tensor, and back: parts of it as views of the tensors' shapes.
HB_API Tensor flatten_dense_tensors(TensorList tensors);
HB_API std::vector<Tensor> unflatten_dense_tensors(const Tensor& flat, TensorList tensors);
/// The sets of r elements of a 1-d tensor, one per row, in lexicographic order of their places.
HB_API Tensor combinations(const Tensor& self, int64_t r = 2, bool with_replacement = false);
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
/// Bounds that are tensors broadcast; one may be missing.
HB_API Tensor clamp(const Tensor& self, const std::optional<Tensor>& min = std::nullopt,
                    const std::optional<Tensor>& max = std::nullopt);
HB_API Tensor& clamp_(Tensor& self, const std::optional<Tensor>& min = std::nullopt,
                      const std::optional<Tensor>& max = std::nullopt);
HB_API Tensor clip(const Tensor& self, const std::optional<Tensor>& min = std::nullopt,
                   const std::optional<Tensor>& max = std::nullopt);
HB_API Tensor& clip_(Tensor& self, const std::optional<Tensor>& min = std::nullopt,
                     const std::optional<Tensor>& max = std::nullopt);
HB_API Tensor diff(const Tensor& self, int64_t n = 1, int64_t dim = -1,
                   const std::optional<Tensor>& prepend = std::nullopt,
                   const std::optional<Tensor>& append = std::nullopt);
HB_API Tensor bincount(const Tensor& self, const std::optional<Tensor>& weights = std::nullopt, int64_t minlength = 0);
HB_API Tensor pow(const Scalar& self, const Tensor& exponent);
HB_API Tensor cov(const Tensor& self, int64_t correction = 1, const std::optional<Tensor>& fweights = std::nullopt,
                  const std::optional<Tensor>& aweights = std::nullopt);
/// Which of the elements are among the test elements, or with `invert` are not.
HB_API Tensor isin(const Tensor& elements, const Tensor& test_elements, bool assume_unique = false,
                   bool invert = false);
HB_API Tensor isin(const Tensor& elements, const Scalar& test_element, bool assume_unique = false, bool invert = false);
HB_API Tensor isin(const Scalar& element, const Tensor& test_elements, bool assume_unique = false, bool invert = false);
/// repeats (n): each i of 0 … n-1 repeats[i] times.
HB_API Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size = std::nullopt);
/// side: "left" or "right", as `right` says; sorter: the places that put the sequence in order.
HB_API Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32 = false,
                           bool right = false, std::optional<std::string_view> side = std::nullopt,
                           const std::optional<Tensor>& sorter = std::nullopt);
HB_API Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& self, bool out_int32 = false,
                           bool right = false, std::optional<std::string_view> side = std::nullopt,
                           const std::optional<Tensor>& sorter = std::nullopt);
HB_API Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32 = false, bool right = false);
HB_API Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32 = false, bool right = false);
HB_API std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim, bool sorted = true,
                                                     bool return_inverse = false, bool return_counts = false);
HB_API std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted = true, bool return_inverse = false);
HB_API std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool sorted = true, bool return_inverse = false,
                                                   bool return_counts = false);
/// (counts, bin edges): each bin holds its left edge, the last one both. bins: the edges, or how many of equal width
/// between the two numbers of `range` (else between the least and the greatest value).
HB_API TensorTuple2 histogram(const Tensor& self, const Tensor& bins,
                              const std::optional<Tensor>& weight = std::nullopt, bool density = false);
HB_API TensorTuple2 histogram(const Tensor& self, int64_t bins = 100,
                              std::optional<ArrayRef<double>> range = std::nullopt,
                              const std::optional<Tensor>& weight = std::nullopt, bool density = false);
/// (counts, edges of the bins along each dimension): how many rows of the last dimension of self (…, D), a point each,
/// lie in each of D-dimensional bins. bins: the edges along each dimension (D tensors), or how many of equal width
/// there are: for each dimension, or for all. `range` holds two numbers for each dimension, or nothing where edges are
/// given; without it bins reach from the least to the greatest value. weight: a number for each point (…). Of float and
/// double; without gradients.
HB_API std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, IntArrayRef bins,
                                                           std::optional<ArrayRef<double>> range = std::nullopt,
                                                           const std::optional<Tensor>& weight = std::nullopt,
                                                           bool density = false);
HB_API std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, int64_t bins,
                                                           std::optional<ArrayRef<double>> range = std::nullopt,
                                                           const std::optional<Tensor>& weight = std::nullopt,
                                                           bool density = false);
HB_API std::tuple<Tensor, std::vector<Tensor>> histogramdd(const Tensor& self, TensorList bins,
                                                           std::optional<ArrayRef<double>> range = std::nullopt,
                                                           const std::optional<Tensor>& weight = std::nullopt,
                                                           bool density = false);
/// Its parts: the edges, and the counts.
HB_API std::vector<Tensor> _histogramdd_bin_edges(const Tensor& self, IntArrayRef bins,
                                                  std::optional<ArrayRef<double>> range = std::nullopt,
                                                  const std::optional<Tensor>& weight = std::nullopt,
                                                  bool density = false);
HB_API Tensor _histogramdd_from_bin_cts(const Tensor& self, IntArrayRef bins,
                                        std::optional<ArrayRef<double>> range = std::nullopt,
                                        const std::optional<Tensor>& weight = std::nullopt, bool density = false);
HB_API Tensor _histogramdd_from_bin_tensors(const Tensor& self, TensorList bins,
                                            const std::optional<Tensor>& weight = std::nullopt, bool density = false);
/// (values, places of the values per element, lengths of the runs) of runs of equal neighbours.
HB_API std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self, bool return_inverse = false,
                                                             bool return_counts = false,
                                                             std::optional<int64_t> dim = std::nullopt);
HB_API std::tuple<Tensor, Tensor, Tensor> unique_dim_consecutive(const Tensor& self, int64_t dim,
                                                                 bool return_inverse = false,
                                                                 bool return_counts = false);
/// Integrals by the trapezoidal rule, at the places x or with the step dx.
HB_API Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t dim = -1);
HB_API Tensor trapezoid(const Tensor& y, const Scalar& dx = 1, int64_t dim = -1);
inline Tensor trapz(const Tensor& y, const Tensor& x, int64_t dim = -1) { return trapezoid(y, x, dim); }
inline Tensor trapz(const Tensor& y, double dx = 1, int64_t dim = -1) { return trapezoid(y, Scalar(dx), dim); }
HB_API Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t dim = -1);
HB_API Tensor cumulative_trapezoid(const Tensor& y, const Scalar& dx = 1, int64_t dim = -1);
/// Central differences of second order along each dimension; at the two ends differences of order edge_order (1 or 2).
/// spacing: one step, a step per dimension, or the places along each dimension.
HB_API std::vector<Tensor> gradient(const Tensor& self, const std::optional<Scalar>& spacing = std::nullopt,
                                    std::optional<int64_t> dim = std::nullopt, int64_t edge_order = 1);
HB_API std::vector<Tensor> gradient(const Tensor& self, const Scalar& spacing, IntArrayRef dim, int64_t edge_order = 1);
HB_API std::vector<Tensor> gradient(const Tensor& self, IntArrayRef dim, int64_t edge_order = 1);
HB_API std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing,
                                    std::optional<int64_t> dim = std::nullopt, int64_t edge_order = 1);
HB_API std::vector<Tensor> gradient(const Tensor& self, ArrayRef<Scalar> spacing, IntArrayRef dim,
                                    int64_t edge_order = 1);
HB_API std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, std::optional<int64_t> dim = std::nullopt,
                                    int64_t edge_order = 1);
HB_API std::vector<Tensor> gradient(const Tensor& self, TensorList spacing, IntArrayRef dim, int64_t edge_order = 1);
/// Sums, means, products or extrema ("sum", "mean", "prod", "max", "min") of successive segments of `data` along
/// `axis`; the last dimension of lengths or of offsets says where they lie, the ones before are those of data before
/// axis.
HB_API Tensor segment_reduce(const Tensor& data, std::string_view reduce,
                             const std::optional<Tensor>& lengths = std::nullopt,
                             const std::optional<Tensor>& indices = std::nullopt,
                             const std::optional<Tensor>& offsets = std::nullopt, int64_t axis = 0, bool unsafe = false,
                             const std::optional<Scalar>& initial = std::nullopt);
HB_API std::tuple<Tensor, Tensor> var_mean(const Tensor& self, OptionalIntArrayRef dim = std::nullopt,
                                           const std::optional<Scalar>& correction = std::nullopt,
                                           bool keepdim = false);
HB_API std::tuple<Tensor, Tensor> std_mean(const Tensor& self, OptionalIntArrayRef dim = std::nullopt,
                                           const std::optional<Scalar>& correction = std::nullopt,
                                           bool keepdim = false);
/// `unbiased`: divided by the number of elements less one, as without it. Of a bool, not of a dimension.
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, bool unbiased) {
  return var_mean(self, std::nullopt, Scalar(int64_t{unbiased}));
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, bool unbiased) {
  return std_mean(self, std::nullopt, Scalar(int64_t{unbiased}));
}
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, OptionalIntArrayRef dim, bool unbiased,
                                           bool keepdim = false) {
  return var_mean(self, dim, Scalar(int64_t{unbiased}), keepdim);
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, OptionalIntArrayRef dim, bool unbiased,
                                           bool keepdim = false) {
  return std_mean(self, dim, Scalar(int64_t{unbiased}), keepdim);
}
inline std::tuple<Tensor, Tensor> var_mean(const Tensor& self, int dim) {
  return var_mean(self, IntArrayRef(int64_t{dim}));
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor& self, int dim) {
  return std_mean(self, IntArrayRef(int64_t{dim}));
}
HB_API Tensor& add_out(Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
HB_API Tensor& sub_out(Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
HB_API Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2);
// Products whose result has another dtype, which LibTorch has for CUDA alone, are not supported: these throw.
HB_API Tensor mm(const Tensor& self, const Tensor& mat2, ScalarType out_dtype);
HB_API Tensor bmm(const Tensor& self, const Tensor& mat2, ScalarType out_dtype);
HB_API Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, ScalarType out_dtype,
                    const Scalar& beta = 1, const Scalar& alpha = 1);
HB_API Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, ScalarType out_dtype,
                      const Scalar& beta = 1, const Scalar& alpha = 1);
HB_API Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2, ScalarType out_dtype);
HB_API Tensor& bmm_out(Tensor& out, const Tensor& self, const Tensor& mat2, ScalarType out_dtype);
HB_API Tensor& addmm_out(Tensor& out, const Tensor& self, const Tensor& mat1, const Tensor& mat2, ScalarType out_dtype,
                         const Scalar& beta = 1, const Scalar& alpha = 1);
HB_API Tensor& baddbmm_out(Tensor& out, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                           ScalarType out_dtype, const Scalar& beta = 1, const Scalar& alpha = 1);
HB_API Tensor& matmul_out(Tensor& out, const Tensor& self, const Tensor& other);
/// Sums and products into `out` compute in out's dtype; `dtype` says the same or is an error.
#define HB_SUM_OUT(name, ...) \
  HB_API Tensor& name##_out(Tensor& out, const Tensor& self, __VA_ARGS__ std::optional<ScalarType> dtype = std::nullopt)
HB_SUM_OUT(sum, );
HB_SUM_OUT(sum, OptionalIntArrayRef dim, bool keepdim = false, );
HB_SUM_OUT(nansum, OptionalIntArrayRef dim = std::nullopt, bool keepdim = false, );
HB_SUM_OUT(mean, );
HB_SUM_OUT(mean, OptionalIntArrayRef dim, bool keepdim = false, );
HB_SUM_OUT(prod, );
HB_SUM_OUT(prod, int64_t dim, bool keepdim = false, );
HB_SUM_OUT(cumsum, int64_t dim, );
HB_SUM_OUT(cumprod, int64_t dim, );
#undef HB_SUM_OUT
HB_API Tensor& clamp_out(Tensor& out, const Tensor& self, const std::optional<Scalar>& min,
                         const std::optional<Scalar>& max = std::nullopt);

/// path (pairs of places that say what to multiply next) is taken and changes nothing: the order is that of the
/// operands.
HB_API Tensor einsum(std::string_view equation, TensorList operands, OptionalIntArrayRef path = std::nullopt);
HB_API Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other);
HB_API Tensor chain_matmul(TensorList matrices);
/// Distances (…, P, R) of the rows of x1 (…, P, M) and x2 (…, R, M) in the norm of order p >= 0. For p = 2 by one
/// product, which takes no memory of the size P * R * M: always in mode 1, never in mode 2, else (PyTorch's default, 0)
/// where P or R is above 25.
HB_API Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2,
                    std::optional<int64_t> compute_mode = std::nullopt);
HB_API Tensor vander(const Tensor& x, std::optional<int64_t> n = std::nullopt, bool increasing = false);
/// The gradient of index_select: zeros of `sizes`, to which the slices of `grad` are added at `index`.
HB_API Tensor index_select_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, const Tensor& index);
/// Sums `self` over the dimensions in which `shape` was broadcast.
HB_API Tensor sum_to(const Tensor& self, IntArrayRef shape);
HB_API bool is_floating_point(const Tensor& self);
inline bool is_complex(const Tensor& self) { return self.is_complex(); }
inline bool is_signed(const Tensor& self) { return self.is_signed(); }
inline bool is_nonzero(const Tensor& self) { return self.is_nonzero(); }
inline Tensor detach(const Tensor& self) { return self.detach(); }
inline Tensor& detach_(Tensor& self) { return self.detach_(), self; }
inline bool is_inference(const Tensor& self) { return self.is_inference(); }
inline int64_t numel(const Tensor& self) { return self.numel(); }
inline int64_t size(const Tensor& self, int64_t dim) { return self.size(dim); }
inline int64_t stride(const Tensor& self, int64_t dim) { return self.stride(dim); }
inline int64_t get_device(const Tensor& self) { return self.get_device(); }
inline const Tensor& resize_as_(const Tensor& self, const Tensor& the_template,
                                std::optional<MemoryFormat> memory_format = std::nullopt) {
  return self.resize_as_(the_template, memory_format);
}
inline Tensor resize_as(const Tensor& self, const Tensor& the_template,
                        std::optional<MemoryFormat> memory_format = std::nullopt) {
  return self.clone().resize_as_(the_template, memory_format);
}
inline Tensor zero(const Tensor& self) { return zeros_like(self); }
HB_API Tensor float_power(const Scalar& self, const Tensor& exponent);
inline Tensor fill(const Tensor& self, const Scalar& value) { return full_like(self, value); }
HB_API Tensor fill(const Tensor& self, const Tensor& value);
HB_API Tensor bitwise_and(const Scalar& self, const Tensor& other);
HB_API Tensor bitwise_or(const Scalar& self, const Tensor& other);
HB_API Tensor bitwise_xor(const Scalar& self, const Tensor& other);
HB_API Tensor bitwise_left_shift(const Scalar& self, const Tensor& other);
HB_API Tensor bitwise_right_shift(const Scalar& self, const Tensor& other);
HB_API Tensor remainder(const Scalar& self, const Tensor& other);
HB_API ScalarType result_type(const Tensor& a, const Tensor& b);
HB_API ScalarType result_type(const Tensor& a, const Scalar& b);
HB_API ScalarType result_type(const Scalar& a, const Tensor& b);
HB_API ScalarType result_type(const Scalar& a, const Scalar& b);
HB_API bool can_cast(ScalarType from, ScalarType to);

#define HB_UNARY_ALIAS(name, function)                         \
  inline Tensor name(const Tensor& a) { return function(a); }  \
  inline Tensor& name##_(Tensor& a) { return function##_(a); } \
  inline Tensor& name##_out(Tensor& out, const Tensor& a) { return function##_out(out, a); }
#define HB_BINARY_ALIAS(name, function)                                           \
  inline Tensor name(const Tensor& a, const Tensor& b) { return function(a, b); } \
  inline Tensor name(const Tensor& a, const Scalar& b) { return function(a, b); }
#include <halfbridge/ops/aliases.def>

}  // namespace hb
