#include "distributed/present.h"

#include <halfbridge/distributed/objects.h>

#include <halfbridge/ops.h>

namespace hb::distributed {

std::vector<int> dtypes_anywhere(ProcessGroup& group, const std::vector<Tensor>& grads) {
  const Tensor flags = zeros({static_cast<int64_t>(grads.size())}, kInt);
  auto* const values = flags.data_ptr<int32_t>();
  for (size_t i = 0; i < grads.size(); ++i)
    values[i] = grads[i].defined() ? 1 + static_cast<int>(grads[i].scalar_type()) : 0;
  all_reduce(group, flags, ReduceOp::MAX);
  return {values, values + grads.size()};
}

std::vector<Tensor> present_grads(ProcessGroup& group, const std::vector<Tensor>& grads,
                                  const std::vector<Tensor>& parameters, const char* function) {
  const auto dtypes = dtypes_anywhere(group, grads);
  std::vector<Tensor> all = grads;
  for (size_t i = 0; i < all.size(); ++i) {
    if (dtypes[i] == 0) continue;
    const auto dtype = static_cast<ScalarType>(dtypes[i] - 1);
    if (!all[i].defined()) all[i] = zeros_like(parameters[i], TensorOptions(dtype));
    if (all[i].scalar_type() != dtype) all[i] = all[i].to(dtype);
    HB_CHECK(all[i].layout() == kStrided && all[i].sizes() == parameters[i].sizes(), "[", function,
             "] expected a dense gradient of shape ", parameters[i].sizes(), " for parameter ", i, ", got ",
             all[i].layout() != kStrided ? "a sparse one of shape " : "shape ", all[i].sizes());
  }
  return all;
}

}  // namespace hb::distributed
