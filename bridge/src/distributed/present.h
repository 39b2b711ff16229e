#pragma once

#include <vector>

#include <halfbridge/distributed/process_group.h>

namespace hb::distributed {

/// By gradient: 0 for one that no rank has, else 1 + its dtype. A rank without it takes part with zeros of that dtype.
std::vector<int> dtypes_anywhere(ProcessGroup& group, const std::vector<Tensor>& grads);
/// Gradients that some rank has, as this rank takes part with them; throws for sparse ones and for other shapes than
/// the parameters'.
std::vector<Tensor> present_grads(ProcessGroup& group, const std::vector<Tensor>& grads,
                                  const std::vector<Tensor>& parameters, const char* function);

}  // namespace hb::distributed
