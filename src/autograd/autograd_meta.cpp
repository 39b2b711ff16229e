// What a tensor's record (TensorImpl) asks of autograd.
#include <halfbridge/autograd.h>

#include "core/autograd_seam.h"

namespace hb {

AutogradMeta& TensorImpl::materialize_autograd_meta() {
  if (!autograd_) autograd_.reset(new AutogradMeta);
  return *autograd_;
}

namespace {
[[maybe_unused]] const bool filled_in =
    (detail::autograd_seam = {[](const Tensor& t) { t.requires_grad_(true); }, [](AutogradMeta* meta) { delete meta; }},
     true);
}  // namespace

}  // namespace hb
