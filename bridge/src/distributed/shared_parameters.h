#pragma once
// Which parameters several processes train together, so that a step that one of them skips is skipped by all.

#include <halfbridge/bridge/optim/optimizer.h>
#include <halfbridge/distributed/process_group.h>

namespace hb::distributed {

/// These parameters are trained by the ranks of `group` together, as long as they live.
void share_parameters(const std::vector<Tensor>& parameters, const intrusive_ptr<ProcessGroup>& group);
/// The group of an optimizer's parameters; null if one process trains them alone.
intrusive_ptr<ProcessGroup> group_of(const bridge::optim::Optimizer& optimizer);
/// The largest of all ranks' flags (float32, one element) in place of this rank's; nothing for parameters that one
/// process trains alone. All ranks call it.
void share_overflow(const bridge::optim::Optimizer& optimizer, const Tensor& flag);

}  // namespace hb::distributed
