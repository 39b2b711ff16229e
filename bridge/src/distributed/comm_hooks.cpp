#include <halfbridge/bridge/distributed/comm_hooks.h>

#include <halfbridge/ops.h>

#include "distributed/buckets.h"

namespace hb::distributed {

std::function<Tensor()> allreduce_hook(const GradBucket& bucket) {
  std::vector<Tensor> list{bucket.buffer};
  AllreduceOptions options;
  options.reduceOp = as_mean(*bucket.group, bucket.buffer);
  return [work = bucket.group->allreduce(list, options), buffer = bucket.buffer] {
    work->wait();
    return buffer;
  };
}

namespace {

// Each rank gets one share of all ranks' halves, sums it, and gives the mean to all.
std::function<Tensor()> compress(const GradBucket& bucket, ScalarType dtype) {
  const auto group = bucket.group;
  const int64_t ranks = group->getSize(), n = bucket.buffer.numel(), share = (n + ranks - 1) / ranks;
  Tensor halves = zeros({ranks * share}, bucket.buffer.options().dtype(dtype));
  halves.narrow(0, 0, n).copy_(bucket.buffer);
  Tensor parts = empty_like(halves);
  std::vector<int64_t> equal;
  const auto work = group->alltoall_base(parts, halves, equal, equal);
  return [=, buffer = bucket.buffer]() mutable {
    work->wait();
    const Tensor sum = parts.view({ranks, share}).to(kFloat).sum(0);
    Tensor mean = sum.mul_(1.0 / static_cast<double>(ranks)).to(dtype);
    group->_allgather_base(halves, mean)->wait();
    buffer.copy_(halves.narrow(0, 0, n));
    return buffer;
  };
}

}  // namespace

std::function<Tensor()> fp16_compress_hook(const GradBucket& bucket) { return compress(bucket, kHalf); }
std::function<Tensor()> bf16_compress_hook(const GradBucket& bucket) { return compress(bucket, kBFloat16); }

}  // namespace hb::distributed
