#pragma once

#include <cstdint>
#include <utility>

#include <halfbridge/bridge/arg.h>
#include <halfbridge/bridge/distributed/comm_hooks.h>

namespace hb::distributed {

/// The arguments of Python's DistributedDataParallel.
struct HB_API DataParallelOptions {
  /// Null: that of hb::distributed::init().
  HB_ARG(intrusive_ptr<ProcessGroup>, process_group);
  /// Before each forward pass, rank 0's buffers replace the others'.
  HB_ARG(bool, broadcast_buffers) = true;
  /// Parameters and buffers become those of rank 0 at first.
  HB_ARG(bool, init_sync) = true;
  /// Gradients travel in messages of about so many MiB; the first has 1 MiB, so that it sets out early.
  HB_ARG(double, bucket_cap_mb) = 25;
  /// Looks after each forward pass for parameters that the outputs do not depend on. Without, a pass that leaves one
  /// out is an error at the next one.
  HB_ARG(bool, find_unused_parameters) = false;
  /// `.grad()` is a view of its bucket after the backward pass, which spares a copy. (Python's default is false.)
  HB_ARG(bool, gradient_as_bucket_view) = true;
  /// The graph is the same in each pass: the first tells which parameters are unused, and how often each gets a
  /// gradient (reentrant checkpoints).
  HB_ARG(bool, static_graph) = false;
};

/// The arguments of Python's DistributedDataParallel.join.
struct HB_API JoinOptions {
  /// Gradients are divided by the number of all ranks, or by that of those that still have data.
  HB_ARG(bool, divide_by_initial_world_size) = true;
  /// Nothing is joined: all ranks have the same number of batches.
  HB_ARG(bool, enable) = true;
  /// All ranks throw as soon as one has no data left.
  HB_ARG(bool, throw_on_early_termination) = false;
};

}  // namespace hb::distributed
