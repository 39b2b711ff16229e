#include "autograd/history.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include <halfbridge/autograd.h>
#include <halfbridge/ops/factories.h>

#include "autograd/arithmetic.h"
#include "autograd/backward_pass.h"
#include "autograd/record.h"
#include "backend/elementwise.h"
#include "core/geometry.h"
#include "core/mutex_table.h"

namespace hb::history {

namespace {

using autodiff::arithmetic;

struct Geometry {
  DimVector sizes, strides;
  int64_t offset;
  ScalarType dtype;
};
Geometry geometry_of(const Tensor& t) {
  return {t.impl().sizes(), t.impl().strides(), t.impl().offset(), t.scalar_type()};
}

// The gradient of `base` laid out in memory as `base` is, so that a view's geometry addresses it too.
Tensor laid_out_like(const Tensor& grad, const Geometry& base) {
  Tensor t = empty_strided(base.sizes, base.strides, grad.options());
  arithmetic.copy_(t, grad);
  return t;
}

// The place of a view in what lies in memory as its base does. Where the elements are the parts of complex numbers, or
// such numbers over their parts, it has no history, and offsets count elements of different sizes.
Tensor window(const Tensor& grad, const Geometry& base, const Geometry& view) {
  if (HB_LIKELY(base.dtype == view.dtype))
    return arithmetic.as_strided(grad, view.sizes, view.strides, view.offset - base.offset + grad.storage_offset());
  const auto in_view = [&](int64_t offset) {
    return offset * static_cast<int64_t>(element_size(base.dtype)) / static_cast<int64_t>(element_size(view.dtype));
  };
  auto impl = make_intrusive<TensorImpl>(grad.impl().storage(), view.dtype, view.sizes, view.strides,
                                         view.offset - in_view(base.offset) + in_view(grad.storage_offset()));
  return Tensor(std::move(impl));
}

// Zeros, with `part` in the view's place.
Tensor put_among_zeros(const Tensor& part, const Geometry& base, const Geometry& view) {
  Tensor whole = empty_strided(base.sizes, base.strides, part.options().dtype(base.dtype));
  arithmetic.zero_(whole);
  Tensor place = window(whole, base, view);
  arithmetic.copy_(place, part);
  return whole;
}
Tensor taken_from(const Tensor& whole, const Geometry& base, const Geometry& view) {
  return arithmetic.clone(window(laid_out_like(whole, base), base, view), std::nullopt);
}
Tensor left_of(const Tensor& whole, const Geometry& base, const Geometry& view) {
  Tensor rest = laid_out_like(whole, base);
  Tensor place = window(rest, base, view);
  arithmetic.zero_(place);
  return rest;
}

// One of these, which are linear, with the history that window() lacks: the gradient of each is another.
using Linear = Tensor (*)(const Tensor&, const Geometry& base, const Geometry& view);
Tensor recorded(Linear f, Linear gradient, const Tensor& in, const Geometry& base, const Geometry& view) {
  if (HB_LIKELY(base.dtype == view.dtype || !needs_grad(in))) return f(in, base, view);
  Tensor out;
  {
    NoGradGuard no_history;
    out = f(in, base, view);
  }
  record("AsStridedBackward0", out, {&in},
         [=](Backward& b) -> variable_list { return {recorded(gradient, f, b.grad(), base, view)}; });
  return out;
}

// The same tensor's history was made anew: what retain_grad() keeps is the gradient of what it is now.
void go_on_retaining(const Tensor& t) {
  AutogradMeta& meta = *t.impl().autograd_meta();
  if (!std::exchange(meta.retains_grad, false)) return;
  t.retain_grad();
}

Edge read_by_as_strided(const Tensor& view);
}  // namespace

Tensor earlier_self(const Tensor& self) {
  Tensor old(self.impl().alias(true));
  if (!GradMode::is_enabled() || !self.requires_grad()) return old;
  Edge edge = gradient_edge(self);
  // A change of a view is one of its base, whose gradient does not pass the view's own node and its hooks.
  if (HB_UNLIKELY(self.is_view() && BackwardPass::has_hooks(*edge.function))) edge = read_by_as_strided(self);
  AutogradMeta& meta = old.impl().materialize_autograd_meta();
  meta.grad_fn = edge.function;
  meta.output_nr = edge.input_nr;
  return old;
}

void check_origin(const AutogradMeta& view, const char* what) {
  HB_CHECK(!view.created_in_no_grad || !view.grad_fn,
           "This view was created inside a custom Function (or because an input was returned as-is) and ", what,
           " modified inplace. That is forbidden: the change would take the place of the custom backward. Clone the "
           "output of the custom Function.");
  HB_CHECK(!view.created_in_no_grad, "A view was created in no_grad mode and ", what,
           " modified inplace with grad mode enabled. This is ambiguous and therefore forbidden: move the view and the "
           "inplace change both inside the no_grad block, if the change is not to be tracked, or both outside of it.");
}

void rebase(const Tensor& self, const Tensor& result) {
  const Edge edge = gradient_edge(result);
  AutogradMeta& meta = self.impl().materialize_autograd_meta();
  if (!meta.base.defined()) {
    meta.grad_fn = edge.function, meta.output_nr = edge.input_nr;
    meta.requires_grad = false;
    return go_on_retaining(self);
  }
  // base' = base with the window of this view replaced by `result`.
  Tensor base = meta.base;
  Tensor old = earlier_self(base);
  AutogradMeta& base_meta = base.impl().materialize_autograd_meta();
  const Geometry g = geometry_of(base), v = geometry_of(self);
  Tensor marker(base.impl().alias(false));
  record_many("torch::autograd::CopySlices", {&marker}, {&old, &result}, {},
              [g, v](Backward& b, const variable_list&) -> variable_list {
                if (HB_UNLIKELY(g.dtype != v.dtype && needs_grad(b.grad())))
                  return {b.needs(0) ? recorded(left_of, left_of, b.grad(), g, v) : Tensor(),
                          b.needs(1) ? recorded(taken_from, put_among_zeros, b.grad(), g, v) : Tensor()};
                Tensor whole = laid_out_like(b.grad(), g);
                Tensor part;
                if (b.needs(1)) part = arithmetic.clone(window(whole, g, v), std::nullopt);
                if (!b.needs(0)) return {Tensor(), part};
                Tensor changed = window(whole, g, v);
                arithmetic.zero_(changed);
                return {whole, part};
              });
  base_meta.grad_fn = marker.impl().autograd_meta()->grad_fn;
  base_meta.output_nr = marker.impl().autograd_meta()->output_nr;
  go_on_retaining(base);
  meta.attr_version = self.impl().version() - 1;
  bring_up_to_date(self);
}

namespace {

// The history of a view that reads its base by its geometry.
Edge read_by_as_strided(const Tensor& view) {
  const Tensor& base = view.impl().autograd_meta()->base;
  AutoGradMode on(true);
  const Geometry g = geometry_of(base), v = geometry_of(view);
  if (HB_UNLIKELY(g.dtype == v.dtype && (geometry::may_overlap_itself(v.sizes, v.strides) ||
                                         geometry::may_overlap_itself(g.sizes, g.strides))))
    return gradient_edge(arithmetic.as_strided(base, v.sizes, v.strides, v.offset));  // its gradient adds up
  Tensor marker(view.impl().alias(false));
  record("AsStridedBackward0", marker, {&base},
         [g, v](Backward& b) -> variable_list { return {recorded(put_among_zeros, taken_from, b.grad(), g, v)}; });
  return gradient_edge(marker);
}

// Makes the history anew and hands out the old one, which its caller frees.
std::shared_ptr<Node> refresh_view(const Tensor& view) {
  AutogradMeta& meta = *view.impl().autograd_meta();
  if (!meta.grad_fn && !meta.base.requires_grad()) return nullptr;
  check_origin(meta, "its base or another view of its base has been");
  const Edge edge = read_by_as_strided(view);
  meta.output_nr = edge.input_nr;
  return std::exchange(meta.grad_fn, edge.function);
}

// Recursive, since watchers see the new history being recorded.
constinit MutexTable<std::recursive_mutex> mutexes;

}  // namespace

void bring_up_to_date(const Tensor& view) {
  AutogradMeta& meta = *view.impl().autograd_meta();
  const std::atomic_ref<uint32_t> known(meta.attr_version);
  const uint32_t now = view.impl().version();
  if (known.load(std::memory_order_acquire) == now) return;
  std::shared_ptr<Node> old;  // freed when the lock is no longer held
  {
    const std::lock_guard lock(mutexes.of(meta));
    if (known.load(std::memory_order_relaxed) == now) return;
    old = refresh_view(view);
    known.store(now, std::memory_order_release);  // after the history that it speaks of
  }
  if (old) go_on_retaining(view);
}

}  // namespace hb::history
