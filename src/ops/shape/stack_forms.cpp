// Joining by one of the dimensions that a name tells.
#include <halfbridge/ops.h>

#include "autograd/named.h"

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
  int64_t y = 0, x = 0;
  for (const Tensor& b : blocks) {
    out.narrow(0, y, b.size(0)).narrow(1, x, b.size(1)).copy_(b);
    y += b.size(0), x += b.size(1);
  }
  return named("BlockDiagBackward0", out, blocks[0]);
}

}  // namespace hb
