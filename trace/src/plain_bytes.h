#pragma once

#include <halfbridge/ops.h>
#include <halfbridge/trace/record.h>

#include "ops/common/layout.h"

namespace hb::trace {

/// As trace files name it; throws hb::TypeError for a dtype that no tensor has.
Dtype dtype_of(ScalarType dtype);

/// f(pointer to the elements, contiguous). The tensor stays in the layout that it has: one whose layout is deferred is
/// not settled. Within OwnWork.
template <class F>
auto with_plain_bytes(const Tensor& t, const F& f) {
  const Tensor plain = ops::to_contiguous(t.device().is_cpu() ? t : t.to(kCPU));
  return f(static_cast<const void*>(plain.impl().raw_data()));
}

}  // namespace hb::trace
