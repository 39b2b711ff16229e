#pragma once

#include <halfbridge/ops.h>

#include "autograd/record.h"
#include "ops/elementwise/elementwise_op.h"

namespace hb::ops {

/// Marks a result whose gradient LibTorch does not have either.
template <class... Ts>
Tensor without_gradient(const char* name, Tensor out, const Ts&... inputs) {
  if (needs_grad(inputs...))
    record("NotImplemented", out, {&inputs...},
           [name](Backward&) -> variable_list { return {no_gradient(name, name)}; });
  return out;
}

}  // namespace hb::ops
