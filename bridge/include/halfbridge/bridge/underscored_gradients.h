#pragma once
// Parts of CTC losses, embedding bags and fractional poolings under the names of LibTorch's kernels, with their
// gradients: what ops/gradients.h has of other functions.

#include <optional>
#include <tuple>

#include <halfbridge/tensor.h>

namespace hb::bridge {
inline namespace api {

/// The loss of each sequence, infinite where it cannot give its labels, and the logarithms of all beginnings (batch,
/// steps, 2 * the longest target + 1), those from which no end is reached being -inf. zero_infinity matters to the
/// gradient alone.
HB_API std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                                            IntArrayRef target_lengths, int64_t blank = 0, bool zero_infinity = false);
HB_API std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                                            const Tensor& target_lengths, int64_t blank = 0,
                                            bool zero_infinity = false);
/// Cannot be differentiated again, as in LibTorch.
HB_API Tensor _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets,
                                 IntArrayRef input_lengths, IntArrayRef target_lengths,
                                 const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank,
                                 bool zero_infinity = false);
HB_API Tensor _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets,
                                 const Tensor& input_lengths, const Tensor& target_lengths,
                                 const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank,
                                 bool zero_infinity = false);

/// _embedding_bag without a gradient.
HB_API std::tuple<Tensor, Tensor, Tensor, Tensor> _embedding_bag_forward_only(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq = false,
    int64_t mode = 0, bool sparse = false, const std::optional<Tensor>& per_sample_weights = {},
    bool include_last_offset = false, int64_t padding_idx = -1);
/// Of the weight, from the results of _embedding_bag: the bag of each index, the size of each bag and, for the maximum,
/// the row of each value. mode: 0 is the sum, 1 the mean, 2 the maximum.
HB_API Tensor _embedding_bag_backward(const Tensor& grad, const Tensor& indices, const Tensor& offsets,
                                      const Tensor& offset2bag, const Tensor& bag_size, const Tensor& maximum_indices,
                                      int64_t num_weights, bool scale_grad_by_freq, int64_t mode, bool sparse,
                                      const std::optional<Tensor>& per_sample_weights, int64_t padding_idx = -1);
HB_API Tensor _embedding_bag_dense_backward(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag,
                                            const Tensor& bag_size, const Tensor& maximum_indices, int64_t num_weights,
                                            bool scale_grad_by_freq, int64_t mode,
                                            const std::optional<Tensor>& per_sample_weights, int64_t padding_idx = -1);
HB_API Tensor _embedding_bag_sparse_backward(const Tensor& grad, const Tensor& indices, const Tensor& offsets,
                                             const Tensor& offset2bag, const Tensor& bag_size, int64_t num_weights,
                                             bool scale_grad_by_freq, int64_t mode,
                                             const std::optional<Tensor>& per_sample_weights, int64_t padding_idx = -1);
/// Of the factors of a sum.
HB_API Tensor _embedding_bag_per_sample_weights_backward(const Tensor& grad, const Tensor& weight,
                                                         const Tensor& indices, const Tensor& offsets,
                                                         const Tensor& offset2bag, int64_t mode,
                                                         int64_t padding_idx = -1);
HB_API Tensor embedding_sparse_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights,
                                        int64_t padding_idx, bool scale_grad_by_freq);

/// indices: what the pooling gave.
HB_API Tensor fractional_max_pool2d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                                             IntArrayRef output_size, const Tensor& indices);
HB_API Tensor fractional_max_pool3d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                                             IntArrayRef output_size, const Tensor& indices);

}  // namespace api
}  // namespace hb::bridge
