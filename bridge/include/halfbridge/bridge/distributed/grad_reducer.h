#pragma once
// Gradients of several processes as one, for training with explicit gradients.

#include <cstdint>
#include <vector>

#include <halfbridge/distributed/process_group.h>

namespace hb::distributed {

/// Gives every rank the mean (or the sum) of all ranks' gradients:
///
///   hb::distributed::init();
///   hb::distributed::DistributedGradReducer reducer(net->parameters());
///   auto [loss, grads] = value_and_grad(x, y);
///   optimizer.step(reducer(grads));
///
/// Before or after GradScaler::unscale_ is the same: an overflow on one rank reaches all. It fits set_grad_reducer() of
/// TrainOneStep, Model and Accumulator. When it is made, the parameters become those of rank 0.
class HB_API DistributedGradReducer {
 public:
  /// `group`: null for that of init(). Gradients travel in messages of about `bucket_bytes`.
  explicit DistributedGradReducer(std::vector<Tensor> parameters, bool mean = true,
                                  intrusive_ptr<ProcessGroup> group = {}, int64_t bucket_bytes = 25 << 20);

  /// `grads`: one per parameter, in order, of any floating dtype. A gradient that is undefined counts as zeros where
  /// another rank has one, and stays undefined where none has. The result shares no memory with `grads`. All ranks call
  /// it. Throws for another number of gradients, other shapes and sparse gradients.
  std::vector<Tensor> operator()(const std::vector<Tensor>& grads) const;

  bool mean() const { return mean_; }
  const intrusive_ptr<ProcessGroup>& group() const { return group_; }

 private:
  std::vector<Tensor> parameters_;
  bool mean_;
  intrusive_ptr<ProcessGroup> group_;
  int64_t bucket_bytes_;
};

}  // namespace hb::distributed
