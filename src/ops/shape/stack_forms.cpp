// Joining by one of the dimensions that a name tells.
#include <array>

#include <halfbridge/ops.h>

#include "autograd/record.h"

namespace hb {

namespace {
// Every tensor with at least n dimensions: 0-d becomes (1), and for n > 1 a row, as numpy's atleast_nd.
std::vector<Tensor> at_least(TensorList tensors, int64_t n) {
  std::vector<Tensor> out;
  for (Tensor t : tensors) {
    if (t.dim() == 0) t = t.reshape({1});
    if (n >= 2 && t.dim() == 1) t = t.unsqueeze(0);
    if (n >= 3 && t.dim() == 2) t = t.unsqueeze(2);
    out.push_back(std::move(t));
  }
  return out;
}
}  // namespace

Tensor hstack(TensorList tensors) {
  HB_CHECK(!tensors.empty(), "[hstack] expects a non-empty TensorList");
  const auto rows = at_least(tensors, 1);
  return cat(rows, rows[0].dim() == 1 ? 0 : 1);
}
Tensor vstack(TensorList tensors) {
  HB_CHECK(!tensors.empty(), "[vstack] expects a non-empty TensorList");
  return cat(at_least(tensors, 2), 0);
}
Tensor dstack(TensorList tensors) {
  HB_CHECK(!tensors.empty(), "[dstack] expects a non-empty TensorList");
  return cat(at_least(tensors, 3), 2);
}
Tensor column_stack(TensorList tensors) {
  HB_CHECK(!tensors.empty(), "[column_stack] expects a non-empty TensorList");
  std::vector<Tensor> columns;
  for (const Tensor& t : tensors) columns.push_back(t.dim() <= 1 ? t.reshape({t.numel(), 1}) : t);
  return cat(columns, 1);
}

namespace {
Tensor block_at(const Tensor& whole, int64_t y, int64_t x, int64_t height, int64_t width) {
  return whole.narrow(0, y, height).narrow(1, x, width);
}
/// The gradients of blocks are blocks of the gradient.
void record_blocks(Tensor& out, const std::vector<const Tensor*>& blocks) {
  std::vector<std::array<int64_t, 2>> sizes;
  for (const Tensor* b : blocks) sizes.push_back({b->size(0), b->size(1)});
  record_many("BlockDiagBackward0", {&out}, blocks, {}, [sizes](Backward& b, const variable_list&) {
    variable_list grads;
    int64_t y = 0, x = 0;
    for (const auto& [height, width] : sizes) {
      grads.push_back(block_at(b.grad(), y, x, height, width));
      y += height, x += width;
    }
    return grads;
  });
}
}  // namespace

Tensor block_diag(TensorList tensors) {
  HB_CHECK(!tensors.empty(), "[block_diag] expects a non-empty TensorList");
  const auto blocks = at_least(tensors, 2);
  ScalarType dtype = blocks[0].scalar_type();
  int64_t height = 0, width = 0;
  for (const Tensor& b : blocks) {
    HB_CHECK(b.dim() == 2, "[block_diag] Input tensors must have 2 or fewer dimensions. Input ", &b - blocks.data(),
             " has ", b.dim(), " dimensions");
    dtype = promote_types(dtype, b.scalar_type());
    height += b.size(0), width += b.size(1);
  }
  Tensor out = zeros({height, width}, blocks[0].options().dtype(dtype));
  std::vector<const Tensor*> inputs;
  {
    NoGradGuard no_history;  // one node instead of one for each block
    int64_t y = 0, x = 0;
    for (const Tensor& b : blocks) {
      block_at(out, y, x, b.size(0), b.size(1)).copy_(b);
      y += b.size(0), x += b.size(1), inputs.push_back(&b);
    }
  }
  if (needs_grad_list(blocks) && is_differentiable_type(dtype)) record_blocks(out, inputs);
  return out;
}

}  // namespace hb
