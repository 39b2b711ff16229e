// squeeze_ and the like: the tensor itself takes on another geometry.
#include <halfbridge/ops.h>

#include "autograd/history.h"
#include "autograd/record.h"
#include "ops/common/inplace.h"

namespace hb {

namespace {
template <class View>
Tensor& reshape_self(const char* name, Tensor& self, View view) {
  check_changeable(name, self);
  const Tensor seen = view(history::earlier_self(self));
  TensorImpl& impl = self.impl();
  impl.set_geometry(seen.impl().sizes(), seen.impl().strides(), seen.impl().offset());
  impl.bump_version();
  if (!GradMode::is_enabled() || !seen.requires_grad()) return self;
  const Edge edge = gradient_edge(seen);
  AutogradMeta& meta = impl.materialize_autograd_meta();
  meta.grad_fn = edge.function, meta.output_nr = edge.input_nr, meta.attr_version = impl.version();
  return self;
}
}  // namespace

Tensor& squeeze_(Tensor& self) {
  return reshape_self("squeeze_", self, [](const Tensor& t) { return t.squeeze(); });
}
Tensor& squeeze_(Tensor& self, int64_t dim) {
  return reshape_self("squeeze_", self, [=](const Tensor& t) { return t.squeeze(dim); });
}
Tensor& squeeze_(Tensor& self, IntArrayRef dim) {
  return reshape_self("squeeze_", self, [=](const Tensor& t) { return t.squeeze(dim); });
}
Tensor& unsqueeze_(Tensor& self, int64_t dim) {
  return reshape_self("unsqueeze_", self, [=](const Tensor& t) { return t.unsqueeze(dim); });
}
Tensor& transpose_(Tensor& self, int64_t dim0, int64_t dim1) {
  return reshape_self("transpose_", self, [=](const Tensor& t) { return t.transpose(dim0, dim1); });
}
Tensor& swapaxes_(Tensor& self, int64_t axis0, int64_t axis1) { return transpose_(self, axis0, axis1); }
Tensor& swapdims_(Tensor& self, int64_t dim0, int64_t dim1) { return transpose_(self, dim0, dim1); }
Tensor& t_(Tensor& self) {
  return reshape_self("t_", self, [](const Tensor& t) { return t.t(); });
}
Tensor& as_strided_(Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<int64_t> storage_offset) {
  return reshape_self("as_strided_", self, [&](const Tensor& t) { return t.as_strided(size, stride, storage_offset); });
}

}  // namespace hb
