#pragma once
// A number of batches that batch_norm's kernel counts up by itself: by a function of its own that would be a launch.

#include <halfbridge/tensor.h>

namespace hb::ops {

/// Until the end of the scope, or the next batch_norm in training on this thread.
class CountedBatches {
 public:
  CountedBatches() = default;
  ~CountedBatches();
  CountedBatches(const CountedBatches&) = delete;
  CountedBatches& operator=(const CountedBatches&) = delete;
  /// False: batch_norm does not count there (on the CPU, where it costs nothing by itself).
  bool take(const Tensor& batches);
  /// What this thread's next batch_norm counts up, or an undefined tensor; from then on nothing.
  static Tensor next();

 private:
  bool taken_ = false;
};

}  // namespace hb::ops
