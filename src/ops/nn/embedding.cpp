#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "backend/attention.h"
#include "backend/indexing.h"
#include "core/function_watch.h"
#include "core/recorder.h"
#include "ops/common/inplace.h"
#include "ops/common/layout.h"
#include "ops/sparse/sparse.h"

namespace hb {
namespace {

Tensor embedding_gradient(const Tensor& g, const Tensor& indices, int64_t rows, int64_t padding, bool by_frequency) {
  const int64_t width = g.size(-1);
  const Tensor grad = ops::to_contiguous(g);
  Tensor out = empty({rows, width}, g.options());
  embedding_backward_kernel(g.device())(g.scalar_type(), out.impl().visible_data(), grad.impl().raw_data(),
                                        static_cast<const int64_t*>(indices.impl().visible_data()), indices.numel(),
                                        rows, width, padding, by_frequency);
  if (needs_grad(g)) {
    // Linear in g: its gradient looks the rows up again.
    record("EmbeddingDenseBackwardBackward0", out, {&g}, {SavedTensor::input(indices)},
           [rows, padding, by_frequency](Backward& b, auto& s) -> variable_list {
             Tensor rows_of = embedding(b.grad(), s[0]);
             if (by_frequency) {
               const Tensor counts = zeros({rows}, b.grad().options())
                                         .scatter_add(0, s[0].reshape({-1}), ones({s[0].numel()}, b.grad().options()));
               rows_of = rows_of / counts.index_select(0, s[0].reshape({-1})).reshape(s[0].sizes()).unsqueeze(-1);
             }
             return {padding < 0 ? rows_of : rows_of.masked_fill(s[0].eq(padding).unsqueeze(-1), 0)};
           });
  }
  return out;
}

/// One entry for each index, in their order; those of `padding` are left out.
Tensor embedding_sparse_gradient(const Tensor& g, const Tensor& indices, DimVector sizes, int64_t padding,
                                 bool by_frequency) {
  HB_CHECK(!by_frequency, "[embedding] embedding_backward: scale_grad_by_freq not supported with sparse gradients");
  Tensor index = indices.reshape({-1}), rows = g.reshape({-1, sizes[1]});
  if (padding >= 0) {
    const Tensor kept = nonzero(index.ne(padding)).reshape({-1});
    index = index.index_select(0, kept), rows = rows.index_select(0, kept);
  }
  return sparse::construct(index.unsqueeze(0), rows, std::move(sizes), index.numel() < 2);
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq,
                 bool sparse) {
  HB_FUNCTION(embedding, weight, indices, padding_idx, scale_grad_by_freq, sparse);
  HB_CHECK(weight.dim() == 2, "[embedding] 'weight' must be 2-D, got ", weight.sizes());
  HB_CHECK(
      indices.scalar_type() == kLong || indices.scalar_type() == kInt,
      "[embedding] Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but "
      "got ",
      indices.scalar_type(), " instead");
  const Tensor index = indices.to(kLong).contiguous(), table = ops::to_contiguous(weight);
  const int64_t rows = weight.size(0), width = weight.size(1);
  DimVector sizes(indices.impl().sizes());
  sizes.push_back(width);
  Tensor out = empty(sizes, weight.options());
  embedding_kernel(weight.device())(weight.scalar_type(), out.impl().visible_data(), table.impl().raw_data(),
                                    static_cast<const int64_t*>(index.impl().visible_data()), index.numel(), rows,
                                    width);
  if (needs_grad(weight)) {
    record("EmbeddingBackward0", out, {&weight}, {SavedTensor::input(index)},
           [=](Backward& b, auto& s) -> variable_list {
             if (sparse)
               return {embedding_sparse_gradient(b.grad(), s[0], DimVector(IntArrayRef({rows, width})), padding_idx,
                                                 scale_grad_by_freq)};
             return {embedding_gradient(b.grad(), s[0], rows, padding_idx, scale_grad_by_freq)};
           });
  }
  return out;
}

Tensor& embedding_renorm_(Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  HB_CHECK(self.dim() == 2, "[embedding_renorm_] expected a weight of 2 dimensions, got ", self.sizes());
  NoGradGuard guard;
  const Tensor index = std::get<0>(_unique(indices.to(kLong).reshape({-1})));
  const Tensor rows = self.detach().index_select(0, index);
  const Tensor norms = rows.norm(Scalar(norm_type), IntArrayRef({1}), true);
  const Tensor scale = where(norms > max_norm, max_norm / (norms + 1e-7), ones_like(norms));
  self.detach().index_copy_(0, index, rows * scale);
  return self;
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  HB_DEFINED(one_hot, self);
  HB_CHECK(self.scalar_type() == kLong, "[one_hot] one_hot is only applicable to index tensor of type LongTensor, got ",
           self.scalar_type());
  const bool kernel = one_hot_kernel.available(self.device());
  if (num_classes > 0 && (kernel || capture::recorder())) {
    // The kernel, or scatter_, looks at the classes, at each replay, too.
  } else if (self.numel() == 0) {
    HB_CHECK(num_classes > 0, "[one_hot] Can not infer total number of classes from empty tensor.");
  } else {
    HB_CHECK(self.min().item<int64_t>() >= 0, "[one_hot] Class values must be non-negative.");
    const int64_t top = self.max().item<int64_t>();
    if (num_classes == -1) num_classes = top + 1;
    HB_CHECK(top < num_classes, "[one_hot] Class values must be smaller than num_classes. Got ", top, " of ",
             num_classes);
  }
  DimVector sizes(self.impl().sizes());
  sizes.push_back(num_classes);
  if (kernel) {
    const Tensor out = empty(sizes, self.options());
    one_hot_kernel(self.device())(out, self.contiguous());
    return out;
  }
  Tensor out = zeros(sizes, self.options());
  return self.numel() ? out.scatter_(-1, self.unsqueeze(-1), Scalar(1)) : out;
}

}  // namespace hb
