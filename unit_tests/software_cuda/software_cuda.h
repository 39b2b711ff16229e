#pragma once
// A CUDA device without hardware, for tests: kernels, compiled from the back end's own sources, run on the host.

#include <cstdint>

namespace software_cuda {

/// What was asked of the device since the last reset.
struct Counts {
  uint64_t launches, library_calls, graph_launches;  // what a graph holds is not counted
  uint64_t copies_to_host, copies_from_host, copies_on_device;
  uint64_t synchronisations;  // of the host: streams, events, devices, copies to memory that is not pinned
  uint64_t bytes_copied;
};

/// The functions below, found in the library by name ("software_cuda_control").
struct Control {
  Counts (*counts)();
  void (*reset_counts)();
  /// Draws the order of blocks, lanes and streams.
  void (*seed)(uint64_t seed);
  /// Runs each kernel a second time in another order and compares what it wrote: slow.
  void (*run_twice)(bool on);
  /// Names of the kernels that ran, in their order, since the last reset.
  const char* (*kernels)();
  /// Queues a call of a library that is not one of this device's own and waits for other processes: `ready` is asked
  /// until it is true, then `run` computes, both with the device's memory open.
  void (*library_call)(void* stream, const char* name, bool (*ready)(void*), void (*run)(void*), void* argument);
};
using GetControl = const Control* (*)();

}  // namespace software_cuda
