#pragma once

#include <halfbridge/tensor.h>

#include "core/geometry.h"

namespace hb {

/// A tensor's memory and strides as they lie now, for code that reads physical layouts. Another thread that reads the
/// same tensor may settle it at any time; what is seen through this stays as it is, and its memory lives as long as
/// this does.
///   const Physical x(input);
///   kernel(x->raw_data(), x->physical_strides());
class Physical {
 public:
  explicit Physical(const Tensor& t) : impl_(&t.impl()) {
    if (impl_->is_deferred()) {
      held_ = impl_->snapshot();
      impl_ = held_.get();
    }
  }
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;

  const TensorImpl* operator->() const { return impl_; }
  const TensorImpl& operator*() const { return *impl_; }

 private:
  const TensorImpl* impl_;
  intrusive_ptr<TensorImpl> held_;
};

/// The same as a tensor without history, for kernels that are given tensors; `t` itself where it is not deferred.
inline Tensor physical(const Tensor& t) {
  return HB_UNLIKELY(t.defined() && t.impl().is_deferred() && t.impl().is_strided()) ? Tensor(t.impl().snapshot()) : t;
}

/// Whether several elements lie in one place in memory, as an expanded tensor's do. Of a deferred tensor each has its
/// own.
inline bool repeats_elements(const TensorImpl& t) {
  return !t.physically_contiguous() && t.is_strided() && !t.is_deferred() &&
         geometry::overlaps_itself(t.sizes(), t.physical_strides());
}

}  // namespace hb
