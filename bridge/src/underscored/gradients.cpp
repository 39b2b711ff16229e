// Parts of CTC losses, embedding bags and fractional poolings, and their gradients by name.
#include <halfbridge/bridge/underscored_gradients.h>

#include <halfbridge/bridge/autograd/basic_nodes.h>
#include <halfbridge/bridge/autograd/custom_node.h>
#include <halfbridge/bridge/underscored.h>
#include <halfbridge/ops.h>
#include <halfbridge/ops/gradients.h>

#include "ops/nn/ctc_loss.h"

namespace hb::bridge {
namespace {

ops::CtcLengths lengths_of(const Tensor& targets, IntArrayRef inputs, IntArrayRef labels, int64_t blank) {
  return {targets, tensor(inputs, kLong), tensor(labels, kLong), blank};
}

void check_dtype(const char* name, const Tensor& log_probs) {
  const ScalarType dtype = log_probs.scalar_type();
  HB_CHECK(dtype == kFloat || dtype == kDouble, "[", name, "] not implemented for '", dtype, "'");
  HB_CHECK(log_probs.dim() == 3, "[", name, "] expected log-probabilities (T, N, C), got ", log_probs.sizes());
}

std::tuple<Tensor, Tensor> ctc(const Tensor& log_probs, const ops::CtcLengths& lengths, bool zero_infinity) {
  check_dtype("_ctc_loss", log_probs);
  auto [loss, alpha] = ops::ctc_losses(log_probs, lengths, zero_infinity);
  return {std::move(loss), std::move(alpha)};
}

Tensor ctc_backward(const Tensor& grad, const Tensor& log_probs, const ops::CtcLengths& lengths, const Tensor& loss,
                    const Tensor& alpha, bool zero_infinity) {
  check_dtype("_ctc_loss_backward", log_probs);
  Tensor out;
  {
    NoGradGuard no_grad;
    out = ops::ctc_gradient(grad, log_probs, lengths, loss, alpha, zero_infinity);
  }
  autodiff::edge_list edges;
  for (const Tensor* t : {&grad, &log_probs, &loss, &alpha}) {
    if (t->requires_grad()) edges.push_back(autodiff::impl::gradient_edge(*t));
  }
  if (GradMode::is_enabled() && !edges.empty())
    autodiff::set_history(out,
                          std::make_shared<autodiff::NotImplemented>("aten::_ctc_loss_backward", std::move(edges)));
  return out;
}

// The bag of each index. LibTorch's forward function leaves it out where no gradient is wanted.
Tensor bag_of_each(const Tensor& indices, const Tensor& offsets, const Tensor& offset2bag) {
  if (offset2bag.numel() == indices.numel()) return offset2bag;
  const Tensor begins = zeros({indices.numel() + 1}, offsets.options()).index_add(0, offsets, ones_like(offsets));
  return begins.narrow(0, 0, indices.numel()).cumsum(0) - 1;
}

// The gradient of the row of each index, (total, width).
Tensor gradients_of_rows(const Tensor& grad, const Tensor& bag, const Tensor& bag_size, int64_t mode,
                         const std::optional<Tensor>& per_sample_weights) {
  Tensor rows = grad.index_select(0, bag);
  if (mode == 1) rows = rows / bag_size.clamp_min(1).to(grad.scalar_type()).index_select(0, bag).unsqueeze(1);
  if (per_sample_weights && per_sample_weights->defined()) {
    HB_CHECK(mode == 0, "[_embedding_bag_backward] expected mode 0 (sum) with per_sample_weights, got ", mode);
    rows = rows * per_sample_weights->unsqueeze(1);
  }
  return rows;
}

void check_bags(const char* name, const Tensor& grad, const Tensor& indices, int64_t mode) {
  HB_CHECK(mode >= 0 && mode <= 2, "[", name, "] expected mode 0 (sum), 1 (mean) or 2 (max), got ", mode);
  HB_CHECK(grad.dim() == 2 && indices.dim() == 1, "[", name,
           "] expected a grad (bags, width) and indices (total), got ", grad.sizes(), " and ", indices.sizes());
}

Tensor pool_backward(const char* name, int64_t dims, const Tensor& grad, const Tensor& self, const Tensor& indices) {
  HB_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, "[", name, "] expected an input (N, C, …) or (C, …) with ",
           dims, " spatial dimensions, got ", self.sizes());
  HB_CHECK(grad.sizes() == indices.sizes() && grad.dim() == self.dim(), "[", name,
           "] gradOutput sizes unexpected: expected those of the indices, ", indices.sizes(), ", got ", grad.sizes());
  const Tensor none = zeros(self.sizes(), grad.options()).flatten(-dims);
  return none.scatter_add(-1, indices.flatten(-dims), grad.flatten(-dims)).view(self.sizes());
}

}  // namespace

inline namespace api {

std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                                     IntArrayRef target_lengths, int64_t blank, bool zero_infinity) {
  return ctc(log_probs, lengths_of(targets, input_lengths, target_lengths, blank), zero_infinity);
}
std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                                     const Tensor& target_lengths, int64_t blank, bool zero_infinity) {
  return ctc(log_probs, {targets, input_lengths, target_lengths, blank}, zero_infinity);
}
Tensor _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                          IntArrayRef target_lengths, const Tensor& neg_log_likelihood, const Tensor& log_alpha,
                          int64_t blank, bool zero_infinity) {
  return ctc_backward(grad, log_probs, lengths_of(targets, input_lengths, target_lengths, blank), neg_log_likelihood,
                      log_alpha, zero_infinity);
}
Tensor _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets,
                          const Tensor& input_lengths, const Tensor& target_lengths, const Tensor& neg_log_likelihood,
                          const Tensor& log_alpha, int64_t blank, bool zero_infinity) {
  return ctc_backward(grad, log_probs, {targets, input_lengths, target_lengths, blank}, neg_log_likelihood, log_alpha,
                      zero_infinity);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> _embedding_bag_forward_only(const Tensor& weight, const Tensor& indices,
                                                                       const Tensor& offsets, bool scale_grad_by_freq,
                                                                       int64_t mode, bool sparse,
                                                                       const std::optional<Tensor>& per_sample_weights,
                                                                       bool include_last_offset, int64_t padding_idx) {
  NoGradGuard no_grad;
  return _embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                        include_last_offset, padding_idx);
}

Tensor _embedding_bag_dense_backward(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag,
                                     const Tensor& bag_size, const Tensor& maximum_indices, int64_t num_weights,
                                     bool scale_grad_by_freq, int64_t mode,
                                     const std::optional<Tensor>& per_sample_weights, int64_t padding_idx) {
  check_bags("_embedding_bag_dense_backward", grad, indices, mode);
  if (mode == 2) {
    HB_CHECK(maximum_indices.sizes() == grad.sizes(), "[_embedding_bag_dense_backward] expected maximum_indices ",
             grad.sizes(), ", got ", maximum_indices.sizes());
    const Tensor in_a_bag = bag_size.ne(0).to(grad.scalar_type()).unsqueeze(1);  // others have the maximum 0 of no row
    return zeros({num_weights, grad.size(1)}, grad.options())
        .scatter_add(0, maximum_indices.to(kLong), grad * in_a_bag);
  }
  return embedding_backward(gradients_of_rows(grad, offset2bag, bag_size, mode, per_sample_weights), indices,
                            num_weights, padding_idx, scale_grad_by_freq, false);
}
Tensor _embedding_bag_sparse_backward(const Tensor& grad, const Tensor& indices, const Tensor& offsets,
                                      const Tensor& offset2bag, const Tensor& bag_size, int64_t num_weights,
                                      bool scale_grad_by_freq, int64_t mode,
                                      const std::optional<Tensor>& per_sample_weights, int64_t padding_idx) {
  check_bags("_embedding_bag_sparse_backward", grad, indices, mode);
  HB_CHECK(mode != 2, "[_embedding_bag_sparse_backward] expected mode 0 (sum) or 1 (mean), got 2 (max)");
  const Tensor bag = bag_of_each(indices, offsets, offset2bag);
  return embedding_backward(gradients_of_rows(grad, bag, bag_size, mode, per_sample_weights), indices, num_weights,
                            padding_idx, scale_grad_by_freq, true);
}
Tensor _embedding_bag_backward(const Tensor& grad, const Tensor& indices, const Tensor& offsets,
                               const Tensor& offset2bag, const Tensor& bag_size, const Tensor& maximum_indices,
                               int64_t num_weights, bool scale_grad_by_freq, int64_t mode, bool sparse,
                               const std::optional<Tensor>& per_sample_weights, int64_t padding_idx) {
  if (sparse) {
    return _embedding_bag_sparse_backward(grad, indices, offsets, offset2bag, bag_size, num_weights, scale_grad_by_freq,
                                          mode, per_sample_weights, padding_idx);
  }
  return _embedding_bag_dense_backward(grad, indices, bag_of_each(indices, offsets, offset2bag), bag_size,
                                       maximum_indices, num_weights, scale_grad_by_freq, mode, per_sample_weights,
                                       padding_idx);
}
Tensor _embedding_bag_per_sample_weights_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices,
                                                  const Tensor& offsets, const Tensor& offset2bag, int64_t mode,
                                                  int64_t padding_idx) {
  check_bags("_embedding_bag_per_sample_weights_backward", grad, indices, mode);
  HB_CHECK(mode == 0, "embedding_bag_backward: per_sample_weights only supported for mode='sum': expected mode 0, got ",
           mode);
  HB_CHECK(weight.dim() == 2 && grad.size(1) == weight.size(1),
           "[_embedding_bag_per_sample_weights_backward] expected a weight (rows, ", grad.size(1), "), got ",
           weight.sizes());
  const Tensor rows = grad.index_select(0, bag_of_each(indices, offsets, offset2bag));
  const Tensor out = (rows * weight.index_select(0, indices)).sum(1);
  return padding_idx < 0 ? out : out.masked_fill(indices.eq(padding_idx), 0);
}
Tensor embedding_sparse_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                                 bool scale_grad_by_freq) {
  return embedding_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq, true);
}

Tensor fractional_max_pool2d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef, IntArrayRef,
                                      const Tensor& indices) {
  return pool_backward("fractional_max_pool2d_backward", 2, grad_output, self, indices);
}
Tensor fractional_max_pool3d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef, IntArrayRef,
                                      const Tensor& indices) {
  return pool_backward("fractional_max_pool3d_backward", 3, grad_output, self, indices);
}

}  // namespace api
}  // namespace hb::bridge
