#include "ops/common/out_offer.h"

#include "backend/captured.h"
#include "core/geometry.h"
#include "core/pending.h"

#include <halfbridge/grad_mode.h>

namespace hb {
namespace offer {

TensorImpl* of(const Tensor& out) {
  if (!out.defined() || out.is_inference() || (GradMode::is_enabled() && out.requires_grad())) return nullptr;
  TensorImpl& t = out.impl();
  if (!t.is_strided() || t.is_deferred() || t.numel() == 0 || capture::any_recording()) return nullptr;
  if (!geometry::is_dense(t.sizes(), t.physical_strides()) || pending::handles(*t.physical_storage()) > 0)
    return nullptr;
  return &t;
}

bool is_apart(const Tensor& out, const Tensor& argument) {
  if (!argument.defined()) return true;
  if (!out.defined() || !out.impl().is_strided() || !argument.impl().is_strided()) return false;
  if (GradMode::is_enabled() && argument.requires_grad()) return false;  // is refused later
  return argument.impl().physical_storage() != out.impl().physical_storage();
}

}  // namespace offer

}  // namespace hb
