#include "ops/common/inplace.h"

#include <string_view>

#include <halfbridge/autograd.h>
#include <halfbridge/ops.h>

#include "autocast/autocast.h"
#include "autograd/history.h"
#include "autograd/record.h"
#include "backend/elementwise.h"
#include "core/pending.h"
#include "core/physical.h"
#include "ops/common/inference.h"
#include "ops/common/out_dtype.h"
#include "ops/sparse/sparse.h"

namespace hb {

namespace {

// LibTorch still lets these write into a tensor whose elements share memory.
bool warns_of_overlap(std::string_view name) {
  for (const std::string_view allowed : {"index_put_", "index_fill_", "masked_fill_"}) {
    if (name != allowed) continue;
    detail::warn(detail::str("Use of ", name,
                             " on expanded tensors is deprecated. Please clone() the tensor first; this "
                             "holds for assignments by indices and masks too."));
    return true;
  }
  return false;
}

// What has the size of its result by its arguments sizes the out tensor silently.
bool sizes_out_silently(std::string_view name) {
  for (const std::string_view silent : {"zeros", "ones", "full", "empty", "eye", "rand", "randn", "randint", "randperm",
                                        "linspace", "logspace", "range", "normal"})
    if (name == silent) return true;
  return false;
}

}  // namespace

void size_out(const char* name, Tensor& out, IntArrayRef size) {
  if (out.numel() > 0 && std::string_view(name) == "arange") {
    int64_t wanted = 1;
    for (const int64_t n : size) wanted *= n;
    if (out.numel() != wanted)
      detail::warn(detail::str("The number of elements in the out tensor of shape ", out.sizes(), " is ", out.numel(),
                               " which does not match the computed number of elements ", wanted, "; it is resized to ",
                               size));
  } else if (out.numel() > 0 && !sizes_out_silently(name)) {
    detail::warn(
        detail::str("An output with one or more elements was resized since it had shape ", out.sizes(),
                    ", which does not match the required output shape ", size,
                    ". This behavior is deprecated: give an out tensor without elements, as after resize_(0)."));
  }
  out.resize_(size);
}

void check_inference(const char* name, const Tensor& self) {
  HB_CHECK(!self.is_inference() || InferenceMode::is_enabled(), "[", name,
           "] Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
           "normal tensor before doing inplace update.");
}

void check_changeable(const char* name, const Tensor& self) {
  const TensorImpl& i = self.impl();
  const AutogradMeta* meta = i.autograd_meta();
  check_inference(name, self);
  if (meta && GradMode::is_enabled()) {
    if (meta->base.defined() && self.requires_grad()) {
      history::check_origin(*meta, "is being");
      // Its base, or a leaf among the views between them.
      HB_CHECK(!meta->base.is_leaf(), "[", name,
               "] a view of a leaf Variable that requires grad is being used in an in-place operation.");
    }
    HB_CHECK(!meta->requires_grad || meta->grad_fn, "[", name,
             "] a leaf Variable that requires grad is being used in an in-place operation.");
  }
}

void check_inplace(const char* name, const Tensor& self) {
  check_changeable(name, self);
  if (!repeats_elements(self.impl())) return;
  HB_CHECK(
      warns_of_overlap(name), "[", name,
      "] unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
      "Please clone() the tensor before performing the operation.");
}

namespace {

bool any_requires_grad(const Tensor& self, std::initializer_list<const Tensor*> others) {
  if (self.requires_grad()) return true;
  for (const Tensor* o : others)
    if (o->defined() && o->requires_grad()) return true;
  return false;
}

// Only `t` and handles to it can see this memory and know where it is.
bool sole_owner(const TensorImpl& t, int64_t owners) {
  const StorageImpl& storage = *t.physical_storage();
  return storage.use_count() == owners + pending::handles(storage) && !storage.is_borrowed() &&
         !storage.address_shown();
}

bool same_visible_layout(const TensorImpl& a, const TensorImpl& b) {
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return false;
  const auto visible_contiguous = [](const TensorImpl& t) { return t.physically_contiguous() || t.is_deferred(); };
  if (visible_contiguous(a) && visible_contiguous(b)) return true;
  return !a.is_deferred() && !b.is_deferred() && a.physical_strides() == b.physical_strides();
}

// Whether nobody but `owners` handles sees that `self` has the memory of `result` from now on, which nothing else
// holds.
bool can_exchange(const TensorImpl& self, int64_t owners, const TensorImpl& result) {
  const bool is_view = self.autograd_meta() && self.autograd_meta()->base.defined();
  return !is_view && sole_owner(self, owners) && sole_owner(result, 1) && result.physical_offset() == 0 &&
         same_visible_layout(self, result);
}

void take_values(const Tensor& self, const Tensor& old, const Tensor& result) {
  TensorImpl &s = self.impl(), &r = result.impl();
  if (HB_UNLIKELY(sparse::either(self, result))) {
    HB_CHECK(self.layout() == result.layout(), "[inplace] expected a result of layout ", self.layout(), ", got ",
             result.layout(), "; call to_dense() or to_sparse()");
    if (old.use_count() > 1) old.impl().part_version();
    sparse::replace(self, result);
    return;
  }
  if (can_exchange(s, 2, r)) {  // `self` and `old` each hold the old memory
    s.share_data_of(r);
    // What the graph kept of the old values stays what it was.
    if (old.use_count() > 1) old.impl().part_version();
    return;
  }
  // What the graph kept of the old values must survive: give it memory of its own.
  if (old.use_count() > 1) {
    Tensor copy = empty_like(self);
    copy_kernel(self.device())(Loop({&copy}, {&self}));
    old.impl().share_data_of(copy.impl());
    old.impl().part_version();
  }
  copy_kernel(self.device())(Loop({&self}, {&result}));
}

// A tensor that was given a size has the order of memory that the function's own result has.
void take_order_of(std::string_view name, Tensor& out, const Tensor& result) {
  if (name == "clone" || name == "flip") return;  // as in PyTorch
  if (out.layout() != kStrided || result.layout() != kStrided || !result.is_non_overlapping_and_dense()) return;
  out.impl().set_geometry(result.impl().sizes(), DimVector(result.strides()), out.impl().offset());
}

// The function computed in the memory that was offered (core/offered_memory.h).
bool is_there(const Tensor& out, const Tensor& result) {
  if (out.layout() != kStrided || result.layout() != kStrided) return false;
  const TensorImpl &o = out.impl(), &r = result.impl();
  return o.physical_storage() == r.physical_storage() && o.physical_offset() == r.physical_offset() &&
         same_visible_layout(o, r);
}

// Not on CUDA, where a captured graph may know where `out` lies.
bool takes_memory_of(const Tensor& out, const Tensor& result) {
  if (out.is_cuda() || out.layout() != kStrided || result.layout() != kStrided) return false;
  return result.use_count() == 1 && can_exchange(out.impl(), 1, result.impl());
}

}  // namespace

Tensor& inplace(const char* name, Tensor& self, const std::function<Tensor(const Tensor&)>& compute,
                const std::function<void(Tensor&)>& direct, std::initializer_list<const Tensor*> others) {
  check_inplace(name, self);
  // What is no floating or complex number has no gradient, whatever is written there.
  const bool track =
      GradMode::is_enabled() && is_differentiable_type(self.scalar_type()) && any_requires_grad(self, others);
  if (track && self.is_view()) history::check_origin(*self.impl().autograd_meta(), "is being");
  if (direct && !track) {
    direct(self);
    self.impl().bump_version();
    return self;
  }
  front::Excluded excluded;  // only out-of-place forms have classes
  Tensor old = history::earlier_self(self);
  Tensor result = compute(old);
  HB_CHECK(result.impl().sizes() == self.impl().sizes(), "[", name, "] output with shape ", self.sizes(),
           " doesn't match the broadcast shape ", result.sizes());
  if (result.scalar_type() != self.scalar_type()) {
    check_cast(name, result.scalar_type(), self.scalar_type());
    result = result.to(self.scalar_type());
  }
  if (result.is_same(old)) return self;
  const bool was_tracked = track && old.requires_grad();
  if (was_tracked && !result.requires_grad())
    record("FillBackward0", result, {&old}, [](Backward& b) -> variable_list { return {zeros_like(b.grad())}; });
  // A result that is an alias (of `other`, say) must not become self's memory.
  take_values(self, old, result);
  self.impl().bump_version();
  if (GradMode::is_enabled() && result.requires_grad()) history::rebase(self, result);
  return self;
}

Tensor& assign_out(const char* name, Tensor& out, const Tensor& result) {
  HB_CHECK(!(GradMode::is_enabled() && (result.requires_grad() || (out.defined() && out.requires_grad()))), "[", name,
           "] functions with out=... arguments don't support automatic differentiation, but one of the arguments "
           "requires grad.");
  if (!out.defined()) return out = result;
  HB_CHECK(out.device() == result.device(), "[", name, "] expected out on ", result.device(), ", got ", out.device());
  check_out_dtype(name, result.scalar_type(), out.scalar_type());
  if (out.impl().sizes() != result.impl().sizes()) {
    size_out(name, out, result.sizes());
    take_order_of(name, out, result);
  }
  const bool there = is_there(out, result);
  if (!there && !takes_memory_of(out, result)) return out.copy_(result);
  check_inference(name, out);
  if (!there) out.impl().share_data_of(result.impl());
  out.impl().bump_version();
  return out;
}

}  // namespace hb
