#pragma once
// How the gradients of a bucket travel: c10d's communication hooks.

#include <functional>

#include <halfbridge/distributed/process_group.h>

namespace hb::distributed {

/// What a communication hook gets: the gradients of some parameters, end to end.
struct HB_API GradBucket {
  size_t index = 0;  // buckets come in this order on all ranks
  bool is_last = false;
  Tensor buffer;                   // 1-d; this rank's gradients, not divided by anything
  std::vector<Tensor> gradients;   // views of it
  std::vector<Tensor> parameters;  // whose gradients they are
  intrusive_ptr<ProcessGroup> group;
};

/// Begins the exchange of a bucket, and returns what ends it: called once all buckets have begun, in their order, it
/// gives the gradients to go on with, a tensor like the buffer. Both halves may call collectives, as all ranks call
/// them in the same order. The mean is the hook's own work.
using CommHook = std::function<std::function<Tensor()>(const GradBucket&)>;

/// The mean, in the gradients' dtype: what happens without a hook.
HB_API std::function<Tensor()> allreduce_hook(const GradBucket& bucket);
/// The mean, of gradients rounded to float16 (bfloat16), which is half the bytes of float32. Ranks' values are summed
/// in float32 and the mean is rounded once, so that it does not depend on the number of ranks.
HB_API std::function<Tensor()> fp16_compress_hook(const GradBucket& bucket);
HB_API std::function<Tensor()> bf16_compress_hook(const GradBucket& bucket);

}  // namespace hb::distributed
