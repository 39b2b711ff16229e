// Several tensors in one: cat, stack and their relatives; broadcasting of several.
#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "core/geometry.h"
#include "core/inplace.h"
#include "core/loop.h"
#include "kernels/elementwise.h"

namespace hb {
namespace {

/// LibTorch lets tensors of shape (0) through whatever the others' shape is.
bool is_skipped(const Tensor& t) { return t.dim() == 1 && t.size(0) == 0; }

const Tensor* first_that_counts(TensorList tensors) {
  for (const Tensor& t : tensors)
    if (!is_skipped(t)) return &t;
  return nullptr;
}

DimVector joined_sizes(TensorList tensors, const Tensor& model, int64_t d) {
  DimVector sizes = model.impl().sizes();
  int64_t total = 0;
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Tensor& t = tensors[k];
    if (is_skipped(t)) continue;
    HB_CHECK(t.dim() == model.dim(), "[cat] Tensors must have same number of dimensions: got ", model.dim(), " and ", t.dim());
    for (int64_t i = 0; i < t.dim(); ++i)
      HB_CHECK(i == d || t.impl().sizes()[i] == sizes[i], "[cat] Sizes of tensors must match except in dimension ", d, ". Expected size ",
               sizes[i], " but got size ", t.impl().sizes()[i], " for tensor number ", k, " in the list.");
    total += t.impl().sizes()[d];
  }
  sizes[d] = total;
  return sizes;
}

Tensor joined(TensorList tensors, const Tensor& model, int64_t d) {
  ScalarType t = model.scalar_type();
  bool channels_last = model.dim() == 4 || model.dim() == 5;
  for (const Tensor& x : tensors) {
    if (x.scalar_type() != t) t = promote_types(t, x.scalar_type());
    if (channels_last && !is_skipped(x))
      channels_last = x.suggest_memory_format() == geometry::channels_last_format(static_cast<size_t>(model.dim()));
  }
  const DimVector sizes = joined_sizes(tensors, model, d);
  Tensor out = empty(IntArrayRef(sizes.data(), sizes.size()), model.options().dtype(t),
                     channels_last ? geometry::channels_last_format(sizes.size()) : MemoryFormat::Contiguous);
  int64_t at = 0;
  NoGradGuard no_history;
  for (const Tensor& x : tensors) {
    if (is_skipped(x)) continue;
    const Tensor part = out.narrow(d, at, x.size(d));
    copy_kernel(out.device())(Loop({&part}, {&x}));
    at += x.size(d);
  }
  // The views above share a version counter with `out`; nobody has seen it yet.
  return Tensor(out.impl().alias(false));
}

}  // namespace

Tensor cat(TensorList tensors, int64_t dim) {
  HB_CHECK(!tensors.empty(), "[cat] expected a non-empty list of Tensors");
  for (const Tensor& t : tensors) HB_CHECK(t.dim() > 0, "[cat] zero-dimensional tensor cannot be concatenated");
  const Tensor* model = first_that_counts(tensors);
  if (!model) model = &tensors[0];
  const int64_t d = geometry::wrap_dim("cat", dim, model->dim());
  Tensor out = joined(tensors, *model, d);
  if (!needs_grad_list(tensors)) return out;
  std::vector<const Tensor*> inputs;
  std::vector<int64_t> lengths;
  for (const Tensor& t : tensors) inputs.push_back(&t), lengths.push_back(is_skipped(t) ? -1 : t.size(d));
  record_many("CatBackward0", {&out}, inputs, {}, [lengths, d](Backward& b, const variable_list&) {
    variable_list grads(lengths.size());
    int64_t at = 0;
    for (size_t k = 0; k < lengths.size(); ++k) {
      if (lengths[k] < 0) {
        if (b.needs(k)) grads[k] = zeros({0}, b.grad().options());
        continue;
      }
      if (b.needs(k)) grads[k] = b.grad().narrow(d, at, lengths[k]);
      at += lengths[k];
    }
    return grads;
  });
  return out;
}

Tensor& cat_out(Tensor& out, TensorList tensors, int64_t dim) { return assign_out("cat_out", out, cat(tensors, dim)); }

Tensor stack(TensorList tensors, int64_t dim) {
  HB_CHECK(!tensors.empty(), "[stack] expected a non-empty list of Tensors");
  const int64_t d = geometry::wrap_dim("stack", dim, tensors[0].dim() + 1);
  std::vector<Tensor> parts;
  parts.reserve(tensors.size());
  for (const Tensor& t : tensors) {
    HB_CHECK(t.sizes() == tensors[0].sizes(), "[stack] stack expects each tensor to be equal size, but got ", tensors[0].sizes(),
             " at entry 0 and ", t.sizes(), " at entry ", parts.size());
    parts.push_back(t.unsqueeze(d));
  }
  return cat(parts, d);
}

namespace {

Tensor at_least(const Tensor& t, int64_t dims) {
  if (t.dim() == 0) return t.reshape(std::vector<int64_t>(dims, 1));
  if (dims == 2 && t.dim() == 1) return t.unsqueeze(0);
  if (dims == 3 && t.dim() == 1) return t.unsqueeze(0).unsqueeze(2);
  if (dims == 3 && t.dim() == 2) return t.unsqueeze(2);
  return t;
}

std::vector<Tensor> all_at_least(const char* name, TensorList tensors, int64_t dims) {
  HB_CHECK(!tensors.empty(), "[", name, "] expected a non-empty TensorList");
  std::vector<Tensor> list;
  for (const Tensor& t : tensors) list.push_back(at_least(t, dims));
  return list;
}

}  // namespace

Tensor hstack(TensorList tensors) {
  const auto list = all_at_least("hstack", tensors, 1);
  return cat(list, list[0].dim() == 1 ? 0 : 1);
}
Tensor vstack(TensorList tensors) { return cat(all_at_least("vstack", tensors, 2), 0); }
Tensor dstack(TensorList tensors) { return cat(all_at_least("dstack", tensors, 3), 2); }
Tensor column_stack(TensorList tensors) {
  HB_CHECK(!tensors.empty(), "[column_stack] expected a non-empty TensorList");
  std::vector<Tensor> list;
  for (const Tensor& t : tensors) list.push_back(t.dim() <= 1 ? t.reshape({t.numel(), 1}) : t);
  return cat(list, 1);
}

Tensor block_diag(TensorList tensors) {
  if (tensors.empty()) return empty({1, 0});
  std::vector<Tensor> blocks;
  int64_t columns = 0;
  for (const Tensor& t : tensors) {
    HB_CHECK(t.dim() <= 2, "[block_diag] Input tensors must have 2 or fewer dimensions, got ", t.sizes());
    blocks.push_back(at_least(t, 2));
    columns += blocks.back().size(1);
  }
  std::vector<Tensor> rows;
  int64_t before = 0;
  for (const Tensor& b : blocks) {
    const int64_t after = columns - before - b.size(1);
    rows.push_back(cat({zeros({b.size(0), before}, b.options()), b, zeros({b.size(0), after}, b.options())}, 1));
    before += b.size(1);
  }
  return cat(rows, 0);
}

Tensor cartesian_prod(TensorList tensors) {
  HB_CHECK(!tensors.empty(), "[cartesian_prod] expected a non-empty TensorList");
  for (const Tensor& t : tensors) HB_CHECK(t.dim() == 1, "[cartesian_prod] Expect a 1D vector, but got shape ", t.sizes());
  if (tensors.size() == 1) return tensors[0];
  auto grids = meshgrid(tensors, "ij");
  for (Tensor& g : grids) g = g.flatten();
  return stack(grids, 1);
}

// --- broadcasting

std::vector<int64_t> broadcast_shapes(IntArrayRef a, IntArrayRef b) {
  std::vector<int64_t> out(std::max(a.size(), b.size()), 1);
  for (size_t k = 0; k < out.size(); ++k) {
    const int64_t x = k < a.size() ? a[a.size() - 1 - k] : 1, y = k < b.size() ? b[b.size() - 1 - k] : 1;
    HB_CHECK(x == y || x == 1 || y == 1, "[broadcast_shapes] Shape mismatch: objects cannot be broadcast to a single shape: ", a, " and ", b);
    out[out.size() - 1 - k] = x == 1 ? y : x;
  }
  return out;
}

std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  std::vector<int64_t> shape;
  for (const Tensor& t : tensors) shape = broadcast_shapes(shape, t.sizes());
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(t.expand(shape));
  return out;
}

std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing) {
  HB_CHECK(!tensors.empty(), "[meshgrid] expects a non-empty TensorList");
  HB_CHECK(indexing == "ij" || indexing == "xy", "[meshgrid] indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  const bool swapped = indexing == "xy" && tensors.size() >= 2;
  std::vector<Tensor> list(tensors.begin(), tensors.end());
  if (swapped) std::swap(list[0], list[1]);
  std::vector<int64_t> shape;
  for (const Tensor& t : list) {
    HB_CHECK(t.dim() <= 1, "[meshgrid] Expected 0D or 1D tensor in the tensor list but got shape ", t.sizes());
    HB_CHECK(t.scalar_type() == list[0].scalar_type(), "[meshgrid] expects all tensors to have the same dtype");
    shape.push_back(t.numel());
  }
  std::vector<Tensor> grids;
  for (size_t k = 0; k < list.size(); ++k) {
    std::vector<int64_t> own(list.size(), 1);
    own[k] = shape[k];
    grids.push_back(list[k].reshape(own).expand(shape));
  }
  if (swapped) {
    for (Tensor& g : grids) g = g.swapdims(0, 1);
    std::swap(grids[0], grids[1]);
  }
  return grids;
}
std::vector<Tensor> meshgrid(TensorList tensors) { return meshgrid(tensors, "ij"); }

}  // namespace hb
