#pragma once
// Tensors end to end in flat buffers, so that one message carries many.

#include <functional>
#include <vector>

#include <halfbridge/distributed/process_group.h>

namespace hb::distributed {

/// Some of a list of tensors, of one dtype and device, by their numbers.
struct Bucket {
  std::vector<size_t> members;
  std::vector<int64_t> offsets;  // in elements; each begins at a multiple of 64 bytes
  int64_t numel = 0;
};

/// Fills buckets in the order given, the first of each dtype and device up to `first_bytes`, the others up to `bytes`.
/// A tensor that is larger has one to itself. The buckets come in the order in which they were filled.
std::vector<Bucket> make_buckets(const std::vector<Tensor>& tensors, const std::vector<size_t>& order,
                                 int64_t first_bytes, int64_t bytes);
/// A member of a bucket as a view of its flat buffer.
Tensor view_in(const Tensor& flat, const Bucket& bucket, size_t member, const Tensor& like);

/// The group's backend for tensors there; null where it has none, as a program's own subclass of ProcessGroup may.
intrusive_ptr<Backend> backend_for(ProcessGroup& group, Device device);
/// The operation by which a reduction of all ranks' values becomes their mean: the library's backends divide floats as
/// they sum them. Otherwise this divides the values and the operation is a sum: that of a half type might be too large,
/// and a backend of the program's may have no mean.
ReduceOp as_mean(ProcessGroup& group, const Tensor& values);

}  // namespace hb::distributed
