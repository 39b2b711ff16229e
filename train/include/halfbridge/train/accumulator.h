#pragma once
// Gradient accumulation: several small batches, one step of the optimizer.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <halfbridge/bridge/optim/optimizer.h>

namespace hb::train {

/// Sums gradients and steps the optimizer with the sum at every `accumulate_step`-th call. With a loss that is a mean,
/// divide it by accumulate_step: then N micro-batches equal one step on the N-fold batch. (Or construct with
/// `average = true`, which divides the sum.)
///
///   hb::train::Accumulator accumulator(optimizer, 4);   // clips to a norm of 1; (optimizer, 4, 0) does not clip
///   for (auto& batch : *loader) {
///     auto [loss, grads] = value_and_grad(batch.data, batch.target);   // explicit gradients ...
///     accumulator(grads);
///   }
///   for (auto& batch : *loader) {
///     (loss_of(batch) / 4).backward();                                  // ... or .grad(), which is taken over
///     accumulator.step();
///   }
///
/// Sums are kept in float32 where parameters are in a half type.
class HB_API Accumulator {
 public:
  /// `clip_norm`: the sum is scaled down to this L2 norm over all parameters where it is larger; 0: it is not clipped.
  Accumulator(bridge::optim::Optimizer& optimizer, int64_t accumulate_step, double clip_norm = 1.0,
              bool average = false);

  /// Adds gradients, in the order of the optimizer's parameters (all groups); undefined ones count as zero. True when
  /// the optimizer was stepped. Throws for another number of gradients and for other shapes.
  bool operator()(const std::vector<Tensor>& grads);
  /// The same with the parameters' `.grad()`, which is undefined afterwards.
  bool step();
  /// Steps with what there is (the rest of an epoch). False, and nothing happens, when there is nothing.
  bool flush();

  /// Given the sums of an update, one per parameter (undefined where there is none), returns those to go on with: their
  /// mean over several processes (distributed::DistributedGradReducer), say. Called once per update, before clipping.
  using GradReducer = std::function<std::vector<Tensor>(std::vector<Tensor>)>;
  void set_grad_reducer(GradReducer reducer) { reducer_ = std::move(reducer); }

  /// The sums so far; undefined for parameters that had no gradient since the last step.
  const std::vector<Tensor>& inner_gradients() const { return sums_; }
  /// Micro-batches added since the beginning.
  int64_t counter() const { return counter_; }
  int64_t accumulate_step() const { return accumulate_step_; }
  double clip_norm() const { return clip_norm_; }

  void save(bridge::serialize::OutputArchive& archive) const;
  void load(bridge::serialize::InputArchive& archive);

 private:
  std::vector<Tensor> parameters() const;
  void update();

  bridge::optim::Optimizer& optimizer_;
  int64_t accumulate_step_, counter_ = 0, pending_ = 0;
  double clip_norm_;
  bool average_;
  std::vector<Tensor> sums_;
  GradReducer reducer_;
};

inline bridge::serialize::OutputArchive& operator<<(bridge::serialize::OutputArchive& archive, const Accumulator& a) {
  return a.save(archive), archive;
}
inline bridge::serialize::InputArchive& operator>>(bridge::serialize::InputArchive& archive, Accumulator& a) {
  return a.load(archive), archive;
}

}  // namespace hb::train
