#pragma once
// Functions whose names begin with _: parts of LibTorch's own functions, which programs call nevertheless. Gradients by
// such names are in ops/gradients.h, functions of lists in ops/foreach.h, steps of optimizers in
// optim/fused_functions.h.

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <halfbridge/options.h>
#include <halfbridge/tensor.h>

namespace hb {
template <typename T>
class List;
}  // namespace hb

namespace hb::bridge {
inline namespace api {

// --- other dtypes, copies and shapes
HB_API Tensor _cast_Byte(const Tensor& self, bool non_blocking = false);
HB_API Tensor _cast_Char(const Tensor& self, bool non_blocking = false);
HB_API Tensor _cast_Double(const Tensor& self, bool non_blocking = false);
HB_API Tensor _cast_Float(const Tensor& self, bool non_blocking = false);
HB_API Tensor _cast_Half(const Tensor& self, bool non_blocking = false);
HB_API Tensor _cast_Int(const Tensor& self, bool non_blocking = false);
HB_API Tensor _cast_Long(const Tensor& self, bool non_blocking = false);
HB_API Tensor _cast_Short(const Tensor& self, bool non_blocking = false);
/// to(options), and a copy where nothing changes.
HB_API Tensor _to_copy(const Tensor& self, TensorOptions options = {}, bool non_blocking = false,
                       std::optional<MemoryFormat> memory_format = std::nullopt);
HB_API Tensor _to_copy(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                       std::optional<Device> device, std::optional<bool> pin_memory, bool non_blocking,
                       std::optional<MemoryFormat> memory_format);
HB_API std::vector<Tensor> _to_cpu(TensorList tensors);
HB_API Tensor _conj_copy(const Tensor& self);
HB_API Tensor _pin_memory(const Tensor& self, std::optional<Device> device = std::nullopt);
HB_API Tensor _unsafe_view(const Tensor& self, IntArrayRef size);
HB_API Tensor _reshape_copy(const Tensor& self, IntArrayRef size);
/// The sizes, as a tensor of int64 on the CPU.
HB_API Tensor _shape_as_tensor(const Tensor& self);
/// 0, 1, … self.size(dim) - 1
HB_API Tensor _dim_arange(const Tensor& like, int64_t dim);
HB_API Tensor _stack(TensorList tensors, int64_t dim = 0);
/// Each tensor cut into num_chunks along dim, with zeros at the end, and the chunks of all tensors joined: of one
/// dtype, and one shape up to dim; (…, num_chunks, elements of a chunk of each).
HB_API Tensor _chunk_cat(TensorList tensors, int64_t dim, int64_t num_chunks);
HB_API Tensor _pad_circular(const Tensor& self, IntArrayRef pad);
/// mode: 0 reflect, 1 replicate, 2 circular, 3 constant.
HB_API Tensor _pad_enum(const Tensor& self, IntArrayRef pad, int64_t mode, std::optional<double> value = std::nullopt);
HB_API Scalar _local_scalar_dense(const Tensor& self);
HB_API bool _has_same_storage_numel(const Tensor& self, const Tensor& other);

// --- what others ask of a library
/// 1 where elements share memory, 0 where they do not, 2 where that is hard to tell.
HB_API int64_t _debug_has_internal_overlap(const Tensor& self);
/// Whether set_data and its kin may give one tensor what the other has.
HB_API bool _has_compatible_shallow_copy_type(const Tensor& self, const Tensor& from);
inline bool _nnpack_available() { return false; }
inline bool _use_cudnn_rnn_flatten_weight() { return false; }
inline bool cudnn_is_acceptable(const Tensor&) { return false; }
inline bool is_vulkan_available() { return false; }
inline bool is_distributed(const Tensor&) { return false; }

// --- checks
/// Throws where the only element is zero. Reads it on the host.
HB_API void _assert_async(const Tensor& self);
HB_API void _assert_async(const Tensor& self, std::string_view assert_msg);
HB_API void _assert_scalar(const Scalar& self, std::string_view assert_msg);
HB_API void _assert_tensor_metadata(const Tensor& a, OptionalIntArrayRef size = std::nullopt,
                                    OptionalIntArrayRef stride = std::nullopt,
                                    std::optional<ScalarType> dtype = std::nullopt,
                                    std::optional<Device> device = std::nullopt,
                                    std::optional<Layout> layout = std::nullopt);

// --- index with tensors that are not checked; here they are
HB_API Tensor& _index_put_impl_(Tensor& self, const List<std::optional<Tensor>>& indices, const Tensor& values,
                                bool accumulate = false, bool unsafe = false);
HB_API Tensor _unsafe_index(const Tensor& self, const List<std::optional<Tensor>>& indices);
HB_API Tensor _unsafe_index_put(const Tensor& self, const List<std::optional<Tensor>>& indices, const Tensor& values,
                                bool accumulate = false);
/// Elements at `indices` where mask is true, `fill` elsewhere; indices there may be out of range.
HB_API Tensor _unsafe_masked_index(const Tensor& self, const Tensor& mask, const List<std::optional<Tensor>>& indices,
                                   const Scalar& fill);
HB_API Tensor _coalesce(const Tensor& self);

// --- products, distances, transforms
/// relu of self + alpha other, of float, double and integers (relu of integers: at least 0).
HB_API Tensor _add_relu(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
HB_API Tensor _add_relu(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
HB_API Tensor& _add_relu_(Tensor& self, const Tensor& other, const Scalar& alpha = 1);
HB_API Tensor& _add_relu_(Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// Row i: the sum of coefficients[i, j] (m, n) times input[j] (n, …).
HB_API Tensor _compute_linear_combination(const Tensor& input, const Tensor& coefficients);
/// A product of int8 matrices as int32.
HB_API Tensor _int_mm(const Tensor& self, const Tensor& mat2);
/// Distances between the rows of x1 (…, P, M) and those of x2 (…, R, M), by products: (…, P, R).
HB_API Tensor _euclidean_dist(const Tensor& x1, const Tensor& x2);
/// The three factors with dimensions of size 1 put in at expand1 to expand3, multiplied, and summed over sumdim.
HB_API Tensor _trilinear(const Tensor& i1, const Tensor& i2, const Tensor& i3, IntArrayRef expand1, IntArrayRef expand2,
                         IntArrayRef expand3, IntArrayRef sumdim, int64_t unroll_dim = 1);
HB_API std::tuple<Tensor, Tensor> _linalg_eigh(const Tensor& A, std::string_view UPLO = "L", bool compute_v = true);
HB_API std::tuple<Tensor, Tensor, Tensor> _linalg_svd(const Tensor& A, bool full_matrices = false,
                                                      bool compute_uv = true,
                                                      std::optional<std::string_view> driver = std::nullopt);
HB_API Tensor _linalg_eigvals(const Tensor& self);
/// The factors in one matrix, the pivots, and info.
HB_API std::tuple<Tensor, Tensor, Tensor> _lu_with_info(const Tensor& self, bool pivot = true,
                                                        bool check_errors = true);
/// normalization: 0 none, 1 by the root of the number of elements, 2 by that number.
HB_API Tensor _fft_c2c(const Tensor& self, IntArrayRef dim, int64_t normalization, bool forward);
HB_API Tensor _fft_r2c(const Tensor& self, IntArrayRef dim, int64_t normalization, bool onesided);
HB_API Tensor _fft_c2r(const Tensor& self, IntArrayRef dim, int64_t normalization, int64_t last_dim_size);
HB_API std::tuple<Tensor, Tensor> _aminmax(const Tensor& self);
HB_API std::tuple<Tensor, Tensor> _aminmax(const Tensor& self, int64_t dim, bool keepdim = false);
HB_API Tensor _logcumsumexp(const Tensor& self, int64_t dim);

// --- of networks
HB_API Tensor _convolution_mode(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                                IntArrayRef stride, std::string_view padding, IntArrayRef dilation, int64_t groups);
HB_API Tensor _conv_depthwise2d(const Tensor& self, const Tensor& weight, IntArrayRef kernel_size,
                                const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                                IntArrayRef dilation);
/// native_batch_norm; the form without running statistics has none, the one without training leaves them as they are.
HB_API std::tuple<Tensor, Tensor, Tensor> _native_batch_norm_legit(const Tensor& input,
                                                                   const std::optional<Tensor>& weight,
                                                                   const std::optional<Tensor>& bias,
                                                                   Tensor& running_mean, Tensor& running_var,
                                                                   bool training, double momentum, double eps);
HB_API std::tuple<Tensor, Tensor, Tensor> _native_batch_norm_legit(const Tensor& input,
                                                                   const std::optional<Tensor>& weight,
                                                                   const std::optional<Tensor>& bias, bool training,
                                                                   double momentum, double eps);
HB_API std::tuple<Tensor, Tensor, Tensor> _native_batch_norm_legit_no_training(
    const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    const Tensor& running_mean, const Tensor& running_var, double momentum, double eps);
/// native_batch_norm in training and in evaluation, and a tensor of bytes that is empty on the CPU.
HB_API std::tuple<Tensor, Tensor, Tensor, Tensor> _batch_norm_with_update(const Tensor& input,
                                                                          const std::optional<Tensor>& weight,
                                                                          const std::optional<Tensor>& bias,
                                                                          Tensor& running_mean, Tensor& running_var,
                                                                          double momentum, double eps);
HB_API std::tuple<Tensor, Tensor, Tensor, Tensor> _batch_norm_no_update(
    const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, double momentum, double eps);
/// These leave the running statistics as they are, and give the new ones last.
HB_API std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> _batch_norm_with_update_functional(
    const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    const Tensor& running_mean, const Tensor& running_var, double momentum, double eps);
HB_API std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> _native_batch_norm_legit_functional(
    const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    const Tensor& running_mean, const Tensor& running_var, bool training, double momentum, double eps);
HB_API std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> _batch_norm_with_update_out(
    Tensor& out, Tensor& save_mean, Tensor& save_invstd, Tensor& reserve, const Tensor& input,
    const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, Tensor& running_mean, Tensor& running_var,
    double momentum, double eps);
HB_API std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> _batch_norm_with_update_outf(
    const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, Tensor& running_mean,
    Tensor& running_var, double momentum, double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd,
    Tensor& reserve);
/// rms_norm and the reciprocal of what it divides by, (…, 1, …).
HB_API std::tuple<Tensor, Tensor> _fused_rms_norm(const Tensor& input, IntArrayRef normalized_shape,
                                                  const std::optional<Tensor>& weight, std::optional<double> eps);
/// softmax whose rows of -inf alone become zeros.
HB_API Tensor _safe_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt);
/// Attention and its weights (…, L, S), both after dropout; dropout_mask says what is kept.
HB_API std::tuple<Tensor, Tensor> _scaled_dot_product_attention_math(
    const Tensor& query, const Tensor& key, const Tensor& value, const std::optional<Tensor>& attn_mask = {},
    double dropout_p = 0.0, bool is_causal = false, const std::optional<Tensor>& dropout_mask = {},
    std::optional<double> scale = std::nullopt, bool enable_gqa = false);
HB_API std::tuple<Tensor, Tensor, Tensor, Tensor> _embedding_bag(const Tensor& weight, const Tensor& indices,
                                                                 const Tensor& offsets, bool scale_grad_by_freq = false,
                                                                 int64_t mode = 0, bool sparse = false,
                                                                 const std::optional<Tensor>& per_sample_weights = {},
                                                                 bool include_last_offset = false,
                                                                 int64_t padding_idx = -1);
/// Values of a packed sequence and its batch sizes; lengths (N) are sorted, longest first.
HB_API std::tuple<Tensor, Tensor> _pack_padded_sequence(const Tensor& input, const Tensor& lengths, bool batch_first);
/// The padded tensor and its lengths.
HB_API std::tuple<Tensor, Tensor> _pad_packed_sequence(const Tensor& data, const Tensor& batch_sizes, bool batch_first,
                                                       const Scalar& padding_value, int64_t total_length);
/// v * g / |v|, the norm over all dimensions but dim; the second form returns the norms too.
HB_API Tensor _weight_norm(const Tensor& v, const Tensor& g, int64_t dim = 0);
HB_API std::tuple<Tensor, Tensor> _weight_norm_interface(const Tensor& v, const Tensor& g, int64_t dim = 0);

}  // namespace api
}  // namespace hb::bridge
