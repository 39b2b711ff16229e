#include "ops/common/out_offer.h"

#include "autograd/record.h"
#include "backend/captured.h"
#include "core/geometry.h"
#include "core/pending.h"

namespace hb {
namespace offer {

TensorImpl* of(const Tensor& out) {
  if (!out.defined() || out.is_inference() || needs_grad(out)) return nullptr;
  TensorImpl& t = out.impl();
  if (!t.is_strided() || t.is_deferred() || t.numel() == 0 || capture::any_recording()) return nullptr;
  if (!geometry::is_dense(t.sizes(), t.physical_strides()) || pending::handles(*t.physical_storage()) > 0)
    return nullptr;
  return &t;
}

bool is_apart(const TensorImpl& out, const Tensor& argument) {
  if (!argument.defined()) return true;
  if (!argument.impl().is_strided() || needs_grad(argument)) return false;  // the latter is refused later
  return argument.impl().physical_storage() != out.physical_storage();
}

}  // namespace offer
}  // namespace hb
