#pragma once
// Batch normalisation over the batches of all ranks.

#include <halfbridge/distributed/process_group.h>

namespace hb::distributed {

class BatchStatistics {
 public:
  explicit BatchStatistics(intrusive_ptr<ProcessGroup> group) : group_(std::move(group)) {}
  /// What batch_norm gives in training for the ranks' inputs (N_i, C, ...) as one batch. Running statistics (undefined:
  /// none) are updated with weight `momentum`. All ranks call it, and its gradient.
  Tensor normalise(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                   const Tensor& running_var, double momentum, double eps) const;

 private:
  intrusive_ptr<ProcessGroup> group_;
};

}  // namespace hb::distributed
