// Gradients that are asked for by name: of embeddings, parts and running functions of a tensor.
#include <halfbridge/ops/gradients.h>

#include <halfbridge/error.h>

#include "ops/nn/gradient_of.h"

namespace hb {

using ops::gradient_at_zeros;
using ops::gradient_of;

Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                                int64_t padding_idx, bool scale_grad_by_freq) {
  HB_CHECK(grad_output.dim() == indices.dim() + 1, "[embedding_dense_backward] expected a grad_output of ",
           indices.dim() + 1, " dimensions, got ", grad_output.sizes());
  return gradient_at_zeros(
      "EmbeddingDenseBackwardBackward0", grad_output, {num_weights, grad_output.size(-1)},
      [&](const Tensor& weight) { return embedding(weight, indices, padding_idx, scale_grad_by_freq); });
}
Tensor select_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t index) {
  return gradient_at_zeros("SelectBackwardBackward0", grad_output, input_sizes,
                           [&](const Tensor& x) { return x.select(dim, index); });
}
Tensor slice_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t dim, int64_t start, int64_t end,
                      int64_t step) {
  return gradient_at_zeros("SliceBackwardBackward0", grad_output, input_sizes,
                           [&](const Tensor& x) { return x.slice(dim, start, end, step); });
}
Tensor embedding_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                          bool scale_grad_by_freq, bool sparse) {
  if (!sparse) return embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
  const Tensor weight = zeros({num_weights, grad.size(-1)}, grad.options().requires_grad(false));
  return gradient_of("EmbeddingSparseBackwardBackward0", grad, weight,
                     [&](const Tensor& w) { return embedding(w, indices, padding_idx, scale_grad_by_freq, true); });
}
Tensor diagonal_backward(const Tensor& grad_output, IntArrayRef input_sizes, int64_t offset, int64_t dim1,
                         int64_t dim2) {
  return gradient_at_zeros("DiagonalBackwardBackward0", grad_output, input_sizes,
                           [&](const Tensor& x) { return x.diagonal(offset, dim1, dim2); });
}
Tensor trace_backward(const Tensor& grad, IntArrayRef sizes) {
  HB_CHECK(sizes.size() == 2, "[trace_backward] expected matrix input, got sizes ", sizes);
  return gradient_at_zeros("TraceBackwardBackward0", grad, sizes, [](const Tensor& x) { return x.trace(); });
}
Tensor unfold_backward(const Tensor& grad_in, IntArrayRef input_sizes, int64_t dim, int64_t size, int64_t step) {
  return gradient_at_zeros("UnfoldBackwardBackward0", grad_in, input_sizes,
                           [&](const Tensor& x) { return x.unfold(dim, size, step); });
}
Tensor gather_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad) {
  if (sparse_grad) HB_NOT_SUPPORTED("[gather_backward] sparse_grad is not supported: the gradient is dense");
  return gradient_at_zeros("ScatterAddBackward0", grad, self.sizes(),
                           [&](const Tensor& x) { return x.gather(dim, index); });
}
Tensor masked_select_backward(const Tensor& grad, const Tensor& input, const Tensor& mask) {
  return gradient_at_zeros("MaskedScatterBackward0", grad, input.sizes(),
                           [&](const Tensor& x) { return x.masked_select(mask); });
}
Tensor masked_scatter_backward(const Tensor& grad_output, const Tensor& mask, IntArrayRef sizes) {
  return gradient_at_zeros("MaskedScatterBackwardBackward0", grad_output, sizes, [&](const Tensor& source) {
    return zeros_like(grad_output.detach()).masked_scatter(mask, source);
  });
}
Tensor value_selecting_reduction_backward(const Tensor& grad, int64_t dim, const Tensor& indices, IntArrayRef sizes,
                                          bool keepdim) {
  const bool apart = !keepdim && !sizes.empty();
  return zeros(sizes, grad.options().requires_grad(false))
      .scatter(dim, apart ? indices.unsqueeze(dim) : indices, apart ? grad.unsqueeze(dim) : grad);
}
Tensor cumprod_backward(const Tensor& grad, const Tensor& input, int64_t dim, const Tensor& /*output*/) {
  return gradient_of("CumprodBackwardBackward0", grad, input, [&](const Tensor& x) { return x.cumprod(dim); });
}
Tensor cummaxmin_backward(const Tensor& grad, const Tensor& input, const Tensor& indices, int64_t dim) {
  if (input.numel() == 0) return input;
  return zeros(input.sizes(), input.options().requires_grad(false)).scatter_add(dim, indices, grad);
}
Tensor matrix_exp_backward(const Tensor& self, const Tensor& grad) {
  return gradient_of("MatrixExpBackwardBackward0", grad, self, [](const Tensor& x) { return x.matrix_exp(); });
}

}  // namespace hb
