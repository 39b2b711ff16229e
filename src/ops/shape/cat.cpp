// Joining tensors.
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/named.h"
#include "autograd/parts.h"
#include "autograd/record.h"
#include "backend/copy_pieces.h"
#include "backend/elementwise.h"
#include "backend/moved_rows.h"
#include "core/geometry.h"
#include "core/physical.h"
#include "core/recorder.h"
#include "ops/common/inplace.h"
#include "ops/common/layout.h"
#include "ops/sparse/sparse.h"

namespace hb {

namespace {

// Tensors of shape (0) are left out whatever the other shapes are, as LibTorch does.
bool skipped(const Tensor& t) { return t.dim() == 1 && t.sizes()[0] == 0; }

const Tensor& model_of(TensorList tensors) {
  for (const Tensor& t : tensors)
    if (!skipped(t)) return t;
  return tensors[0];
}

DimVector cat_sizes(TensorList tensors, const Tensor& model, int64_t dim) {
  DimVector sizes = model.impl().sizes();
  int64_t total = 0;
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Tensor& t = tensors[k];
    if (skipped(t)) continue;
    HB_CHECK(t.dim() == model.dim(), "[cat] Tensors must have same number of dimensions: got ", model.dim(), " and ",
             t.dim());
    for (int64_t d = 0; d < t.dim(); ++d)
      HB_CHECK(d == dim || t.sizes()[d] == sizes[d], "[cat] Sizes of tensors must match except in dimension ", dim,
               ". Expected size ", sizes[d], " but got size ", t.sizes()[d], " for tensor number ", k, " in the list.");
    total += t.sizes()[dim];
  }
  sizes[dim] = total;
  return sizes;
}

enum class JoinLayout { Contiguous, OfInputs };

// JoinLayout::OfInputs: the result is channels-last in memory when every input is.
Tensor empty_cat(TensorList tensors, const DimVector& sizes, ScalarType dtype, JoinLayout layout) {
  bool last = layout == JoinLayout::OfInputs && (sizes.size() == 4 || sizes.size() == 5) && !skipped(model_of(tensors));
  bool deferred = last, any_deferred = false;
  for (const Tensor& t : tensors) {
    if (skipped(t)) continue;
    const Physical now(t);
    last = last && !now->physically_contiguous() && geometry::is_channels_last(now->sizes(), now->physical_strides());
    deferred = deferred && now->is_deferred();
    any_deferred |= now->is_deferred();
  }
  last = last && (deferred || !any_deferred);  // the program sees deferred ones as contiguous
  const TensorOptions options = TensorOptions().dtype(dtype).device(tensors[0].device());
  Tensor out = empty(sizes, options, last ? geometry::channels_last_format(sizes.size()) : MemoryFormat::Contiguous);
  if (last && deferred) out.impl().set_deferred();
  return out;
}

// A part of `t` in its physical layout, unknown to autograd.
Tensor physical_part(const Tensor& t, int64_t dim, int64_t start, int64_t length) {
  const TensorImpl& i = t.impl();
  DimVector sizes = i.sizes();
  sizes[dim] = length;
  return Tensor(make_intrusive<TensorImpl>(i.physical_storage(), i.dtype(), std::move(sizes), i.physical_strides(),
                                           i.physical_offset() + start * i.physical_strides()[dim]));
}

void record_cat(Tensor& out, TensorList tensors, int64_t dim) {
  std::vector<const Tensor*> inputs;
  DimVector lengths;
  for (const Tensor& t : tensors) {
    inputs.push_back(&t);
    lengths.push_back(skipped(t) ? -1 : t.sizes()[dim]);
  }
  record_many("CatBackward0", {&out}, inputs, {}, [dim, lengths](Backward& b, const variable_list&) -> variable_list {
    variable_list grads(lengths.size());
    int64_t at = 0;
    for (size_t k = 0; k < lengths.size(); ++k) {
      if (lengths[k] < 0) {
        if (b.needs(k)) grads[k] = zeros({0}, b.grad().options());
        continue;
      }
      if (b.needs(k)) grads[k] = b.grad().narrow(dim, at, lengths[k]);
      at += lengths[k];
    }
    return grads;
  });
}

/// Whether the tensors lie in memory as they are printed, in the dtype and on the device of `out`.
bool lie_densely(TensorList tensors, const Tensor& out) {
  return std::all_of(tensors.begin(), tensors.end(), [&o = out.impl()](const Tensor& t) {
    const TensorImpl& i = t.impl();
    return i.physically_contiguous() && !i.is_deferred() && i.dtype() == o.dtype() && i.device() == o.device();
  });
}

/// Whether the tensors lie in `out` as they lie now, one behind the other.
bool lie_in_a_row(const Tensor& out, TensorList tensors, int64_t dim) {
  const TensorImpl& o = out.impl();
  for (int64_t d = 0; d < dim; ++d)
    if (o.sizes()[d] != 1) return false;
  return o.physically_contiguous() && lie_densely(tensors, out);
}
void copy_in_a_row(const Tensor& out, TensorList tensors) {
  std::vector<PieceCopy> pieces;
  pieces.reserve(tensors.size());
  auto* to = static_cast<char*>(out.impl().raw_data());
  for (const Tensor& t : tensors) {
    capture::uses(t);
    pieces.push_back({to, t.impl().raw_data(), t.numel()});
    to += t.numel() * static_cast<int64_t>(t.itemsize());
  }
  capture::uses(out);
  copy_pieces_kernel(out.device())(out.itemsize(), pieces);
}

/// Whether `part` lies in memory as `whole` does but for the length of `dim`.
bool lies_alike(const TensorImpl& part, const TensorImpl& whole, int64_t dim) {
  const DimVector &sizes = whole.sizes(), &strides = whole.physical_strides();
  for (int64_t d = 0; d < whole.dim(); ++d) {
    if (part.sizes()[d] == 1) continue;
    const bool outside = strides[d] > strides[dim];
    const int64_t expected = outside ? strides[d] / sizes[dim] * part.sizes()[dim] : strides[d];
    if (part.physical_strides()[d] != expected) return false;
  }
  return true;
}

/// Writes `out`, which is dense, row by row of all `parts`, so that lines and pages are written in turn. False, and
/// nothing is written, where parts are so short that they are better copied one after the other.
bool write_rows(const Tensor& out, TensorList tensors, const std::vector<RowPart>& parts) {
  constexpr int64_t kLeastPart = 16;  // bytes
  int64_t row_bytes = 0;
  for (const RowPart& p : parts) row_bytes += p.bytes;
  if (row_bytes < kLeastPart * static_cast<int64_t>(parts.size())) return false;
  for (const Tensor& t : tensors) capture::uses(t);
  capture::uses(out);
  const int64_t rows = out.numel() * static_cast<int64_t>(out.itemsize()) / row_bytes;
  joined_rows_kernel(out.device())(out.impl().raw_data(), rows, parts);
  return true;
}

/// Whether all tensors were written to `out`.
bool join_rows(const Tensor& out, TensorList tensors, int64_t dim) {
  const TensorImpl& o = out.impl();
  if (o.numel() == 0 || !joined_rows_kernel.available(out.device())) return false;
  std::vector<RowPart> parts;
  std::vector<Tensor> held;
  for (const Tensor& t : tensors) {
    if (t.numel() == 0) continue;
    held.push_back(physical(t));
    const TensorImpl& i = held.back().impl();
    if (i.dtype() != o.dtype() || i.device() != o.device() || !lies_alike(i, o, dim)) return false;
    const int64_t count = i.sizes()[dim] * o.physical_strides()[dim];
    parts.push_back({i.raw_data(), count * static_cast<int64_t>(out.itemsize())});
  }
  return write_rows(out, tensors, parts);
}

/// Of all that are defined, whatever their dimensions; Undefined where none is.
ScalarType promoted_dtype(TensorList tensors) {
  ScalarType dtype = ScalarType::Undefined;
  for (const Tensor& t : tensors)
    if (t.defined()) dtype = dtype == ScalarType::Undefined ? t.scalar_type() : promote_types(dtype, t.scalar_type());
  return dtype;
}

/// As LibTorch does, cat skips an undefined tensor that is not its first, as it skips one of shape (0).
std::vector<Tensor> defined_of(TensorList tensors) {
  std::vector<Tensor> defined;
  for (const Tensor& t : tensors)
    if (t.defined()) defined.push_back(t);
  return defined;
}

/// Whether tensors can be joined where `into` (may be undefined) lies: the result has no history, and none of them lies
/// there.
bool can_join_into(const Tensor& into, TensorList tensors, const DimVector& sizes, ScalarType dtype) {
  if (!into.defined() || into.is_inference() || into.requires_grad() || needs_grad_list(tensors)) return false;
  const TensorImpl& i = into.impl();
  if (!i.is_strided() || i.is_deferred() || !i.physically_contiguous()) return false;
  if (i.sizes() != sizes || i.dtype() != dtype || i.device() != tensors[0].device()) return false;
  return std::none_of(tensors.begin(), tensors.end(), [&i](const Tensor& t) {
    return t.impl().is_deferred() || t.impl().physical_storage() == i.physical_storage();
  });
}

/// Gives `into` itself where it can be written to.
Tensor joined(TensorList tensors, int64_t dim_in, JoinLayout layout, const Tensor& into = {}) {
  HB_CHECK_VALUE(!tensors.empty(), "[cat] expected a non-empty list of Tensors");
  std::vector<const Tensor*> pointers;
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (HB_UNLIKELY(!tensors[k].defined())) {
      HB_CHECK(k > 0, "[cat] expected a defined tensor at position 0, got an undefined one");
      return joined(defined_of(tensors), dim_in, layout, into);
    }
    HB_CHECK(tensors[k].dim() > 0, "[cat] zero-dimensional tensor (at position ", k, ") cannot be concatenated");
    pointers.push_back(&tensors[k]);
  }
  for (const Tensor& t : tensors)
    if (HB_UNLIKELY(t.is_sparse())) return sparse::cat(tensors, dim_in);
  const Tensor& model = model_of(tensors);
  const int64_t dim = geometry::wrap_dim("cat", dim_in, model.dim());
  const DimVector sizes = cat_sizes(tensors, model, dim);
  const ScalarType dtype = result_type_of(pointers);
  Tensor out = can_join_into(into, tensors, sizes, dtype) ? into : empty_cat(tensors, sizes, dtype, layout);
  const bool in_a_row = lie_in_a_row(out, tensors, dim);
  if (in_a_row) copy_in_a_row(out, tensors);
  const bool done = in_a_row || join_rows(out, tensors, dim);
  int64_t at = 0;
  for (const Tensor& t : tensors) {
    if (done || skipped(t)) continue;
    const Tensor part = physical_part(out, dim, at, t.sizes()[dim]);
    copy_kernel(out.device())(Loop({&part}, {&t}));
    at += t.sizes()[dim];
  }
  if (needs_grad_list(tensors) && is_differentiable_type(out.scalar_type())) record_cat(out, tensors, dim);
  return out;
}

}  // namespace

Tensor cat(TensorList tensors, int64_t dim) {
  HB_AUTOCAST(cat, widest, as_is, tensors, dim);
  return joined(tensors, dim, JoinLayout::OfInputs);
}

Tensor& cat_out(Tensor& out, TensorList tensors, int64_t dim) {
  front::Excluded excluded;
  const ScalarType promoted = promoted_dtype(tensors);
  if (!out.defined() || promoted == ScalarType::Undefined || promoted == out.scalar_type() ||
      !can_cast(promoted, out.scalar_type())) {
    const Tensor result = joined(tensors, dim, JoinLayout::OfInputs, out);
    if (!result.is_same(out)) return assign_out("cat", out, result);
    out.impl().bump_version();
    return out;
  }
  // Each goes to the dtype of `out`, not by way of the promoted one.
  std::vector<Tensor> converted;
  for (const Tensor& t : tensors) converted.push_back(t.defined() ? t.to(out.scalar_type()) : t);
  return assign_out("cat", out, cat(converted, dim));
}

namespace {

/// Whether `out` has the elements of two tensors in turn, as where real and imaginary parts are joined.
bool lie_in_turn(const Tensor& out, TensorList tensors, int64_t dim) {
  return tensors.size() == 2 && dim + 1 == out.dim() && out.itemsize() <= 8 &&
         interleaved_kernel.available(out.device()) && lie_densely(tensors, out);
}

/// As join_rows().
bool stack_rows(const Tensor& out, TensorList tensors, int64_t dim) {
  if (out.numel() == 0 || !joined_rows_kernel.available(out.device()) || !lie_densely(tensors, out)) return false;
  const int64_t bytes = out.impl().physical_strides()[dim] * static_cast<int64_t>(out.itemsize());
  std::vector<RowPart> parts;
  for (const Tensor& t : tensors) parts.push_back({t.impl().raw_data(), bytes});
  return write_rows(out, tensors, parts);
}

Tensor stacked(TensorList tensors, int64_t dim) {
  const ScalarType dtype = promoted_dtype(tensors);
  DimVector sizes = tensors[0].impl().sizes();
  sizes.insert(static_cast<size_t>(dim), static_cast<int64_t>(tensors.size()));
  Tensor out = empty(sizes, tensors[0].options().dtype(dtype));
  if (lie_in_a_row(out, tensors, dim)) {
    copy_in_a_row(out, tensors);
  } else if (lie_in_turn(out, tensors, dim)) {
    capture::uses(out), capture::uses(tensors[0]), capture::uses(tensors[1]);
    interleaved_kernel(out.device())(static_cast<int64_t>(out.itemsize()), tensors[0].numel(), out.impl().raw_data(),
                                     tensors[0].impl().raw_data(), tensors[1].impl().raw_data());
  } else if (!stack_rows(out, tensors, dim)) {
    for (size_t k = 0; k < tensors.size(); ++k) {
      const auto at = static_cast<int64_t>(k);
      const Tensor part = Part{dim, at, at + 1, 1, /*selected=*/true}.of(out);
      copy_kernel(out.device())(Loop({&part}, {&tensors[k]}));
    }
  }
  if (needs_grad_list(tensors) && is_differentiable_type(dtype)) {
    std::vector<const Tensor*> inputs;
    for (const Tensor& t : tensors) inputs.push_back(&t);
    record_many("StackBackward0", {&out}, inputs, {},
                [dim, n = tensors.size()](Backward& b, const variable_list&) -> variable_list {
                  variable_list grads(n);
                  for (size_t k = 0; k < n; ++k)
                    if (b.needs(k)) grads[k] = b.grad().select(dim, static_cast<int64_t>(k));
                  return grads;
                });
  }
  return out;
}

}  // namespace

Tensor stack(TensorList tensors, int64_t dim) {
  HB_AUTOCAST(stack, widest, as_is, tensors, dim);
  HB_CHECK(!tensors.empty(), "[stack] expects a non-empty TensorList");
  const Tensor& first = tensors[0];
  const int64_t at = geometry::wrap_dim("stack", dim, first.dim() + 1);
  bool any_sparse = false;
  for (size_t k = 0; k < tensors.size(); ++k) {
    HB_CHECK(tensors[k].sizes() == first.sizes(), "[stack] expects each tensor to be equal size, but got ",
             first.sizes(), " at entry 0 and ", tensors[k].sizes(), " at entry ", k);
    any_sparse |= tensors[k].is_sparse();
  }
  // Channels-last ones are joined as they lie and split by a view, by which LibTorch stacks all.
  const bool whole = at < first.dim() && ops::is_visibly_channels_last(first);
  if (!whole && !any_sparse) return stacked(tensors, at);
  std::vector<Tensor> rows;
  for (const Tensor& t : tensors) rows.push_back(whole ? t : t.unsqueeze(at));
  Tensor out = joined(rows, at, whole ? JoinLayout::OfInputs : JoinLayout::Contiguous);
  if (whole) {
    DimVector sizes = first.impl().sizes();
    sizes.insert(static_cast<size_t>(at), static_cast<int64_t>(tensors.size()));
    out = out.view(IntArrayRef(sizes));
  }
  return named("StackBackward0", out, first);
}

}  // namespace hb
