#include "core/loop.h"

#include <algorithm>

#include <halfbridge/ops/factories.h>

#include "backend/elementwise.h"
#include "core/geometry.h"
#include "core/offered_memory.h"
#include "core/pending.h"
#include "core/physical.h"
#include "core/recorder.h"

namespace hb {

namespace {

// Whether dimension a of the loop should lie inside dimension b: the first operand with different strides decides.
int compare_dims(const Loop& loop, size_t a, size_t b) {
  for (int k = 0; k < loop.operands; ++k) {
    const int64_t sa = loop.op[k].strides[a], sb = loop.op[k].strides[b];
    if (sa == 0 || sb == 0) continue;
    if (sa != sb) return sa < sb ? -1 : 1;
    if (loop.sizes[a] > loop.sizes[b]) return 1;
  }
  return 0;
}

void swap_dims(Loop& loop, size_t a, size_t b) {
  std::swap(loop.sizes[a], loop.sizes[b]);
  for (int k = 0; k < loop.operands; ++k) std::swap(loop.op[k].strides[a], loop.op[k].strides[b]);
}

void order_dims(Loop& loop) {
  for (size_t i = 1; i < loop.sizes.size(); ++i) {
    size_t at = i;
    for (size_t j = i; j-- > 0;) {
      const int c = compare_dims(loop, j, at);
      if (c > 0) {
        swap_dims(loop, j, at);
        at = j;
      } else if (c < 0) {
        break;
      }
    }
  }
}

bool mergeable(const Loop& loop, size_t inner, size_t outer) {
  if (loop.sizes[inner] == 1 || loop.sizes[outer] == 1) return true;
  for (int k = 0; k < loop.operands; ++k)
    if (loop.op[k].strides[outer] != loop.sizes[inner] * loop.op[k].strides[inner]) return false;
  return true;
}

void merge_dims(Loop& loop) {
  size_t kept = 0;
  for (size_t d = 1; d < loop.sizes.size(); ++d) {
    if (mergeable(loop, kept, d)) {
      if (loop.sizes[kept] == 1)
        for (int k = 0; k < loop.operands; ++k) loop.op[k].strides[kept] = loop.op[k].strides[d];
      loop.sizes[kept] *= loop.sizes[d];
      continue;
    }
    if (++kept == d) continue;
    loop.sizes[kept] = loop.sizes[d];
    for (int k = 0; k < loop.operands; ++k) loop.op[k].strides[kept] = loop.op[k].strides[d];
  }
  loop.sizes.resize(std::min(kept + 1, loop.sizes.size()));
  for (int k = 0; k < loop.operands; ++k) loop.op[k].strides.resize(loop.sizes.size());
}

// One dimension where every operand has the same contiguous memory: the common case of whole tensors.
bool flat(Loop& loop, const TensorImpl* const* operands) {
  const TensorImpl& first = *operands[0];
  const bool contiguous = first.physically_contiguous();
  for (int k = 1; k < loop.operands; ++k) {
    const TensorImpl& i = *operands[k];
    const bool alike = contiguous ? i.physically_contiguous() : i.physical_strides() == first.physical_strides();
    if (!alike || i.sizes() != first.sizes()) return false;
  }
  if (!contiguous && !geometry::is_dense(first.sizes(), first.physical_strides())) return false;
  loop.sizes.push_back(first.numel());
  for (int k = 0; k < loop.operands; ++k)
    loop.op[k].strides.push_back(static_cast<int64_t>(element_size(loop.op[k].dtype)));
  return true;
}

}  // namespace

// Back ends in libraries of their own make loops, too.
HB_API Loop::Loop(ArrayRef<const Tensor*> outs, ArrayRef<const Tensor*> ins)
    : outputs(static_cast<int>(outs.size())), operands(static_cast<int>(outs.size() + ins.size())) {
  HB_CHECK(operands > 0 && operands <= kMaxOperands, "[loop] expected at most ", int{kMaxOperands}, " operands, got ",
           operands);
  const TensorImpl* impls[kMaxOperands];
  for (int k = 0; k < operands; ++k) {
    const Tensor& t = *(k < outputs ? outs[k] : ins[k - outputs]);
    capture::uses(t);
    impls[k] = &t.impl();
    if (impls[k]->is_deferred() && k >= outputs) {
      op[k].held = impls[k]->snapshot();
      impls[k] = op[k].held.get();
    } else if (impls[k]->is_deferred() && pending::any() && impls[k]->device().is_cpu()) {
      pending::run(*impls[k]->physical_storage());  // else it would overwrite the result later
    }
    op[k].data = static_cast<char*>(impls[k]->raw_data());
    op[k].dtype = impls[k]->dtype();
  }
  const TensorImpl& shape = *impls[0];
  numel = shape.numel();
  if (numel == 0) {
    sizes.push_back(0);
    for (int k = 0; k < operands; ++k) op[k].strides.push_back(0);
    return;
  }
  if (flat(*this, impls)) return;
  const size_t nd = shape.sizes().size();
  sizes = DimVector(nd);
  for (size_t d = 0; d < nd; ++d) sizes[d] = shape.sizes()[nd - 1 - d];
  for (int k = 0; k < operands; ++k) {
    const DimVector &s = impls[k]->sizes(), &st = impls[k]->physical_strides();
    const int64_t item = static_cast<int64_t>(impls[k]->itemsize());
    op[k].strides = DimVector(nd);
    for (size_t d = 0; d < s.size(); ++d) op[k].strides[d] = s[s.size() - 1 - d] == 1 ? 0 : st[s.size() - 1 - d] * item;
  }
  if (nd == 0) {
    sizes.push_back(1);
    for (int k = 0; k < operands; ++k) op[k].strides.push_back(0);
    return;
  }
  order_dims(*this);
  merge_dims(*this);
}

DimVector broadcast_sizes(const char* name, ArrayRef<const Tensor*> tensors) {
  DimVector out = tensors[0]->impl().sizes();
  for (size_t k = 1; k < tensors.size(); ++k) {
    const DimVector& s = tensors[k]->impl().sizes();
    if (s == out) continue;
    if (s.size() > out.size()) {
      DimVector wider(s.size(), 1);
      std::copy(out.begin(), out.end(), wider.begin() + (s.size() - out.size()));
      out = std::move(wider);
    }
    const size_t lead = out.size() - s.size();
    for (size_t d = s.size(); d-- > 0;) {
      int64_t& o = out[lead + d];
      if (o == s[d] || s[d] == 1) continue;
      HB_CHECK(o == 1, "[", name, "] The size of tensor a (", o, ") must match the size of tensor b (", s[d],
               ") at non-singleton dimension ", lead + d, ": cannot broadcast ", tensors[0]->sizes(), " and ",
               tensors[k]->sizes());
      o = s[d];
    }
  }
  return out;
}

namespace {
bool in_order(const TensorImpl& t) { return t.is_deferred() || t.physically_contiguous(); }

// As PyTorch's iterator: of two dimensions the first operand that has strides of both says which lies inside.
DimVector strides_by_vote(const DimVector& sizes, ArrayRef<const Tensor*> ins) {
  if (std::all_of(ins.begin(), ins.end(), [](const Tensor* t) { return in_order(t->impl()); }))
    return geometry::contiguous_strides(sizes);
  std::vector<DimVector> operands;
  for (const Tensor* t : ins) {
    const DimVector &s = t->impl().sizes(), strides(t->strides());
    operands.emplace_back(sizes.size(), 0);
    for (size_t d = 0; d < s.size(); ++d)
      if (const size_t at = sizes.size() - s.size() + d; s[d] == sizes[at]) operands.back()[at] = strides[d];
  }
  return geometry::dense_strides_like(sizes, operands);
}

// The operand whose layout the result has, where one decides alone: the first, if it has all dimensions, or one in a
// layout of its own.
const Tensor* model_of(const DimVector& sizes, ArrayRef<const Tensor*> ins) {
  for (const Tensor* t : ins) {
    const TensorImpl& i = t->impl();
    if (i.sizes() == sizes && !repeats_elements(i) && (t == ins[0] || i.is_deferred())) return t;
  }
  return nullptr;
}
}  // namespace

Tensor empty_elementwise(const DimVector& sizes, ScalarType dtype, ArrayRef<const Tensor*> ins) {
  Device device = kCPU;
  for (const Tensor* t : ins)
    if (!t->impl().device().is_cpu()) device = t->impl().device();
  const Tensor* const decides = model_of(sizes, ins);
  DimVector strides;
  bool deferred = false;
  if (!decides) {
    strides = strides_by_vote(sizes, ins);
  } else if (decides->impl().physically_contiguous()) {
    strides = geometry::contiguous_strides(sizes);
  } else {
    const Physical model(*decides);
    const bool dense = geometry::is_dense(sizes, model->physical_strides());
    strides = dense ? model->physical_strides() : geometry::dense_strides_like(sizes, model->physical_strides());
    deferred = dense && model->is_deferred();
  }
  if (HB_UNLIKELY(offer::memory != nullptr) && !deferred)
    if (Tensor t = offer::take(sizes, strides, dtype, device); t.defined()) return t;
  auto storage = StorageImpl::allocate(geometry::bytes(geometry::numel(sizes), element_size(dtype)), device);
  auto impl = make_intrusive<TensorImpl>(std::move(storage), dtype, sizes, std::move(strides), 0);
  if (deferred) impl->set_deferred();
  return Tensor(std::move(impl));
}

ScalarType compute_type(ScalarType t) {
  if (HB_UNLIKELY(is_complex_type(t))) return t;
  if (t == kDouble) return kDouble;
  return is_floating_type(t) ? kFloat : kLong;
}

ScalarType result_type_of(ArrayRef<const Tensor*> tensors) {
  // Within a kind (bool, integral, floating, complex) a tensor with dimensions outranks a 0-d one, and that a number.
  ScalarType rank[3] = {ScalarType::Undefined, ScalarType::Undefined, ScalarType::Undefined};
  for (const Tensor* t : tensors) {
    const TensorImpl& i = t->impl();
    ScalarType type = i.dtype();
    int at = i.dim() > 0 ? 0 : 1;
    if (i.is_wrapped_number()) {
      at = 2;
      if (is_floating_type(type)) type = get_default_dtype();
      if (is_complex_type(type)) type = to_complex_type(get_default_dtype());
    }
    rank[at] = promote_types(rank[at], type);
  }
  const auto combine = [](ScalarType high, ScalarType low) {
    if (high == ScalarType::Undefined) return low;
    if (low == ScalarType::Undefined || is_complex_type(high)) return high;
    if (is_floating_type(high)) return is_complex_type(low) ? to_complex_type(high) : high;
    if (high == kBool || is_differentiable_type(low)) return promote_types(high, low);
    return high;
  };
  return combine(rank[0], combine(rank[1], rank[2]));
}

Tensor wrapped_scalar(const Scalar& value, const Device& device) {
  Tensor t = empty({}, TensorOptions().dtype(value.type()).device(device));
  fill_kernel(device)(Loop({&t}, {}), value);
  t.impl().set_wrapped_number(true);
  return t;
}

}  // namespace hb
